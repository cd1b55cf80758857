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
 * Speed of the measured operations, and times of their chains. Chains complete in the order of their posts. The
 * measurement is repeated until it has begun late enough, so that the processes are warm: if warming up were something
 * else, code would be compiled again when it ends.
 */
final class ChainTimes {
    private static final int SIGNIFICANT_DIGITS = 3;
    /** Smaller operations are counted one by one. */
    private static final int MIN_BYTES_SIZE = 1024;

    private final Barrage barrage;
    private final long warmUpNanos;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private final Queue<Long> underWay = new ArrayDeque<>();
    private Windows windows;
    private long counted;
    private long startNanos;
    private long firstNanos;
    private long lastNanos;

    ChainTimes(Barrage barrage) {
        this.barrage = barrage;
        warmUpNanos = barrage.warmUp().toNanos();
    }

    void begin() {
        windows = new Windows(barrage.count());
        startNanos = System.nanoTime();
        count(startNanos);
    }

    private void count(long now) {
        counted = 0;
        firstNanos = now;
        windows.done(0, now);
    }

    /** Returns whether what is counted now was begun when the time to warm up was over. */
    boolean isCounting() {
        return firstNanos - startNanos >= warmUpNanos;
    }

    void posted() {
        underWay.add(System.nanoTime());
    }

    void done(int operations) {
        lastNanos = System.nanoTime();
        long postedNanos = underWay.remove();
        counted += operations;
        histogram.recordValue(lastNanos - postedNanos);
        windows.done(counted, lastNanos);
        if (counted >= barrage.count() && !isCounting()) {
            histogram.reset();
            windows = windows.again();
            count(lastNanos);
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
