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

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the bytes of one byte-stream connection by the way that they went, on its loop; and the receive memory, which
 * any thread may give back. Any thread may read.
 */
public final class StreamCounters {
    /** What is counted. */
    public enum Counter {
        SENT_IN_PLACE, SENT_INLINE, SENT_COPIED, RECEIVED_IN_PLACE, RECEIVED_COPIED
    }

    private static final LoopCounters.All ALL = new LoopCounters.All(Counter.values().length);
    private static final AtomicLong ALL_RECEIVE_MEMORY = new AtomicLong();

    private final LoopCounters counters = new LoopCounters(ALL);
    private final AtomicLong receiveMemory = new AtomicLong();

    /** The sum over all connections of this process, also those that are closed. */
    public static long total(Counter counter) {
        return ALL.sum().get(counter.ordinal());
    }

    /** Bytes of registered memory in which bytes of the peers of this process arrive, now. */
    public static long totalReceiveMemory() {
        return ALL_RECEIVE_MEMORY.get();
    }

    public long get(Counter counter) {
        return counters.get(counter.ordinal());
    }

    /** Bytes of registered memory in which bytes of the peer arrive, now. */
    public long receiveMemory() {
        return receiveMemory.get();
    }

    /** There is a connection. */
    void open() {
        counters.open();
    }

    /** It is gone. */
    void close() {
        counters.close();
    }

    /** @param copied of these, to registered memory. */
    void sent(int bytes, int copied) {
        counters.add(Counter.SENT_IN_PLACE.ordinal(), bytes - copied);
        counters.add(Counter.SENT_COPIED.ordinal(), copied);
    }

    void sentInline(int bytes) {
        counters.add(Counter.SENT_INLINE.ordinal(), bytes);
    }

    void receivedInPlace(int bytes) {
        counters.add(Counter.RECEIVED_IN_PLACE.ordinal(), bytes);
    }

    void receivedCopied(int bytes) {
        counters.add(Counter.RECEIVED_COPIED.ordinal(), bytes);
    }

    /** Any thread. */
    void receiveMemory(int bytes) {
        receiveMemory.addAndGet(bytes);
        ALL_RECEIVE_MEMORY.addAndGet(bytes);
    }
}
