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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;

import java.util.Collections;
import java.util.List;

/**
 * A message that a {@link RdmaMessageChannel} reads: a receive that the peer has used. The bytes are in registered
 * memory, which the reader releases; or in {@link #memory()} of the application.
 */
public final class RdmaReceive extends DefaultByteBufHolder {
    private final List<RegisteredSlice> memory;
    private final int opcode;
    private final int length;
    private final boolean withImmediate;
    private final int immediate;

    RdmaReceive(ByteBuf content, int opcode, int length, boolean withImmediate, int immediate) {
        this(content, Collections.emptyList(), opcode, length, withImmediate, immediate);
    }

    RdmaReceive(ByteBuf content, List<RegisteredSlice> memory, int opcode, int length, boolean withImmediate,
                int immediate) {
        super(content);
        this.memory = memory;
        this.opcode = opcode;
        this.length = length;
        this.withImmediate = withImmediate;
        this.immediate = immediate;
    }

    /**
     * {@link WorkCompletionOpcode#RECEIVE} for a send of the peer, {@link
     * WorkCompletionOpcode#RECEIVE_RDMA_WITH_IMMEDIATE} for a write with immediate.
     */
    public int opcode() {
        return opcode;
    }

    /** Number of bytes that the peer has sent, which are the content, or has written to memory of this process. */
    public int length() {
        return length;
    }

    /**
     * The memory that the application gave to {@link RdmaMessageChannel#postReceive}: a send of the peer is there, in
     * the order of the slices, and there is no content; a write has left it as it was. Empty if the channel posts its
     * receives itself.
     */
    public List<RegisteredSlice> memory() {
        return memory;
    }

    public boolean hasImmediate() {
        return withImmediate;
    }

    /** The 32 bits that the peer gave to it, or 0. */
    public int immediate() {
        return immediate;
    }

    @Override
    public RdmaReceive replace(ByteBuf content) {
        return new RdmaReceive(content, memory, opcode, length, withImmediate, immediate);
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return WorkCompletionOpcode.describe(opcode) + " of " + length + " bytes" +
                (withImmediate ? ", immediate 0x" + Integer.toHexString(immediate) : "");
    }
}
