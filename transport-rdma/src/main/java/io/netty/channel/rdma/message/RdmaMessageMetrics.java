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

import io.netty.channel.rdma.monitor.LoopCounters;

/**
 * Counters of the queue pair of a {@link RdmaMessageChannel} or {@link RdmaDatagramChannel}: operations by kind, and
 * bytes, also those copied. All counters begin at 0 with the queue pair and only grow. Any thread may read them, also
 * after the channel is closed.
 *
 * <p>Operations and their bytes count once they have succeeded, datagrams once they were sent.
 */
public final class RdmaMessageMetrics {
    /**
     * Reasons to copy bytes of a message, a datagram or an operation once, instead of sending, reading or delivering
     * them in place.
     */
    public enum CopyCause {
        /** Posted: in a heap buffer, or in a buffer without a memory address. */
        HEAP,
        /** Posted: in direct memory that is not registered, of another allocator for example. */
        FOREIGN,
        /** Posted: in memory that could not be registered with this device, which is logged. */
        UNREGISTERED,
        /**
         * Posted: in more pieces than the operation can have ({@link
         * io.netty.channel.rdma.RdmaChannelOption#MAX_SEND_SGES}, and the device's limits), so that all its bytes are
         * copied.
         */
        PIECES,
        /**
         * Received: there is no other buffer to receive into, because the application has not released its buffers.
         * With {@link io.netty.channel.rdma.RdmaChannelOption#SHARED_RECEIVE_QUEUE}: it has not read a whole receive
         * queue of messages.
         */
        RECEIVED_HELD;

        /** The number of causes without {@link #RECEIVED_HELD}. */
        static final int POSTED = RECEIVED_HELD.ordinal();
    }

    /** The kinds by which operations are counted. */
    enum Kind {
        SEND(Counter.SENDS, Counter.BYTES_SENT),
        WRITE(Counter.WRITES, Counter.BYTES_WRITTEN),
        READ(Counter.READS, Counter.BYTES_READ),
        ATOMIC(Counter.ATOMICS, null),
        WINDOW(Counter.WINDOW_OPERATIONS, null);

        private final Counter operations;
        private final Counter bytes;

        Kind(Counter operations, Counter bytes) {
            this.operations = operations;
            this.bytes = bytes;
        }
    }

    private enum Counter {
        SENDS, BYTES_SENT, WRITES, BYTES_WRITTEN, READS, BYTES_READ, ATOMICS, WINDOW_OPERATIONS, FAILURES, RECEIVES,
        BYTES_RECEIVED, BYTES_IN_PLACE, BYTES_INLINE
    }

    private static final CopyCause[] CAUSES = CopyCause.values();
    private static final int FIRST_CAUSE = Counter.values().length;
    private static final LoopCounters.All ALL = new LoopCounters.All(FIRST_CAUSE + CAUSES.length);
    /** The metrics of a channel that has no queue pair yet. */
    static final RdmaMessageMetrics NONE = new RdmaMessageMetrics();

    private final LoopCounters counters;

    RdmaMessageMetrics() {
        this(new LoopCounters(ALL));
    }

    private RdmaMessageMetrics(LoopCounters counters) {
        this.counters = counters;
    }

    /** The queue pair is complete; {@link #close()} will follow. */
    void open() {
        counters.open();
    }

    /** The queue pair is gone: nothing more is counted. */
    void close() {
        counters.close();
    }

    /**
     * Returns the present sums over all channels of messages and datagrams of this process, including closed ones. The
     * returned object does not change.
     */
    public static RdmaMessageMetrics total() {
        return new RdmaMessageMetrics(ALL.sum());
    }

    /** Messages and datagrams that were sent, with immediate data, with an invalidation, or with neither. */
    public long sends() {
        return get(Counter.SENDS);
    }

    /** Bytes in {@link #sends()}. */
    public long bytesSent() {
        return get(Counter.BYTES_SENT);
    }

