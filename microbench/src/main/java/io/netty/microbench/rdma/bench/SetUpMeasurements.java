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

import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Pair;

import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Measurements of the set-up of connections: by two new processes, second by second, and then by the same processes
 * when they are warm.
 */
final class SetUpMeasurements {
    private static final int SECOND_MILLIS = 1000;
    /** Number of connections that are opened before the measured ones, so that the pools which they need have grown. */
    private static final int FIRST_OPEN = 1000;

    private final Pair pair;
    private final Effort effort;
    private final Readings readings;

    SetUpMeasurements(Pair pair, Effort effort, Readings readings) {
        this.pair = pair;
        this.effort = effort;
        this.readings = readings;
    }

    void run() throws IOException, InterruptedException {
        // The first scenario has round trips, and the others have the connections.
        List<Integer> numbers = IntStream.rangeClosed(1, Section.AT_A_TIME.size()).boxed().toList();
        cold(numbers.get(numbers.size() - 1));
        pair.warmUp(numbers, effort.warmUpMillis());
        for (int number : numbers) {
            readings.add(pair.sample(number, effort.windowMillis(), effort.limitMillis()));
        }
        keptOpen();
    }

    private void cold(int number) throws IOException, InterruptedException {
        for (int second = 1; second <= effort.coldSeconds(); second++) {
            var sample = Pair.sampleTogether(List.of(pair), number, SECOND_MILLIS);
            if (Section.COLD_SECONDS.contains(second)) {
                readings.add(sample, Section.cold(second));
            }
        }
    }

    private void keptOpen() throws IOException {
        pair.askClient(IdleLoad.OPEN + ' ' + FIRST_OPEN);
        pair.askClient(IdleLoad.CLOSE);
        long nanos = Long.parseLong(pair.askClient(IdleLoad.OPEN + ' ' + effort.maxIdle()));
        readings.add(Section.KEPT_OPEN, Figure.OPERATIONS, effort.maxIdle() * 1e9 / nanos);
        pair.askClient(IdleLoad.CLOSE);
    }
}
