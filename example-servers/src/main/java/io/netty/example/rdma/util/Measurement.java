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
package io.netty.example.rdma.util;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measurement of one scenario in one round. A measuring process prints it on a line, and the comparison reads the line.
 *
 * @param scenario  name of the scenario
 * @param count     number of operations
 * @param perSecond rate, in {@code unit}
 * @param unit      what is counted
 * @param p50       median of the latency in nanoseconds, or 0 if it was not measured
 * @param p99       nanoseconds
 * @param p999      nanoseconds
 */
public record Measurement(String scenario, long count, long perSecond, Unit unit, long p50, long p99, long p999) {
    /** Units of the count. */
    public enum Unit {
        OPERATIONS, BYTES
    }

    private static final Pattern LINE = Pattern.compile(
            "measured (.+): (\\d+) times, (\\d+) (\\w+)/s, p50 (\\d+) ns, p99 (\\d+) ns, p99\\.9 (\\d+) ns");

    @Override
    public String toString() {
        return "measured " + scenario + ": " + count + " times, " + perSecond + ' '
                + unit.name().toLowerCase(Locale.ROOT) + "/s, p50 " + p50 + " ns, p99 " + p99 + " ns, p99.9 " + p999
                + " ns";
    }

    /** Returns the measurement on a line, or {@code null} if there is none. */
    public static Measurement parse(String line) {
        Matcher matcher = LINE.matcher(line);
        return matcher.matches()
                ? new Measurement(matcher.group(1), Long.parseLong(matcher.group(2)), Long.parseLong(matcher.group(3)),
                        Unit.valueOf(matcher.group(4).toUpperCase(Locale.ROOT)), Long.parseLong(matcher.group(5)),
                        Long.parseLong(matcher.group(6)), Long.parseLong(matcher.group(7)))
                : null;
    }
}
