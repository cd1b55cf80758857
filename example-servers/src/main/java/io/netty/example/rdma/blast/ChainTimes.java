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
package io.netty.example.rdma.blast;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Windows;
import org.HdrHistogram.Histogram;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * How fast the operations are that count, and how long their chains take. Chains are done in the order in which they
 * were posted.
 */
final class ChainTimes {
    private static final int SIGNIFICANT_DIGITS = 3;
    /** Smaller operations are counted one by one. */
    private static final int MIN_BYTES_SIZE = 1024;

    private final Barrage barrage;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private final Queue<Long> underWay = new ArrayDeque<>();
    private Windows windows;
    private boolean counting;
    private long counted;
    private long firstNanos;
    private long lastNanos;

    ChainTimes(Barrage barrage) {
        this.barrage = barrage;
    }

    void begin() {
        windows = new Windows(barrage.count());
        firstNanos = System.nanoTime();
        countIfWarm(firstNanos);
    }

    private void countIfWarm(long now) {
        if (now - firstNanos >= barrage.warmUp().toNanos()) {
            counting = true;
            firstNanos = now;
            windows.done(0, now);
        }
    }

    /** Whether the time to warm up is over: what is done from now on counts. */
    boolean isCounting() {
        return counting;
    }

    void posted() {
        underWay.add(System.nanoTime());
    }

    void done(int operations) {
        lastNanos = System.nanoTime();
        long postedNanos = underWay.remove();
        if (counting) {
            counted += operations;
            histogram.recordValue(lastNanos - postedNanos);
            windows.done(counted, lastNanos);
        } else {
            countIfWarm(lastNanos);
        }
    }

    Windows windows() {
        return windows;
    }

    Measurement measurement() {
        boolean bytes = barrage.size() >= MIN_BYTES_SIZE;
        double amount = (double) counted * (bytes ? barrage.size() : 1);
        return new Measurement(barrage.name(), counted, Math.round(amount * 1e9 / Math.max(1, lastNanos - firstNanos)),
                bytes ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS, histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99), histogram.getValueAtPercentile(99.9));
    }
}
