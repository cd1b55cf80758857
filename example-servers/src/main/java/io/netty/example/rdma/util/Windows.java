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

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The parts of a measurement, which show if its rate was steady. A measuring process prints them on a line, and the
 * comparison reads the line. Times are those of {@link System#nanoTime()}, which on Linux is one clock for all
 * processes: {@code CLOCK_MONOTONIC} of clock_gettime(2).
 */
public final class Windows {
    /** Number of windows. */
    public static final int COUNT = 5;
    private static final String PREFIX = "windows ";

    private final long operations;
    private final long begunNanos;
    /** Times at which each window began, and the last one ended, and the number of measured operations done by then. */
    private final long[] nanos = new long[COUNT + 1];
    private final long[] done = new long[COUNT + 1];
    private int marks;

    /**
     * Begins, with operations that do not count yet.
     *
     * @param operations number of operations that will count
     */
    public Windows(long operations) {
        this(operations, System.nanoTime());
    }

    private Windows(long operations, long begunNanos) {
        this.operations = operations;
        this.begunNanos = begunNanos;
    }

    /** Begins again: operations that were done so far do not count. */
    public Windows again() {
        return new Windows(operations, begunNanos);
    }

    /** Notes that {@code number} of the measured operations are done; 0 at the beginning of the first one. */
    public void done(long number, long now) {
        while (marks <= COUNT && number * COUNT >= marks * operations) {
            nanos[marks] = now;
            done[marks++] = number;
        }
    }

    /** Time for which the same operations were done before. */
    public double warmUpSeconds() {
        return (nanos[0] - begunNanos) / 1e9;
    }

    /** Time at which a window began; for the number {@link #COUNT}, at which the last one ended. */
    public long nanos(int number) {
        return nanos[number];
    }

    /** Rate in a window, in operations a second. */
    public double rate(int number) {
        return (done[number + 1] - done[number]) * 1e9 / Math.max(1, nanos[number + 1] - nanos[number]);
    }

    /** Rate in all windows, in operations a second. */
    public double rate() {
        return (done[COUNT] - done[0]) * 1e9 / Math.max(1, nanos[COUNT] - nanos[0]);
    }

    /** Returns the line for {@link #parse}. */
    @Override
    public String toString() {
        return PREFIX + LongStream.concat(LongStream.of(operations, begunNanos),
                LongStream.concat(Arrays.stream(nanos), Arrays.stream(done)))
                .mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    /**
     * Returns the windows on a line, or {@code null} if there are none.
     *
     * @throws IllegalArgumentException if they are not complete
     */
    public static Windows parse(String line) {
        if (!line.startsWith(PREFIX)) {
            return null;
        }
        long[] values = Arrays.stream(line.substring(PREFIX.length()).split(" ")).mapToLong(Long::parseLong).toArray();
        if (values.length != 2 + 2 * (COUNT + 1) || values[values.length - 1] < values[0]) {
            throw new IllegalArgumentException("not the windows of a measurement: " + line);
        }
        Windows windows = new Windows(values[0], values[1]);
        System.arraycopy(values, 2, windows.nanos, 0, COUNT + 1);
        System.arraycopy(values, 2 + COUNT + 1, windows.done, 0, COUNT + 1);
        windows.marks = COUNT + 1;
        return windows;
    }
}
