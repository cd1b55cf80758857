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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

/**
 * A message of zeros that a channel sends again and again. It is handed out as duplicates that are used in turn: a new
 * duplicate for each write would be most of the allocations of a round trip, none of them the transport's. For one
 * channel, on its event loop.
 */
public final class RepeatedMessage {
    private final int bytes;
    private final ByteBuf message;
    /** Duplicates of the message, which share its reference count. */
    private final ByteBuf[] duplicates;
    private int next;

    /**
     * Allocates the message.
     *
     * @param bytes    length of the message, 1 and more
     * @param underWay usual maximum of writes that the channel has not completed, 1 and more. Further ones are new
     *                 objects
     */
    public RepeatedMessage(ByteBufAllocator allocator, int bytes, int underWay) {
        this.bytes = bytes;
        message = allocator.directBuffer(bytes, bytes).setZero(0, bytes).writerIndex(bytes);
        duplicates = new ByteBuf[underWay];
        for (int i = 0; i < underWay; i++) {
            duplicates[i] = message.duplicate();
        }
    }

    /** Returns the message for a write, which releases it. */
    public ByteBuf next() {
        // A channel completes its writes in order. If fewer writes are in flight than there are duplicates, the one
        // that was used longest ago is not in flight, and its indices may be changed.
        if (message.refCnt() > duplicates.length) {
            return message.retainedDuplicate();
        }
        ByteBuf duplicate = duplicates[next];
        next = (next + 1) % duplicates.length;
        return duplicate.setIndex(0, bytes).retain();
    }

    /** Ends the use of the message. Memory of writes in flight stays until they are sent. */
    public void release() {
        message.release();
    }
}
