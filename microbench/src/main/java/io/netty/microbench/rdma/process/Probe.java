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
package io.netty.microbench.rdma.process;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Resources that a process has used since its start. All but {@code residentBytes} only grow.
 *
 * @param nanos             time of the probe: {@link System#nanoTime()} of the process
 * @param cpuNanos          CPU time of all its threads
 * @param compilerNanos     CPU time of the JIT compilers' threads, including that of unfinished compilations
 * @param compilerWaitNanos time in which these threads had work, but no core
 * @param gcNanos           time in which the garbage collector stopped the process
 * @param allocatedBytes    heap memory that its event loop threads have allocated
 * @param residentBytes     present resident memory
 */
public record Probe(long nanos, long cpuNanos, long compilerNanos, long compilerWaitNanos, long gcNanos,
                    long allocatedBytes, long residentBytes) {
    /** Returns the resources used since another probe of the same process, and the present memory. */
    public Probe since(Probe earlier) {
        return new Probe(nanos - earlier.nanos, cpuNanos - earlier.cpuNanos, compilerNanos - earlier.compilerNanos,
                compilerWaitNanos - earlier.compilerWaitNanos, gcNanos - earlier.gcNanos,
                allocatedBytes - earlier.allocatedBytes, residentBytes);
    }

    /** Returns the resources of two processes together, with the time of this probe. */
    public Probe plus(Probe other) {
        return new Probe(nanos, cpuNanos + other.cpuNanos, compilerNanos + other.compilerNanos,
                compilerWaitNanos + other.compilerWaitNanos, gcNanos + other.gcNanos,
                allocatedBytes + other.allocatedBytes, residentBytes + other.residentBytes);
    }

    /** Returns the text for {@link #parse}. */
    @Override
    public String toString() {
        return LongStream.of(nanos, cpuNanos, compilerNanos, compilerWaitNanos, gcNanos, allocatedBytes, residentBytes)
                .mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    /**
     * Returns the probe that was printed.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Probe parse(String text) {
        long[] values = Arrays.stream(text.split(" ")).mapToLong(Long::parseLong).toArray();
        if (values.length != 7) {
            throw new IllegalArgumentException("not a probe: " + text);
        }
        return new Probe(values[0], values[1], values[2], values[3], values[4], values[5], values[6]);
    }
}
