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
package io.netty.microbench.rdma.sample;

import io.netty.example.rdma.util.Measurement;
import io.netty.microbench.rdma.load.Window;
import io.netty.microbench.rdma.process.Probe;
import org.HdrHistogram.Histogram;

import java.util.List;

/**
 * Measurement of one scenario in one round.
 *
 * @param measurement the figures
 * @param seen        whether they are those of the steady state, and further observations
 * @param windows     the figures of each window; if these are not known, only those of the whole
 * @param latencies   latencies of all operations, or {@code null} if only the figures are known
 * @param client      costs of the client
 * @param server      costs of the server
 * @param lateness    nanoseconds from the due times of operations to their starts; empty for a closed load
 */
public record Sample(Measurement measurement, Settling.Seen seen, List<Measurement> windows, Histogram latencies,
                     Cost client, Cost server, Histogram lateness) {
    private static final int SIGNIFICANT_DIGITS = 3;

    /**
     * Cost of an operation, or of a byte if bytes are counted, in one of the processes; NaN if it is not known.
     *
     * @param cpuNanos       CPU time
     * @param allocatedBytes allocated on the heap by event loop threads
     */
    public record Cost(double cpuNanos, double allocatedBytes) {
        static final Cost UNKNOWN = new Cost(Double.NaN, Double.NaN);

        /** Returns the cost. Probes are taken around the windows, so the share of the windows is computed by time. */
        private static Cost of(List<Probe> used, long windowNanos, double amount) {
            double nanos = used.stream().mapToLong(Probe::nanos).sum();
            double windows = windowNanos / nanos / amount;
            return new Cost(used.stream().mapToLong(Probe::cpuNanos).sum() * windows,
                    used.stream().mapToLong(Probe::allocatedBytes).sum() * windows);
        }
    }

    /** Creates a sample of figures that another program has measured, without checks. */
    public Sample(Measurement measurement) {
        this(measurement, Settling.Seen.SETTLED, List.of(measurement));
    }

    /** Creates a sample of figures that another program has measured. */
    public Sample(Measurement measurement, Settling.Seen seen, List<Measurement> windows) {
        this(measurement, seen, windows, null, Cost.UNKNOWN, Cost.UNKNOWN, new Histogram(SIGNIFICANT_DIGITS));
    }

    /**
     * Makes a sample of windows.
     *
     * @param bytes  bytes of an operation, or 0 if operations are counted
     * @param client resources that the client has used in and around each window
     */
    public static Sample of(String scenario, long bytes, Settling.Seen seen, List<Window> windows, List<Probe> client,
                     List<Probe> server) {
        Histogram latencies = new Histogram(SIGNIFICANT_DIGITS);
        windows.forEach(window -> latencies.add(window.latencies()));
        Histogram lateness = new Histogram(SIGNIFICANT_DIGITS);
        windows.stream().filter(window -> window.lateness() != null)
                .forEach(window -> lateness.add(window.lateness()));
        Window all = new Window(windows.stream().mapToLong(Window::nanos).sum(), latencies);
        double amount = (double) all.count() * (bytes > 0 ? bytes : 1);
        return new Sample(measurement(scenario, bytes, all), seen,
                windows.stream().map(window -> measurement(scenario, bytes, window)).toList(), latencies,
                Cost.of(client, all.nanos(), amount), Cost.of(server, all.nanos(), amount), lateness);
    }

    private static Measurement measurement(String scenario, long bytes, Window window) {
        Histogram latencies = window.latencies();
        return new Measurement(scenario, window.count(), Math.round(window.rate() * (bytes > 0 ? bytes : 1)),
                bytes > 0 ? Measurement.Unit.BYTES : Measurement.Unit.OPERATIONS, latencies.getValueAtPercentile(50),
                latencies.getValueAtPercentile(99), latencies.getValueAtPercentile(99.9));
    }

    /** Returns whether the figures are those of the steady state. */
    public Settling.State state() {
        return seen.state();
    }
}
