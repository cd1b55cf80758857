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

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line that a measuring process prints and the comparison reads.
 */
sealed interface Measurement {

    /**
     * Round trips of one message size.
     *
     * @param bytes message size
     * @param count round trips measured
     * @param p50   nanoseconds
     * @param p99   nanoseconds
     * @param p999  nanoseconds
     */
    record RoundTrips(int bytes, long count, long p50, long p99, long p999) implements Measurement {
        private static final Pattern LINE = Pattern.compile(
                "round trips of (\\d+) bytes: (\\d+), p50 (\\d+) ns, p99 (\\d+) ns, p99\\.9 (\\d+) ns");

        @Override
        public String toString() {
            return "round trips of " + bytes + " bytes: " + count
                    + ", p50 " + p50 + " ns, p99 " + p99 + " ns, p99.9 " + p999 + " ns";
        }
    }

    /**
     * One window of a stream.
     *
     * @param bytes          size of the sender's writes
     * @param bytesPerSecond as counted by the receiver
     */
    record Stream(int bytes, long bytesPerSecond) implements Measurement {
        private static final Pattern LINE = Pattern.compile("stream of (\\d+) bytes a write: (\\d+) bytes/s");

        @Override
        public String toString() {
            return "stream of " + bytes + " bytes a write: " + bytesPerSecond + " bytes/s";
        }
    }

    /**
     * Returns the measurement that a line tells, or {@code null} if it tells none.
     */
    static Measurement parse(String line) {
        Matcher matcher = RoundTrips.LINE.matcher(line);
        if (matcher.matches()) {
            return new RoundTrips(Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2)),
                    Long.parseLong(matcher.group(3)), Long.parseLong(matcher.group(4)),
                    Long.parseLong(matcher.group(5)));
        }
        matcher = Stream.LINE.matcher(line);
        return matcher.matches()
                ? new Stream(Integer.parseInt(matcher.group(1)), Long.parseLong(matcher.group(2))) : null;
    }
}
