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
package io.netty.example.rdma.harness;

import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Measurement;
import org.HdrHistogram.Histogram;

import java.util.List;

/**
 * What was measured of one scenario in one round.
 *
 * @param measurement the figures
 * @param state       whether they are those of the steady state
 * @param latencies   of all operations, or {@code null} if only the figures are known
 * @param client      what the client has used
 * @param server      what the server has used
 * @param lateness    by how many nanoseconds operations were started after they were due; empty if the load is closed
 */
public record Sample(Measurement measurement, Settling.State state, Histogram latencies, Cost client, Cost server,
                     Histogram lateness) {
    private static final int SIGNIFICANT_DIGITS = 3;

    /**
     * What an operation, or a byte if these are counted, has cost one of the processes; not a number if that is not
     * known.
     *
     * @param cpuNanos       CPU time
     * @param allocatedBytes allocated on the heap by event loop threads
     */
    public record Cost(double cpuNanos, double allocatedBytes) {
        static final Cost UNKNOWN = new Cost(Double.NaN, Double.NaN);

        /** Probes lie around the windows, so that what they tell is taken by time. */
        private static Cost of(List<Probe> used, long windowNanos, double amount) {
            double nanos = used.stream().mapToLong(Probe::nanos).sum();
            double windows = windowNanos / nanos / amount;
            return new Cost(used.stream().mapToLong(Probe::cpuNanos).sum() * windows,
                    used.stream().mapToLong(Probe::allocatedBytes).sum() * windows);
        }
    }

    /** Figures that somebody else has taken, and answers for. */
    Sample(Measurement measurement) {
        this(measurement, Settling.State.SETTLED);
    }

    /** Figures that somebody else has taken. */
    Sample(Measurement measurement, Settling.State state) {
        this(measurement, state, null, Cost.UNKNOWN, Cost.UNKNOWN, new Histogram(SIGNIFICANT_DIGITS));
    }

    /**
     * Of windows.
     *
     * @param bytes  that an operation counts for, or 0 if operations are counted
     * @param client what the client has used in and around each of them
     */
    static Sample of(String scenario, long bytes, Settling.State state, List<Window> windows, List<Probe> client,
                     List<Probe> server) {
        Histogram latencies = new Histogram(SIGNIFICANT_DIGITS);
        windows.forEach(window -> latencies.add(window.latencies()));
        Histogram lateness = new Histogram(SIGNIFICANT_DIGITS);
        windows.stream().filter(window -> window.lateness() != null)
                .forEach(window -> lateness.add(window.lateness()));
        long nanos = windows.stream().mapToLong(Window::nanos).sum();
        long count = latencies.getTotalCount();
        double amount = (double) count * (bytes > 0 ? bytes : 1);
        return new Sample(new Measurement(scenario, count, Math.round(amount * 1e9 / nanos),
                bytes > 0 ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS, latencies.getValueAtPercentile(50),
                latencies.getValueAtPercentile(99), latencies.getValueAtPercentile(99.9)),
                state, latencies, Cost.of(client, nanos, amount), Cost.of(server, nanos, amount), lateness);
    }

    boolean isSettled() {
        return state == Settling.State.SETTLED;
    }
}