    /** RDMA WRITEs, with immediate data or without. */
    public long writes() {
        return get(Counter.WRITES);
    }

    /** Bytes in {@link #writes()}. */
    public long bytesWritten() {
        return get(Counter.BYTES_WRITTEN);
    }

    /** RDMA READs. */
    public long reads() {
        return get(Counter.READS);
    }

    /** Bytes in {@link #reads()}. */
    public long bytesRead() {
        return get(Counter.BYTES_READ);
    }

    /** Compare-and-swaps and fetch-and-adds; of 8 bytes each. */
    public long atomics() {
        return get(Counter.ATOMICS);
    }

    /** Binds of memory windows, and invalidations by {@link RdmaMemoryWindow#revoke()}. */
    public long windowOperations() {
        return get(Counter.WINDOW_OPERATIONS);
    }

    /**
     * Operations that the device, or the channel in its place, has refused or given up. Operations that were waiting or
     * under way when the channel was closed do not count.
     */
    public long failures() {
        return get(Counter.FAILURES);
    }

    /** Messages and datagrams that the pipeline got, including those for a WRITE with immediate data. */
    public long receives() {
        return get(Counter.RECEIVES);
    }

    /** Bytes in {@link #receives()}: not those that a WRITE with immediate data has put into memory. */
    public long bytesReceived() {
        return get(Counter.BYTES_RECEIVED);
    }

    /** Bytes of posted operations that the device reads or writes in the application's memory. */
    public long bytesInPlace() {
        return get(Counter.BYTES_IN_PLACE);
    }

    /** Bytes of posted operations that are inside of the work requests. */
    public long bytesInline() {
        return get(Counter.BYTES_INLINE);
    }

    /** Bytes of posted operations that are copied to or from registered memory. */
    public long bytesCopied() {
        long sum = 0;
        for (int cause = 0; cause < CopyCause.POSTED; cause++) {
            sum += counters.get(FIRST_CAUSE + cause);
        }
        return sum;
    }

    /** Bytes that were copied for this reason, of posted operations or of what was received. */
    public long bytesCopied(CopyCause cause) {
        return counters.get(FIRST_CAUSE + cause.ordinal());
    }

    // ---- counting, on the loop of the channel

    /** The device has done an operation. */
    void completed(Kind kind, int bytes) {
        add(kind.operations, 1);
        if (kind.bytes != null) {
            add(kind.bytes, bytes);
        }
    }

    /** The device has not done an operation. */
    void failed() {
        add(Counter.FAILURES, 1);
    }

    /** The pipeline gets a message. */
    void received(int bytes) {
        add(Counter.RECEIVES, 1);
        add(Counter.BYTES_RECEIVED, bytes);
    }

    /** Counts bytes of a posted operation that are in the work request. */
    void postedInline(int bytes) {
        add(Counter.BYTES_INLINE, bytes);
    }

    /** Counts bytes of a posted operation that are in place. */
    void postedInPlace(int bytes) {
        add(Counter.BYTES_IN_PLACE, bytes);
    }

    /** Counts copied bytes, of a posted operation or of a message that has arrived. */
    void copied(CopyCause cause, int bytes) {
        counters.add(FIRST_CAUSE + cause.ordinal(), bytes);
    }

    private void add(Counter counter, int count) {
        counters.add(counter.ordinal(), count);
    }

    private long get(Counter counter) {
        return counters.get(counter.ordinal());
    }

    @Override
    public String toString() {
        return sends() + " sends (" + bytesSent() + " bytes), " + writes() + " writes (" + bytesWritten() +
                " bytes), " + reads() + " reads (" + bytesRead() + " bytes), " + atomics() + " atomics, " +
                windowOperations() + " window operations, " + failures() + " failures; " + receives() +
                " receives (" + bytesReceived() + " bytes); in place: " + bytesInPlace() + " bytes, inline: " +
                bytesInline() + ", copied: " + bytesCopied();
    }
}
