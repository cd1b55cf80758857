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
package io.netty.example.rdma.verbs;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Windows;
import org.HdrHistogram.Histogram;

import java.time.Duration;

/**
 * Times of the measured operations, which end in the order in which they began. The measurement starts again until the
 * warm-up time is over. A separate warm-up would have other code, so the compilers would work again when it ends.
 */
public final class OperationTimes {
    private static final int SIGNIFICANT_DIGITS = 3;

    private final int count;
    private final long warmUpNanos;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private Windows windows;
    private long counted;
    private long startNanos;
    private long firstNanos;
    private long lastNanos;

    /** @param count number of the operations that are measured */
    public OperationTimes(int count, Duration warmUp) {
        this.count = count;
        warmUpNanos = warmUp.toNanos();
    }

    /** Begins, before the first operation. */
    public void begin() {
        windows = new Windows(count);
        startNanos = System.nanoTime();
        count(startNanos);
    }

    private void count(long now) {
        counted = 0;
        firstNanos = now;
        windows.done(0, now);
    }

    /** Returns whether the present measurement began after the warm-up time, and so counts. */
    public boolean isCounting() {
        return firstNanos - startNanos >= warmUpNanos;
    }

    /**
     * Notes the end of operations that began together.
     *
     * @return whether the measurement is complete
     */
    public boolean ended(int operations, long begunNanos) {
        lastNanos = System.nanoTime();
        counted += operations;
        histogram.recordValue(lastNanos - begunNanos);
        windows.done(counted, lastNanos);
        if (counted < count || isCounting()) {
            return counted >= count;
        }
        histogram.reset();
        windows = windows.again();
        count(lastNanos);
        return false;
    }

    public Windows windows() {
        return windows;
    }

    /** @param bytes of each operation, if bytes are counted, else 0 */
    public Measurement measurement(String name, int bytes) {
        double amount = (double) counted * (bytes == 0 ? 1 : bytes);
        return new Measurement(name, counted, Math.round(amount * 1e9 / Math.max(1, lastNanos - firstNanos)),
                bytes == 0 ? Measurement.Unit.OPERATIONS : Measurement.Unit.BYTES, histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99), histogram.getValueAtPercentile(99.9));
    }
}
