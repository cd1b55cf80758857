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
package io.netty.microbench.rdma.report;

import java.util.List;
import java.util.function.DoubleFunction;

/**
 * A figure in all rounds.
 */
public record Spread(double median, double min, double max) {
    private static final double MAX_FACTOR = 2;

    /** Returns the spread of values, {@code null} if there are none. */
    public static Spread of(List<Double> values) {
        if (values.isEmpty()) {
            return null;
        }
        List<Double> sorted = values.stream().sorted().toList();
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle)
                : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(median, sorted.get(0), sorted.get(sorted.size() - 1));
    }

    /** Returns whether the median stands for all values: each differs from it by a factor of at most two. */
    public boolean isTypical() {
        return max <= MAX_FACTOR * median && median <= MAX_FACTOR * min;
    }

    /** Returns the lowest and the highest value, or one of them if their texts are equal. */
    public String range(DoubleFunction<String> format) {
        String low = format.apply(min);
        String high = format.apply(max);
        return low.equals(high) ? low : low + " to " + high;
    }

    /** Returns the lowest and the highest value, even if their texts are equal. */
    public String fullRange(DoubleFunction<String> format) {
        return format.apply(min) + " to " + format.apply(max);
    }
}
