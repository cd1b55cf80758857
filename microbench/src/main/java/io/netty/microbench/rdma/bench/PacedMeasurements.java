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

import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Pair;
import io.netty.microbench.rdma.sample.Sample;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Measurements of the part "paced", with the processes of an echo server and of a {@link PacedLoad}.
 */
final class PacedMeasurements {
    /** Rates of the warm-up: loops often sleep at some. They compile the code for all other rates. */
    private static final List<Integer> WARM_UP_RATES = List.of(10_000, 30_000, 100_000);
    /** Minimum number of messages in a window. With fewer, the highest latencies of some windows would be chance. */
    private static final int MIN_MESSAGES = 60;
    private static final int SECOND_MILLIS = 1000;

    private final Pair pair;
    private final Effort effort;
    private final Readings readings;

    PacedMeasurements(Pair pair, Effort effort, Readings readings) {
        this.pair = pair;
        this.effort = effort;
        this.readings = readings;
    }

    /** Returns the scenarios of the warm-up. They use one connection, because no other one is open. */
    static List<Integer> warmUp(Pair pair) {
        return WARM_UP_RATES.stream().map(rate -> number(pair, Section.paced(rate, 1))).toList();
    }

    void run() throws IOException, InterruptedException {
        for (int connections : effort.connections()) {
            // The connections of later scenarios are not open yet.
            pair.askClient(PacedLoad.OPEN + ' ' + connections);
            for (int rate : effort.rates()) {
                String scenario = Section.paced(rate, connections);
                int windowMillis = Math.max(effort.windowMillis(), MIN_MESSAGES * SECOND_MILLIS / rate);
                ProcessorTime time = new ProcessorTime(pair);
                Sample sample = pair.sample(number(pair, scenario), windowMillis, effort.limitMillis());
                // The probes of the sample are too coarse for processes that do almost nothing.
                time.end((figure, value) -> readings.add(sample, scenario, figure, value));
                readings.addPaced(sample);
            }
        }
    }

    private static int number(Pair pair, String scenario) {
        return IntStream.range(0, pair.subjects().size())
                .filter(i -> pair.subjects().get(i).name().equals(scenario)).findFirst().orElseThrow();
    }
}
