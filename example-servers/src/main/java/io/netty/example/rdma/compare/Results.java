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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * All measurements of a run, by mode.
 */
public final class Results {
    private final Map<Mode, List<Measurement>> byMode = new LinkedHashMap<>();

    public void add(Mode mode, Measurement measurement) {
        byMode.computeIfAbsent(mode, m -> new ArrayList<>()).add(measurement);
    }

    /** What was measured in any mode, in the order in which it was measured. */
    Set<String> scenarios() {
        Set<String> scenarios = new LinkedHashSet<>();
        byMode.values().forEach(all -> all.forEach(measurement -> scenarios.add(measurement.scenario())));
        return scenarios;
    }

    /** What a scenario counts. */
    public Measurement.Unit unit(String scenario) {
        return byMode.values().stream().flatMap(List::stream).filter(m -> m.scenario().equals(scenario))
                .findFirst().orElseThrow().unit();
    }

    /** One figure of a scenario. */
    public Summary summary(Mode mode, String scenario, ToLongFunction<Measurement> figure) {
        return new Summary(byMode.getOrDefault(mode, List.of()).stream()
                .filter(m -> m.scenario().equals(scenario)).mapToLong(figure).toArray());
    }

    /**
     * What one figure was in all rounds.
     */
    public static final class Summary {
        private final long[] sorted;

        Summary(long... values) {
            sorted = values.clone();
            Arrays.sort(sorted);
        }

        public boolean isEmpty() {
            return sorted.length == 0;
        }

        public double median() {
            int middle = sorted.length / 2;
            return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
        }

        public long min() {
            return sorted[0];
        }

        public long max() {
            return sorted[sorted.length - 1];
        }
    }
}
