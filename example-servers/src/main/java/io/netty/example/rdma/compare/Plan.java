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

import java.util.concurrent.TimeUnit;

/**
 * For how long a comparison measures.
 */
public enum Plan {
    /** Enough for figures to quote. */
    FULL(5, 2000, 300, 700, 10),
    /** Shows that everything works, and roughly how fast. */
    QUICK(1, 600, 150, 250, 3);

    private final int rounds;
    private final int compilerWarmUpMillis;
    private final int warmUpMillis;
    private final int measureMillis;
    private final int minOperations;

    Plan(int rounds, int compilerWarmUpMillis, int warmUpMillis, int measureMillis, int minOperations) {
        this.rounds = rounds;
        this.compilerWarmUpMillis = compilerWarmUpMillis;
        this.warmUpMillis = warmUpMillis;
        this.measureMillis = measureMillis;
        this.minOperations = minOperations;
    }

    /** How often each mode is measured. */
    public int rounds() {
        return rounds;
    }

    /** How long one thing is done before it is measured. */
    public long warmUpNanos() {
        return TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
    }

    /** The same for what waits for the compilers of both virtual machines. */
    public long compilerWarmUpNanos() {
        return TimeUnit.MILLISECONDS.toNanos(compilerWarmUpMillis);
    }

    /** How long one thing is measured in one round. */
    public long measureNanos() {
        return TimeUnit.MILLISECONDS.toNanos(measureMillis);
    }

    /** How often it is done at least, however long that takes: a figure of one or two would say nothing. */
    int minOperations() {
        return minOperations;
    }
}
