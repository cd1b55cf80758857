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
package io.netty.microbench.rdma.bench;

import io.netty.example.rdma.harness.Pair;
import io.netty.example.rdma.harness.ProcessUse;

import java.io.IOException;

/**
 * What the part "idle" does with its processes: an echo server and an {@link IdleLoad}.
 */
final class IdleMeasurements {
    /** Connections that are opened and closed before those that count, until compilers and pools are done. */
    private static final int WARM_UP_CONNECTIONS = 3000;
    private static final int STEP = 500;
    private static final long SETTLE_MILLIS = 1000;
    private static final long IDLE_MILLIS = 2000;
    private static final int BURST_MILLIS = 300;

    private final Pair pair;
    private final Effort effort;
    private final Readings readings;

    IdleMeasurements(Pair pair, Effort effort, Readings readings) {
        this.pair = pair;
        this.effort = effort;
        this.readings = readings;
    }

    void run() throws IOException, InterruptedException {
        roundTripsBeside(0);
        // Before there are others: the memory of closed connections is given back in the seconds that follow, which is
        // time that their end takes and not idling.
        Thread.sleep(SETTLE_MILLIS);
        processorTime(Section.IDLE, IDLE_MILLIS);
        pair.sample(0, BURST_MILLIS, BURST_MILLIS);
        processorTime(Section.AFTER_BURST, SETTLE_MILLIS);
        memory();
        setUp();
    }

    /** That of connections which are the first: later ones use again what these leave. */
    private void memory() throws IOException {
        long serverBefore = ProcessUse.residentBytes(pair.serverPid());
        long clientBefore = ProcessUse.residentBytes(pair.clientPid());
        int open = 0;
        for (int idle : Section.IDLE_CONNECTIONS) {
            if (idle > open && idle <= effort.maxIdle()) {
                open(idle - open);
                open = idle;
                roundTripsBeside(idle);
            }
        }
        readings.add(Section.SET_UP, Figure.SERVER_MEMORY,
                (double) (ProcessUse.residentBytes(pair.serverPid()) - serverBefore) / open);
        readings.add(Section.SET_UP, Figure.CLIENT_MEMORY,
                (double) (ProcessUse.residentBytes(pair.clientPid()) - clientBefore) / open);
    }

    private void setUp() throws IOException {
        pair.askClient(IdleLoad.CLOSE);
        for (int opened = 0; opened < WARM_UP_CONNECTIONS; opened += STEP) {
            open(STEP);
            pair.askClient(IdleLoad.CLOSE);
        }
        readings.add(Section.SET_UP, Figure.OPERATIONS, STEP * 1e9 / open(STEP));
        pair.askClient(IdleLoad.CLOSE);
    }

    private long open(int count) throws IOException {
        return Long.parseLong(pair.askClient(IdleLoad.OPEN + ' ' + count));
    }

    private void roundTripsBeside(int idle) throws IOException {
        readings.add(pair.sample(0, effort.windowMillis(), effort.limitMillis()), Section.roundTripsBeside(idle));
    }

    private void processorTime(String scenario, long millis) throws IOException, InterruptedException {
        long start = System.nanoTime();
        long server = ProcessUse.cpuNanos(pair.serverPid());
        long client = ProcessUse.cpuNanos(pair.clientPid());
        Thread.sleep(millis);
        double nanos = System.nanoTime() - start;
        readings.add(scenario, Figure.SERVER_CPU, (ProcessUse.cpuNanos(pair.serverPid()) - server) / nanos);
        readings.add(scenario, Figure.CLIENT_CPU, (ProcessUse.cpuNanos(pair.clientPid()) - client) / nanos);
    }
}
