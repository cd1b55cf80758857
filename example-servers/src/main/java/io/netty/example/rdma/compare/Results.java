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

import io.netty.example.rdma.compare.Measurement.RoundTrips;
import io.netty.example.rdma.compare.Measurement.Stream;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * All measurements of a run, by mode.
 */
final class Results {
    private final Map<Mode, List<Measurement>> byMode = new LinkedHashMap<>();

    void add(Mode mode, Measurement measurement) {
        byMode.computeIfAbsent(mode, m -> new ArrayList<>()).add(measurement);
    }

    /** A figure of the round trips of one size, in nanoseconds. */
    Summary roundTrips(Mode mode, int bytes, ToLongFunction<RoundTrips> figure) {
        return new Summary(byMode.getOrDefault(mode, List.of()).stream()
                .filter(RoundTrips.class::isInstance).map(RoundTrips.class::cast)
                .filter(m -> m.bytes() == bytes).mapToLong(figure).toArray());
    }

    /** Bytes a second of the stream of one write size. */
    Summary stream(Mode mode, int bytes) {
        return new Summary(byMode.getOrDefault(mode, List.of()).stream()
                .filter(Stream.class::isInstance).map(Stream.class::cast)
                .filter(m -> m.bytes() == bytes).mapToLong(Stream::bytesPerSecond).toArray());
    }

    /**
     * What one figure was in all rounds.
     */
    static final class Summary {
        private final long[] sorted;

        Summary(long... values) {
            sorted = values.clone();
            Arrays.sort(sorted);
        }

        boolean isEmpty() {
            return sorted.length == 0;
        }

        double median() {
            int middle = sorted.length / 2;
            return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
        }

        long min() {
            return sorted[0];
        }

        long max() {
            return sorted[sorted.length - 1];
        }
    }
}
