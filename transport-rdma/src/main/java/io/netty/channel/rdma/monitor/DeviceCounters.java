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
package io.netty.channel.rdma.monitor;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of one device. The loops that poll completions count them. Connections, registrations and asynchronous
 * events are so rare that the cost of counting does not matter. Any thread.
 */
public final class DeviceCounters {
    /**
     * The number of statuses that are counted, one more than {@code enum ibv_wc_status} has. The last one is for all
     * statuses that a newer library may add.
     */
    public static final int STATUSES = 24;
    private static final int COMPLETIONS = 0;
    /** The index of the counter of status 0, which is not used. */
    private static final int FIRST_STATUS = 1;

    private static final Registry<DeviceCounters> ALL = new Registry<>();

    private final String device;
    private final String provider;
    private final LoopCounters.All loops = new LoopCounters.All(FIRST_STATUS + STATUSES);
    private final LongAdder connects = new LongAdder();
    private final LongAdder accepts = new LongAdder();
    private final LongAdder losses = new LongAdder();
    private final AtomicInteger connections = new AtomicInteger();
    private final LongAdder registrations = new LongAdder();
    private final AtomicInteger regions = new AtomicInteger();
    private final AtomicLong registeredBytes = new AtomicLong();
    private final LongAdder asyncEvents = new LongAdder();

    /** Creates the counters of a device that has come into use, and adds them to {@link #all()}. */
    public DeviceCounters(String device, String provider) {
        this.device = device;
        this.provider = provider;
        ALL.add(this);
    }

    /** Returns the counters of all devices that this process has used. */
    public static Registry<DeviceCounters> all() {
        return ALL;
    }

    public String device() {
        return device;
    }

    public String provider() {
        return provider;
    }

    // ---- by the loops

    /** Creates the counters of the device for one loop. */
    public LoopCounters newLoopCounters() {
        return new LoopCounters(loops);
    }

    /** Counts successful completions. On the loop. */
    public static void completed(LoopCounters loop, int completions) {
        loop.add(COMPLETIONS, completions);
    }

    /** Counts a completion with an error status. On the loop. */
    public static void failed(LoopCounters loop, int status) {
        loop.add(FIRST_STATUS + Math.min(status, STATUSES - 1), 1);
    }

    public long completions() {
        return loops.sum().get(COMPLETIONS);
    }

    /** Returns the failed completions by {@code enum ibv_wc_status}. The first element, for success, is 0. */
    public long[] failures() {
        LoopCounters sum = loops.sum();
        long[] failures = new long[STATUSES];
        for (int status = 1; status < STATUSES; status++) {
            failures[status] = sum.get(FIRST_STATUS + status);
        }
        return failures;
    }

    // ---- by all

    void opened(boolean outgoing) {
        (outgoing ? connects : accepts).increment();
        connections.incrementAndGet();
    }

    void closed(boolean lost) {
        connections.decrementAndGet();
        if (lost) {
            losses.increment();
        }
    }

    public long connects() {
        return connects.sum();
    }

    public long accepts() {
        return accepts.sum();
    }

    public long losses() {
        return losses.sum();
    }

    public int connections() {
        return connections.get();
    }

    /** Counts a memory region that was registered. */
    public void registered(long bytes) {
        registrations.increment();
        regions.incrementAndGet();
        registeredBytes.addAndGet(bytes);
    }

    /** Counts a memory region that was deregistered. */
    public void deregistered(long bytes) {
        regions.decrementAndGet();
        registeredBytes.addAndGet(-bytes);
    }

    public long registrations() {
        return registrations.sum();
    }

    public int regions() {
        return regions.get();
    }

    public long registeredBytes() {
        return registeredBytes.get();
    }

    public void asyncEvent() {
        asyncEvents.increment();
    }

    public long asyncEvents() {
        return asyncEvents.sum();
    }
}
