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

import io.netty.channel.rdma.connection.StreamCounters;
import io.netty.channel.rdma.connection.StreamCounters.Copy;
import io.netty.channel.rdma.connection.StreamCounters.Counter;
import io.netty.channel.rdma.loop.LoopReceiveQueue;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;

/**
 * Numbers of bytes that were sent or received in place, inline, or copied. They show whether an application really is
 * zero-copy. Any thread may read them.
 *
 * <p>Bytes are counted for {@link RdmaSocketChannel}s, memory and shared receives for the whole process. Channels of
 * messages and datagrams have {@link io.netty.channel.rdma.message.RdmaMessageMetrics}; event loops {@link
 * RdmaLoopMetrics}; devices {@link RdmaDeviceMetrics}; connections that were not made {@link RdmaConnectMetrics}.
 */
public final class RdmaMetrics {
    /** The reason why bytes of a byte stream were copied once, instead of being sent or delivered in place. */
    public enum CopyCause {
        /** Sent: up to {@link RdmaChannelOption#SEND_COPY_THRESHOLD} bytes: a copy is cheaper than another piece. */
        SENT_SMALL(Copy.SENT_SMALL),
        /** Sent: in a heap buffer. */
        SENT_HEAP(Copy.SENT_HEAP),
        /**
         * Sent: in direct memory that is not registered. It is from another allocator, is longer than 4 MiB, or {@link
         * RdmaByteBufAllocator} had no registered memory left: see {@link RdmaByteBufAllocator#fallbackAllocations()}.
         */
        SENT_FOREIGN(Copy.SENT_FOREIGN),
        /** Sent: in memory that could not be registered with this device, which is logged. */
        SENT_UNREGISTERED(Copy.SENT_UNREGISTERED),
        /** Sent: from a {@link io.netty.channel.FileRegion}. */
        SENT_FILE_REGION(Copy.SENT_FILE_REGION),
        /** Received: not longer than {@link RdmaChannelOption#RECEIVE_COPY_THRESHOLD}. */
        RECEIVED_SMALL(Copy.RECEIVED_SMALL),
        /** Received: the application holds half of the receive memory, in buffers that it has not released. */
        RECEIVED_HELD(Copy.RECEIVED_HELD);

        private final Copy copy;

        CopyCause(Copy copy) {
            this.copy = copy;
        }
    }

    /** The sum over all byte-stream connections of this process, also those that are closed. */
    private static final RdmaMetrics TOTAL = new RdmaMetrics(StreamCounters.TOTAL);

    private final StreamCounters counters;

    RdmaMetrics(StreamCounters counters) {
        this.counters = counters;
    }

    /** The counters of all {@link RdmaSocketChannel}s of this process, including closed ones. */
    public static RdmaMetrics total() {
        return TOTAL;
    }

    /** Bytes that the device read from the buffers that were written to the channel. */
    public long bytesSentInPlace() {
        return counters.get(Counter.SENT_IN_PLACE);
    }

    /** Bytes that went inside of work requests. */
    public long bytesSentInline() {
        return counters.get(Counter.SENT_INLINE);
    }

    /** Bytes that were copied into registered memory and sent from there. */
    public long bytesSentCopied() {
        return counters.get(Counter.SENT_COPIED);
    }

    /** The part of {@link #bytesSentCopied()} or {@link #bytesReceivedCopied()} that has this cause. */
    public long bytesCopied(CopyCause cause) {
        return counters.get(cause.copy);
    }

    /** Bytes that the pipeline got as slices of the memory where they arrived. */
    public long bytesReceivedInPlace() {
        return counters.get(Counter.RECEIVED_IN_PLACE);
    }

    /** Bytes that were copied out of the memory where they arrived. */
    public long bytesReceivedCopied() {
        return counters.get(Counter.RECEIVED_COPIED);
    }

    /**
     * The number of times that flushed bytes had to wait for the peer, and for nothing else. The peer had granted no
     * credits, or no memory to write to, because it reads more slowly than this side writes, or not at all.
     */
    public long creditStalls() {
        return counters.get(Counter.CREDIT_STALLS);
    }

    /** The sum of the times that flushed bytes have waited for peers, in nanoseconds, including present waits. */
    public long creditStallNanos() {
        return counters.creditStallNanos();
    }

    /** The number of connections that wait for their peers now; of one channel 0 or 1. */
    public int stalledConnections() {
        return counters.stalledConnections();
    }

    /**
     * Bytes of receive memory, now. It grows with use up to {@code SO_RCVBUF} for each connection, and shrinks when the
     * connection is idle. Received buffers keep it until they are released.
     */
    public long receiveMemory() {
        return counters.receiveMemory();
    }

    /**
     * Flushed bytes of closed channels that are still to be sent, now. Beside bytes in flight, they are no more than
     * {@code SO_SNDBUF} for a channel, by default 4 MiB, and an eighth of the direct memory for all together.
     */
    public long detachedBytes() {
        return counters.detached();
    }

    /**
     * Bytes of registered memory of this process, now: receive memory, {@link #stagingMemory()}, the slabs of {@link
     * RdmaByteBufAllocator#DEFAULT} (with the receives of message and datagram channels), and {@link RegisteredMemory}
     * of other buffers. Never more than {@link #maxPinnedMemory()}. Dma-bufs and the slabs of other allocators are not
     * included.
     */
    public static long pinnedMemory() {
        return PinnedMemory.PROCESS.used();
    }

    /**
     * The number of receives that the shared receive queues of this process have now: see
     * {@link RdmaChannelOption#SHARED_RECEIVE_QUEUE}. Each has a buffer.
     */
    public static long sharedReceives() {
        return LoopReceiveQueue.receives();
    }

    /** The system property {@code io.netty.rdma.maxPinnedMemory}, in bytes; default half of the direct memory. */
    public static long maxPinnedMemory() {
        return PinnedMemory.PROCESS.max();
    }

    /** Bytes of registered memory of this process for bytes that can't be sent in place, now. */
    public static long stagingMemory() {
        return Staging.pinnedMemory();
    }

    @Override
    public String toString() {
        return "sent: " + bytesSentInPlace() + " bytes in place, " + bytesSentInline() + " inline, " +
                bytesSentCopied() + " copied; received: " + bytesReceivedInPlace() + " bytes in place, " +
                bytesReceivedCopied() + " copied; receive memory: " + receiveMemory() + " bytes; waited for peers " +
                creditStalls() + " times";
    }
}
