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
package io.netty.example.rdma.pingpong;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Windows;
import org.HdrHistogram.Histogram;

/**
 * Times of the measured round trips. The measurement is repeated until it has begun late enough, so that the processes
 * are warm: after another kind of warm-up, code would be compiled again.
 */
final class RoundTrips {
    private static final int SIGNIFICANT_DIGITS = 3;

    private final Game game;
    private final long warmUpNanos;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private Windows windows;
    private long done;
    private long counted;
    private long startNanos;
    private long firstNanos;
    private long beganNanos;
    private long endedNanos;

    RoundTrips(Game game) {
        this.game = game;
        warmUpNanos = game.warmUp().toNanos();
    }

    void begin() {
        beganNanos = System.nanoTime();
        if (windows == null) {
            windows = new Windows(game.count());
            startNanos = beganNanos;
        }
        if (counted == 0) {
            firstNanos = beganNanos;
            windows.done(0, beganNanos);
        }
    }

    /** Returns whether there are more to come. */
    boolean end() {
        endedNanos = System.nanoTime();
        done++;
        counted++;
        histogram.recordValue(endedNanos - beganNanos);
        windows.done(counted, endedNanos);
        if (counted < game.count()) {
            return true;
        }
        if (firstNanos - startNanos >= warmUpNanos) {
            return false;
        }
        counted = 0;
        histogram.reset();
        windows = windows.again();
        return true;
    }

    /** Round trips, those before the ones that count, too. */
    long done() {
        return done;
    }

    Windows windows() {
        return windows;
    }

    Measurement measurement() {
        return new Measurement(game.name(), game.count(),
                Math.round(game.count() * 1e9 / Math.max(1, endedNanos - firstNanos)), Measurement.Unit.OPERATIONS,
                histogram.getValueAtPercentile(50), histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9));
    }
}
