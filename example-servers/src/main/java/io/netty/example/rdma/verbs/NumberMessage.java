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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;

/**
 * The messages by which the ends of a connection report their progress: a number of 8 bytes.
 */
public final class NumberMessage {
    private NumberMessage() {
    }

    public static RdmaSend of(ByteBufAllocator alloc, long number) {
        return new RdmaSend(alloc.buffer(Long.BYTES, Long.BYTES).writeLong(number));
    }

    /** @throws IllegalArgumentException if the message is no number */
    public static long read(RdmaReceive message) {
        ByteBuf content = message.content();
        if (content.readableBytes() != Long.BYTES || message.hasImmediate()) {
            throw new IllegalArgumentException("the peer sent " + message + " (expected: a number)");
        }
        return content.readLong();
    }
}
