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
package io.netty.example.rdma.verbs;

import java.util.Locale;

/**
 * Result of a program at one end, printed on a line.
 *
 * @param what     text of the program
 * @param count    number of operations
 * @param bytes    bytes of each operation
 * @param wrong    number of checks that failed
 * @param nanos    time from the first to the last operation
 * @param cpuNanos processor time of the end's event loop meanwhile, or -1 if it is not known
 */
public record Result(String what, long count, long bytes, long wrong, long nanos, long cpuNanos) {
    /** Beginning of the line. */
    public static final String PREFIX = "result: ";

    /** Creates a result without processor time. */
    public Result(String what, long count, long bytes, long wrong, long nanos) {
        this(what, count, bytes, wrong, nanos, -1);
    }

    Result with(long newCpuNanos) {
        return new Result(what, count, bytes, wrong, nanos, newCpuNanos);
    }

    /** Returns whether all checks were right. */
    public boolean isRight() {
        return wrong == 0;
    }

    /** Returns the line. "us each" is time divided by count: with several in flight, less than the latency. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s%s, %d x %d bytes, %s, %.1f us each, %.1f MB/s", PREFIX, what, count,
                bytes, wrong == 0 ? "all right" : wrong + " WRONG", nanos / 1e3 / Math.max(1, count),
                count * bytes * 1e3 / Math.max(1, nanos))
                + (cpuNanos < 0 ? "" : String.format(Locale.ROOT, ", processor %.2f us each",
                        cpuNanos / 1e3 / Math.max(1, count)));
    }
}
