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

import io.netty.microbench.rdma.process.ProcessUse;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Pair;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Measurements of the part "idle", with the processes of an echo server and of an {@link IdleLoad}.
 */
final class IdleMeasurements {
    private static final int STEP = 500;
    /** Maximum time of all opens; the rest of the part takes about ten seconds. */
    private static final int MAX_OPEN_SECONDS = 60;
    /**
     * Minimum number of connections for a figure of memory. A process's own memory varies from second to second, which
     * is too much for fewer connections.
     */
    private static final int MIN_FOR_MEMORY = 1000;
    private static final int PROCESSES = 2;
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
        // Idle time is measured before there are further connections. The memory of closed connections is given back in
        // the seconds after the close, and that time is not idle time.
        Thread.sleep(SETTLE_MILLIS);
        processorTime(Section.IDLE, IDLE_MILLIS);
        pair.sample(0, BURST_MILLIS, BURST_MILLIS);
        processorTime(Section.AFTER_BURST, SETTLE_MILLIS);
        idleConnections();
    }

    /**
     * Opens more and more connections, as far as the machine has room. Their memory is measured for the first
     * connections: later ones use memory again that closed ones have left.
     */
    private void idleConnections() throws IOException, InterruptedException {
        long serverBefore = pair.serverMemory();
        long clientBefore = pair.clientMemory();
        long start = System.nanoTime();
        Use before = Use.of(pair.serverPid());
        int open = 0;
        for (int idle : Section.IDLE_CONNECTIONS) {
            if (idle == 0 || idle > effort.maxIdle()) {
                continue;
            }
            String cause = missing(open, idle, before, Use.of(pair.serverPid()),
                    ProcessUse.maxDescriptors(pair.serverPid()), ProcessUse.availableBytes());
            while (cause == null && open < idle) {
                int count = Math.min(STEP, idle - open);
                pair.askClient(IdleLoad.OPEN + ' ' + count);
                open += count;
                if (open < idle && System.nanoTime() - start > TimeUnit.SECONDS.toNanos(MAX_OPEN_SECONDS)) {
                    cause = open + " in " + MAX_OPEN_SECONDS + " s, which is all the time for it";
                }
            }
            if (cause != null) {
                readings.miss("of " + idle + " idle connections: " + cause);
                return;
            }
            roundTripsBeside(idle);
            if (idle >= MIN_FOR_MEMORY) {
                readings.add(Section.roundTripsBeside(idle), Figure.SERVER_MEMORY,
                        (double) (pair.serverMemory() - serverBefore) / idle);
                readings.add(Section.roundTripsBeside(idle), Figure.CLIENT_MEMORY,
                        (double) (pair.clientMemory() - clientBefore) / idle);
            }
        }
    }

    private void roundTripsBeside(int idle) throws IOException, InterruptedException {
        readings.add(pair.sample(0, effort.windowMillis(), effort.limitMillis()), Section.roundTripsBeside(idle));
    }

    private void processorTime(String scenario, long millis) throws IOException, InterruptedException {
        ProcessorTime time = new ProcessorTime(pair);
        Thread.sleep(millis);
        time.end((figure, value) -> readings.add(scenario, figure, value));
    }

    /**
     * Resources of a process.
     *
     * @param descriptors   number of open descriptors
     * @param residentBytes resident memory
     */
    record Use(long descriptors, long residentBytes) {
        private static Use of(long pid) throws IOException {
            return new Use(ProcessUse.descriptors(pid), ProcessUse.residentBytes(pid));
        }
    }

    /**
     * Returns why there is no room for so many connections, estimated from the open ones; {@code null} if there is
     * room.
     *
     * @param open           number of open connections, 0 and more
     * @param wanted         number of connections, more than these
     * @param before         resources before the first connection
     * @param now            resources with the open connections
     * @param maxDescriptors maximum number of descriptors of a process
     * @param availableBytes memory for both processes
     */
    static String missing(int open, int wanted, Use before, Use now, long maxDescriptors, long availableBytes) {
        if (open == 0) {
            return null;
        }
        double factor = (double) wanted / open;
        double descriptors = before.descriptors + (now.descriptors - before.descriptors) * factor;
        if (descriptors > maxDescriptors) {
            return String.format(Locale.ROOT, "a process needs %.0f descriptors and may have %d (ulimit -n)",
                    descriptors, maxDescriptors);
        }
        // Only half of the available memory is used.
        double bytes = PROCESSES * (now.residentBytes - before.residentBytes) * (factor - 1);
        long half = availableBytes / 2;
        return bytes <= half ? null : String.format(Locale.ROOT,
                "both processes need %.1f GB more, and half of the free memory are %.1f", bytes / 1e9, half / 1e9);
    }
}
