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
package io.netty.channel.rdma;

import io.netty.channel.rdma.connection.StreamCounters.Copy;

/**
 * The reason why bytes of a byte stream were copied, once, instead of being sent from, or delivered, where they were.
 */
public enum RdmaCopyCause {
    /** Sent: not longer than {@link RdmaChannelOption#SEND_COPY_THRESHOLD}. A copy is cheaper than another piece. */
    SENT_SMALL(Copy.SENT_SMALL),
    /** Sent: in a heap buffer. */
    SENT_HEAP(Copy.SENT_HEAP),
    /**
     * Sent: in direct memory that is not registered. It is of another allocator, or longer than 4 MiB, or {@link
     * RdmaByteBufAllocator} had no registered memory left: see {@link RdmaByteBufAllocator#fallbackAllocations()}.
     */
    SENT_FOREIGN(Copy.SENT_FOREIGN),
    /** Sent: in memory that could not be registered with this device, which is logged. */
    SENT_UNREGISTERED(Copy.SENT_UNREGISTERED),
    /** Sent: of a {@link io.netty.channel.FileRegion}. */
    SENT_FILE_REGION(Copy.SENT_FILE_REGION),
    /** Received: not longer than {@link RdmaChannelOption#RECEIVE_COPY_THRESHOLD}. */
    RECEIVED_SMALL(Copy.RECEIVED_SMALL),
    /** Received: the application holds half of the receive memory, in buffers that it has not released. */
    RECEIVED_HELD(Copy.RECEIVED_HELD);

    final Copy copy;

    RdmaCopyCause(Copy copy) {
        this.copy = copy;
    }
}
