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

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.Set;

/**
 * Counters that only one event loop writes, so that counting needs no locked instruction: of one channel, of one loop,
 * or of one loop's part of a device. Any thread may read them. The loop writes without memory ordering. A reader sees a
 * value at the latest when the loop calls native code, as each turn does, and on 64-bit machines never half of it.
 *
 * <p>A stopwatch measures how long something has lasted: {@link #nanos()}. It is one word, so that readers never see a
 * half-done start or stop.
 */
public final class LoopCounters {
    /** The counters of all objects of a kind, including closed ones. Any thread. */
    public static final class All {
        private final Set<LoopCounters> open = new HashSet<>();
        private final LoopCounters closed;

        /** @param size the number of counters of each object. */
        public All(int size) {
            closed = new LoopCounters(this, size);
        }

        /** Returns the present sums. */
        public synchronized LoopCounters sum() {
            LoopCounters sum = new LoopCounters(this, closed.size);
            sum.addAll(closed);
            open.forEach(sum::addAll);
            return sum;
        }

        /** The number of open counters whose stopwatch runs now. */
        public synchronized int timing() {
            int count = 0;
            for (LoopCounters counters : open) {
                count += counters.isTiming() ? 1 : 0;
            }
            return count;
        }
    }

    /** Times are relative to this one, because one bit of the word tells whether the stopwatch runs. */
    private static final long ORIGIN = System.nanoTime();

    /** The number of values behind the counters: the stopwatch, and the largest time that a reader got. */
    private static final int EXTRA = 2;
    private static final VarHandle VALUES = MethodHandles.arrayElementVarHandle(long[].class);

    private final All all;
    private final long[] values;
    private final int size;

    private LoopCounters(All all, int size) {
        this.all = all;
        this.size = size;
        values = new long[size + EXTRA];
    }

    public LoopCounters(All all) {
        this(all, all.closed.size);
    }

    /** Adds these counters to the sum of all; {@link #close()} will follow. Any thread. */
    public void open() {
        synchronized (all) {
            all.open.add(this);
        }
    }

    /** Ends counting. Has no effect if the counters are closed, or were never opened. Any thread. */
    public void close() {
        synchronized (all) {
            if (all.open.remove(this)) {
                all.closed.addAll(this);
            }
        }
    }

    /** Adds other counters to these. Called under the lock of {@link #all}, or on a sum that no other thread has. */
    private void addAll(LoopCounters other) {
        for (int i = 0; i < size; i++) {
            values[i] += other.get(i);
        }
        values[size] += other.nanos() << 1;
    }

    /** Adds to a counter. On the loop. */
    public void add(int counter, int count) {
        values[counter] += count;
    }

    /** Adds to the counter with the index of the constant. On the loop. */
    public void add(Enum<?> counter, int count) {
        values[counter.ordinal()] += count;
    }

    public long get(int counter) {
        return (long) VALUES.getVolatile(values, counter);
    }

    /** Starts the stopwatch, unless it runs, at a time of {@link System#nanoTime()}. On the loop. */
    public void start(long now) {
        long stopwatch = values[size];
        if ((stopwatch & 1) == 0) {
            values[size] = stopwatch - (now - ORIGIN << 1) | 1;
        }
    }

    /** Stops the stopwatch, if it runs. On the loop. */
    public void stop(long now) {
        long stopwatch = values[size];
        if ((stopwatch & 1) != 0) {
            values[size] = stopwatch - 1 + (now - ORIGIN << 1);
        }
    }

    /** Returns whether the stopwatch runs. */
    public boolean isTiming() {
        return (get(size) & 1) != 0;
    }

    /** Returns the total time for which the stopwatch has run, in nanoseconds. The result never decreases. */
    public long nanos() {
        long stopwatch = get(size);
        long nanos = (stopwatch >> 1) + ((stopwatch & 1) == 0 ? 0 : System.nanoTime() - ORIGIN);
        // The time is too large if the stopwatch stops before the clock is read. Later results must not be less.
        for (;;) {
            long told = get(size + 1);
            if (nanos <= told || VALUES.compareAndSet(values, size + 1, told, nanos)) {
                return Math.max(nanos, told);
            }
        }
    }
}
