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
package io.netty.example.rdma.compare;

import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What is measured, and for how long.
 */
enum Plan {
    /** Enough for figures to quote. */
    FULL(5, 2000, 300, 700, 500, 400, 3),
    /** Shows that everything works, and roughly how fast. */
    QUICK(1, 600, 150, 250, 300, 200, 2);

    static final List<Integer> MESSAGE_BYTES = List.of(64, 4 << 10, 64 << 10, 1 << 20);
    static final List<Integer> WRITE_BYTES = List.of(64 << 10, 1 << 20);

    private final int rounds;
    private final int firstWarmUpMillis;
    private final int warmUpMillis;
    private final int pingPongMillis;
    private final int streamWarmUpMillis;
    private final int streamWindowMillis;
    private final int streamWindows;

    Plan(int rounds, int firstWarmUpMillis, int warmUpMillis, int pingPongMillis,
         int streamWarmUpMillis, int streamWindowMillis, int streamWindows) {
        this.rounds = rounds;
        this.firstWarmUpMillis = firstWarmUpMillis;
        this.warmUpMillis = warmUpMillis;
        this.pingPongMillis = pingPongMillis;
        this.streamWarmUpMillis = streamWarmUpMillis;
        this.streamWindowMillis = streamWindowMillis;
        this.streamWindows = streamWindows;
    }

    int rounds() {
        return rounds;
    }

    /** Round trips before those that count. The first size waits for the compilers of both virtual machines. */
    int pingPongWarmUp(int messageBytes) {
        return isFirst(messageBytes) ? 20_000 : 0;
    }

    /** At least so long is warmed up, */
    long pingPongWarmUpNanos(int messageBytes) {
        return TimeUnit.MILLISECONDS.toNanos(isFirst(messageBytes) ? firstWarmUpMillis : warmUpMillis);
    }

    /** and no longer than this, however few round trips it takes. */
    long pingPongMaxWarmUpNanos(int messageBytes) {
        return 5 * pingPongWarmUpNanos(messageBytes);
    }

    private static boolean isFirst(int messageBytes) {
        return messageBytes == MESSAGE_BYTES.get(0);
    }

    long pingPongNanos() {
        return TimeUnit.MILLISECONDS.toNanos(pingPongMillis);
    }

    long streamWarmUpNanos() {
        return TimeUnit.MILLISECONDS.toNanos(streamWarmUpMillis);
    }

    long streamWindowNanos() {
        return TimeUnit.MILLISECONDS.toNanos(streamWindowMillis);
    }

    int streamWindows() {
        return streamWindows;
    }
}
