/*
 * Copyright 2026 The Netty Project
 *
 * The Netty Project licenses this file to you under the Apache License,
 * version 2.0 (the "License"); you may not use this file except in compliance
 * with the License. You may obtain a copy of the License at:
 *
 *   https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
 * WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
 * License for the specific language governing permissions and limitations
 * under the License.
 */
package io.netty.example.rdma.requests;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.nio.charset.StandardCharsets;

/**
 * Common part of both ends that move a text: the requester reads one of the responder, writes one there, or sends one.
 * Immediate data are the length of the text. The end that gets the text prints it.
 */
abstract class TextEnd extends VerbsEnd {
    /** No longer than receive buffers are by default. */
    static final int MAX_LENGTH = 4096;

    /** The text of the samples of DOCA RDMA, if they are given none. */
    static final String DEFAULT = "Hi DOCA RDMA!";

    final Operation operation;
    final byte[] text;
    private volatile String told = "";
    private long startNanos;

    /** @throws IllegalArgumentException if the text is too long, or there is none */
    TextEnd(Operation operation, String text) {
        super(operation.toString());
        this.operation = operation;
        this.text = text.getBytes(StandardCharsets.UTF_8);
        if (this.text.length == 0 || this.text.length > MAX_LENGTH) {
            throw new IllegalArgumentException("the text has " + this.text.length + " bytes (expected: 1 to "
                    + MAX_LENGTH + ')');
        }
    }

    final void started() {
        startNanos = System.nanoTime();
    }

    /** The peer's text has come. */
    final void tell(String how, ByteBuf bytes) {
        told = bytes.toString(StandardCharsets.UTF_8);
        System.out.println(how + ": " + printable(told));
    }

    /** The peer's text. */
    final String told() {
        return told;
    }

    /** Returns the peer's text without control characters, which a terminal would obey. */
    static String printable(String theirs) {
        return theirs.replaceAll("\\p{Cntrl}", "?");
    }

    final void finish(ChannelHandlerContext ctx, String end, int bytes, boolean right) {
        finish(ctx, new Result(operation + " " + end, 1, bytes, right ? 0 : 1, System.nanoTime() - startNanos));
    }
}
