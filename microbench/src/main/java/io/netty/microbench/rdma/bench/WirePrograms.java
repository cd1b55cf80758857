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

import io.netty.example.rdma.util.Measurement;
import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.verbs.Perftest;

import java.io.IOException;
import java.util.List;

/**
 * Unmodified C programs that do the same as {@link WireLoad}: those of perftest, on verbs alone, and rstream of
 * rdma-core. All of them poll.
 */
final class WirePrograms {
    /** Subject for rstream, which prints no median. */
    static final String RSTREAM = "rstream (mean)";
    static final List<String> LATENCY = List.of("ib_send_lat", "ib_write_lat");
    static final List<String> BANDWIDTH = List.of("ib_send_bw", "ib_write_bw");
    private static final List<Integer> WRITE_BYTES = List.of(64 << 10, 1 << 20);
    /** Number of bytes that soft-RoCE carries in a second or two. */
    private static final int BYTES = 64 << 20;
    private static final int MIN_ROUND_TRIPS = 200;
    private static final int MAX_ROUND_TRIPS = 5000;
    /** Number of directions, which rstream measures in turn. */
    private static final int RSTREAM_TURNS = 2;

    private final Perftest perftest;
    private final String provider;
    private final String host;

    WirePrograms(Perftest perftest, String provider, String host) {
        this.perftest = perftest;
        this.provider = provider;
        this.host = host;
    }

    void measure(Readings readings) throws IOException, InterruptedException {
        String cause = perftest.unavailability(provider);
        if (cause != null) {
            throw new IOException(cause);
        }
        for (int bytes : WireLoad.MESSAGE_BYTES) {
            String scenario = EchoLoad.roundTrips(WireLoad.WHERE, bytes);
            int count = Math.max(MIN_ROUND_TRIPS, Math.min(MAX_ROUND_TRIPS, BYTES / bytes));
            for (String program : LATENCY) {
                Measurement told = perftest.run(provider, host, program, bytes, count);
                readings.of(program).addLatency(scenario, told);
            }
            readings.of(RSTREAM).add(scenario, Figure.P50,
                    perftest.runRstream(provider, host, bytes, 1, count).p50());
        }
        for (int bytes : WRITE_BYTES) {
            String scenario = EchoLoad.stream(WireLoad.WHERE, bytes);
            for (String program : BANDWIDTH) {
                readings.of(program).add(scenario, Figure.BYTES,
                        perftest.run(provider, host, program, bytes, BYTES / bytes).perSecond());
            }
            readings.of(RSTREAM).add(scenario, Figure.BYTES, perftest.runRstream(provider, host, bytes,
                    BYTES / RSTREAM_TURNS / 2 / bytes, RSTREAM_TURNS).perSecond());
        }
    }
}
