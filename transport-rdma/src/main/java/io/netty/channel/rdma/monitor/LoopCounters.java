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

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counters that one event loop alone writes, so that counting costs no locked instruction: of one channel, of one loop,
 * or of what one loop has of a device. Any thread may read them.
 *
 * <p>Beside them there is a stopwatch, for how long something has lasted: {@link #nanos()}. It is one word, so that
 * readers never see a part of a start or a stop.
 */
public final class LoopCounters {
    /** The counters of all objects of a kind, also of those that are gone. Any thread. */
    public static final class All {
        private final Set<LoopCounters> open = new HashSet<>();
        private final LoopCounters closed;

        /** @param size how many counters each has. */
        public All(int size) {
            closed = new LoopCounters(this, size);
        }

        /** The sums at this moment. */
        public synchronized LoopCounters sum() {
            LoopCounters sum = new LoopCounters(this, closed.size());
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

    /** Times are kept from here on, as one bit of them is needed to tell whether the stopwatch runs. */
    private static final long ORIGIN = System.nanoTime();

    /** The number of values behind the counters: the stopwatch, and what readers have been told of it. */
    private static final int EXTRA = 2;

    private final All all;
    private final AtomicLongArray values;

    private LoopCounters(All all, int size) {
        this.all = all;
        values = new AtomicLongArray(size + EXTRA);
    }

    public LoopCounters(All all) {
        this(all, all.closed.size());
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

    private int size() {
        return values.length() - EXTRA;
    }

    private void addAll(LoopCounters other) {
        int size = size();
        for (int i = 0; i < size; i++) {
            long count = other.values.get(i);
            if (count != 0) {
                values.addAndGet(i, count);
            }
        }
        values.addAndGet(size, other.nanos() << 1);
    }

    /** Adds to a counter. On the loop. */
    public void add(int counter, int count) {
        if (count != 0) {
            values.lazySet(counter, values.getPlain(counter) + count);
        }
    }

    public long get(int counter) {
        return values.get(counter);
    }

    /** Starts the stopwatch, unless it runs, at a time of {@link System#nanoTime()}. On the loop. */
    public void start(long now) {
        long stopwatch = values.getPlain(size());
        if ((stopwatch & 1) == 0) {
            values.lazySet(size(), stopwatch - (now - ORIGIN << 1) | 1);
        }
    }

    /** Stops the stopwatch, if it runs. On the loop. */
    public void stop(long now) {
        long stopwatch = values.getPlain(size());
        if ((stopwatch & 1) != 0) {
            values.lazySet(size(), stopwatch - 1 + (now - ORIGIN << 1));
        }
    }

    /** Returns whether the stopwatch runs. */
    public boolean isTiming() {
        return (values.get(size()) & 1) != 0;
    }

    /** The time for which the stopwatch has run so far, in nanoseconds; all times added up. Never less than before. */
    public long nanos() {
        long stopwatch = values.get(size());
        long nanos = (stopwatch >> 1) + ((stopwatch & 1) == 0 ? 0 : System.nanoTime() - ORIGIN);
        // A stop that is under way, or comes before the clock is read, makes that too much: no reader gets less later.
        return values.accumulateAndGet(size() + 1, nanos, Math::max);
    }
}
