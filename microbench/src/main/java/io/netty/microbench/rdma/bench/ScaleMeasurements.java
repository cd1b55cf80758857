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
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Pair;
import io.netty.microbench.rdma.sample.Sample;

import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measurements of the part "scale": more and more event loops at each end, each time in new processes.
 */
final class ScaleMeasurements {
    private static final int ENDS = 2;

    private final Loops loops;
    private final Effort effort;
    private final Readings readings;

    ScaleMeasurements(Loops loops, Effort effort, Readings readings) {
        this.loops = loops;
        this.effort = effort;
        this.readings = readings;
    }

    /**
     * Event loops to be measured.
     *
     * @param wanted numbers at each end, in ascending order
     * @param pinned whether each is bound to a core
     * @param cores  number of cores of this machine for both processes together
     */
    record Loops(List<Integer> wanted, boolean pinned, int cores) {
        /** Returns the numbers for which a machine has cores, and those of the goal. */
        static List<Integer> on(int cores) {
            return Section.SCALE_LOOPS.stream().filter(number -> number <= Goal.LOOPS || ENDS * number <= cores)
                    .toList();
        }

        /** Returns the numbers for which there are cores. Loops that wait for each other's time slices show nothing. */
        List<Integer> fitting() {
            List<Integer> fitting = wanted.stream().filter(number -> ENDS * number <= cores).toList();
            // One loop is the reference. If it is all that fits, it is measured only if nothing else was asked for.
            return fitting.equals(List.of(1)) && wanted.size() > 1 ? List.of() : fitting;
        }

        /** Returns why some of them cannot be measured; {@code null} if all can. */
        String missing() {
            List<Integer> needed = wanted.stream().filter(number -> ENDS * number > cores).toList();
            return needed.isEmpty() ? null : join(needed) + " event loops at each end need "
                    + join(needed.stream().map(number -> ENDS * number).toList()) + " cores, and there are " + cores;
        }

        private static String join(List<Integer> numbers) {
            return numbers.stream().map(String::valueOf).collect(Collectors.joining(", "));
        }
    }

    /** Starts the two processes. */
    @FunctionalInterface
    interface Start {
        Pair with(int loops) throws IOException;
    }

    void run(Start start) throws IOException, InterruptedException {
        if (loops.missing() != null) {
            readings.miss(loops.missing());
        }
        for (int number : loops.fitting()) {
            try (Pair pair = start.with(number)) {
                if (loops.pinned()) {
                    pair.pin(ProcessUse.cores().subList(0, ENDS * number));
                }
                // The last scenario opens many connections, which would disturb the other scenarios.
                int last = pair.subjects().size() - 1;
                pair.warmUp(IntStream.range(0, last).boxed().toList(), effort.warmUpMillis());
                for (int i = 0; i <= last; i++) {
                    Sample sample = pair.sample(i, effort.windowMillis(), effort.limitMillis());
                    String scenario = sample.measurement().scenario();
                    if (scenario.equals(Section.scaleMessages(number))) {
                        readings.addBatches(sample, ScaleLoad.BATCH);
                    } else if (scenario.equals(Section.scaleMany(number))) {
                        readings.addBatches(sample, ScaleLoad.MANY_BATCH);
                    } else {
                        readings.add(sample);
                    }
                }
            }
        }
    }
}
