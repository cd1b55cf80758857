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
package io.netty.channel.rdma.connection;

import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.monitor.ConnectionKind;
import io.netty.channel.rdma.monitor.ConnectionRecord;
import io.netty.channel.rdma.monitor.LoopCounters;
import io.netty.channel.rdma.monitor.LoopRecord;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicLong;

/** The counters of one byte-stream connection, changed on its event loop. Any thread may read. */
public final class StreamCounters {
    /** The kinds of counters, beside those of copies. The stopwatch runs while flushed bytes wait for the peer. */
    public enum Counter {
        SENT_IN_PLACE, SENT_INLINE, SENT_COPIED, RECEIVED_IN_PLACE, RECEIVED_COPIED, CREDIT_STALLS
    }

    /** The causes of copies. Each is a counter behind those of {@link Counter}. */
    public enum Copy {
        SENT_SMALL, SENT_HEAP, SENT_FOREIGN, SENT_UNREGISTERED, SENT_FILE_REGION, RECEIVED_SMALL, RECEIVED_HELD;

        private static final Copy[] SENT =
                { SENT_SMALL, SENT_HEAP, SENT_FOREIGN, SENT_UNREGISTERED, SENT_FILE_REGION };

        private final int counter = Counter.values().length + ordinal();
    }

    private static final LoopCounters.All ALL =
            new LoopCounters.All(Counter.values().length + Copy.values().length);
    /** The sums over all connections of this process, also those that are closed. */
    public static final StreamCounters TOTAL = new StreamCounters();

    private final LoopCounters counters = new LoopCounters(ALL);
    private final AtomicLong receiveMemory = new AtomicLong();
    private final AtomicLong detached = new AtomicLong();

    private LoopCounters counters() {
        return this == TOTAL ? ALL.sum() : counters;
    }

    public long get(Counter counter) {
        return counters().get(counter.ordinal());
    }

    public long get(Copy copy) {
        return counters().get(copy.counter);
    }

    /** The sum of the times for which flushed bytes have waited for their peers so far. */
    public long creditStallNanos() {
        return counters().nanos();
    }

    /** The number of connections whose flushed bytes wait for the peer now. */
    public int stalledConnections() {
        return this == TOTAL ? ALL.timing() : counters.isTiming() ? 1 : 0;
    }

    /** Bytes of registered memory in which bytes of peers arrive, now. */
    public long receiveMemory() {
        return receiveMemory.get();
    }

    /** Bytes that closed channels have left and that are still to be sent, now. */
    public long detached() {
        return detached.get();
    }

    /** Begins to count for an open connection. */
    void open() {
        counters.open();
    }

    /** Ends counting for the connection, which is gone. */
    void close() {
        counters.close();
    }

    /**
     * @param copied the part of these bytes that was copied to registered memory.
     * @param why the parts of {@code copied} by cause, by the ordinal of {@link Copy}.
     */
    void sent(int bytes, int copied, int[] why) {
        counters.add(Counter.SENT_IN_PLACE, bytes - copied);
        if (copied > 0) {
            counters.add(Counter.SENT_COPIED, copied);
            for (Copy copy : Copy.SENT) {
                counters.add(copy.counter, why[copy.ordinal()]);
            }
        }
    }

    void sentInline(int bytes) {
        counters.add(Counter.SENT_INLINE, bytes);
    }

    void receivedInPlace(int bytes) {
        counters.add(Counter.RECEIVED_IN_PLACE, bytes);
    }

    void receivedCopied(int bytes, Copy why) {
        counters.add(Counter.RECEIVED_COPIED, bytes);
        counters.add(why.counter, bytes);
    }

    /** Notes that flushed bytes wait for the peer from now on. */
    void stalled() {
        counters.add(Counter.CREDIT_STALLS, 1);
        counters.start(System.nanoTime());
    }

    /** Notes that flushed bytes wait for the peer no more. */
    void resumed() {
        counters.stop(System.nanoTime());
    }

    void addDetached(long bytes) {
        detached.addAndGet(bytes);
        TOTAL.detached.addAndGet(bytes);
    }

    /** Adds to the bytes of receive memory. Any thread. */
    void receiveMemory(int bytes) {
        receiveMemory.addAndGet(bytes);
        TOTAL.receiveMemory.addAndGet(bytes);
    }

    /** A byte-stream connection as monitoring sees it. */
    static final class Record extends ConnectionRecord {
        private final LoopBinding loop;
        private final StreamCounters counters;

        Record(LoopBinding loop, ConnectionResources resources, InetSocketAddress local, InetSocketAddress remote,
               String reason) {
            super(resources.context.counters, local, remote, reason);
            this.loop = loop;
            counters = resources.counters;
        }

        @Override
        public ConnectionKind kind() {
            return ConnectionKind.STREAM;
        }

        @Override
        public LoopRecord loop() {
            return loop.handler();
        }

        @Override
        public long bytesSent() {
            return counters.get(Counter.SENT_IN_PLACE) + counters.get(Counter.SENT_INLINE) +
                    counters.get(Counter.SENT_COPIED);
        }

        @Override
        public long bytesReceived() {
            return counters.get(Counter.RECEIVED_IN_PLACE) + counters.get(Counter.RECEIVED_COPIED);
        }

        @Override
        public long bytesCopied() {
            return counters.get(Counter.SENT_COPIED) + counters.get(Counter.RECEIVED_COPIED);
        }

        @Override
        public long creditStallNanos() {
            return counters.creditStallNanos();
        }

        @Override
        public long receiveMemory() {
            return counters.receiveMemory();
        }
    }
}
