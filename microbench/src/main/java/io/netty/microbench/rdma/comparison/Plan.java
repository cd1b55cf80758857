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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Figures;
import io.netty.microbench.rdma.sample.Settling;

import java.util.concurrent.TimeUnit;

/**
 * For how long a comparison measures.
 */
public enum Plan {
    /**
     * Something to look at while one waits: the processes of a mode stay from round to round, so that they have to warm
     * up once.
     */
    DEFAULT(3, true, 100, 8000, 100),
    /** Figures to quote: fresh processes in each round, as where they come to lie makes a difference. */
    FULL(5, false, 200, 10_000, 3600),
    /** Shows that everything works. What does not settle in little more than a second is marked. */
    QUICK(1, false, 100, 1200, 60);

    private final int rounds;
    private final boolean keepsProcesses;
    private final int windowMillis;
    private final int limitMillis;
    private final int maxSeconds;

    Plan(int rounds, boolean keepsProcesses, int windowMillis, int limitMillis, int maxSeconds) {
        this.rounds = rounds;
        this.keepsProcesses = keepsProcesses;
        this.windowMillis = windowMillis;
        this.limitMillis = limitMillis;
        this.maxSeconds = maxSeconds;
    }

    /** Number of rounds, if there is time. */
    int rounds() {
        return rounds;
    }

    /** Returns whether the processes of a mode live for all rounds, rather than for one. */
    boolean keepsProcesses() {
        return keepsProcesses;
    }

    /** Length of one of the windows of {@link Settling}. */
    int windowMillis() {
        return windowMillis;
    }

    /** For how long fresh processes do a scenario at most until they give up, if it does not settle. */
    int limitMillis() {
        return limitMillis;
    }

    /** Time for everything: rows share the rest of it, and no round begins that would end later. */
    long maxNanos() {
        return TimeUnit.SECONDS.toNanos(maxSeconds);
    }
}
