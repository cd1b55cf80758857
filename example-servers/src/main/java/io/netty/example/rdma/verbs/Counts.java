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
 * The last message of each end: its counts.
 *
 * @param done  number of operations, or round trips
 * @param wrong number of checks that failed
 */
public record Counts(long done, long wrong) {
    /** Length of the message, in bytes. */
    public static final int LENGTH = 2 * Long.BYTES;

    public RdmaSend message(ByteBufAllocator alloc) {
        return new RdmaSend(alloc.buffer(LENGTH, LENGTH).writeLong(done).writeLong(wrong));
    }

    /** Returns whether a message can be read as counts. */
    public static boolean isIn(RdmaReceive message) {
        return message.content().readableBytes() == LENGTH && !message.hasImmediate();
    }

    /** @param message has counts */
    public static Counts read(RdmaReceive message) {
        ByteBuf content = message.content();
        return new Counts(content.readLong(), content.readLong());
    }

    /**
     * Compares these counts with those of the peer.
     *
     * @return both, for users
     * @throws IllegalArgumentException if the ends have not counted the same number
     */
    public String with(Counts peer) {
        if (peer.done != done) {
            throw new IllegalArgumentException("the peer has counted " + peer.done + " (expected: " + done + ')');
        }
        return "counts: " + done + " at both ends, " + wrong + " wrong at this one, " + peer.wrong + " at the other";
    }
}
