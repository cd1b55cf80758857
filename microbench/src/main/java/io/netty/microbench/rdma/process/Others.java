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

import com.sun.management.OperatingSystemMXBean;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Use of the cores by other processes, from the creation of this object: the use of the whole machine, without that of
 * the processes of a comparison.
 */
public final class Others {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    /** The kernel counts the time of processes in units of 10 ms. */
    private static final int LOOK_MILLIS = 400;
    /** Share of a core from which the machine counts as busy. Any system uses less by itself now and then. */
    private static final double BUSY = 0.25;
    /** Share of a core from which a process is named. */
    private static final double WORTH_A_NAME = 0.05;
    private static final int MAX_NAMES = 4;

    private final long machineNanos = ProcessUse.machineNanos();
    private final long ownNanos = SYSTEM.getProcessCpuTime();

    /** A process, or a group of processes, and the number of cores that it took. */
    record Taker(String name, double cores) {
    }

    /**
     * Processor time that others have taken since the creation, in nanoseconds. The error is some units of 10 ms, so
     * the value may be below 0.
     *
     * @param comparedNanos processor time of the processes of the comparison, without this process
     */
    public long nanos(long comparedNanos) {
        return ProcessUse.machineNanos() - machineNanos - (SYSTEM.getProcessCpuTime() - ownNanos) - comparedNanos;
    }

    /** Share of the processor time of all cores; NaN if the system does not tell. */
    public static double share(long othersNanos, long nanos) {
        int cores = ProcessUse.machineCores();
        return cores == 0 ? Double.NaN : Math.max(0, (double) othersNanos / nanos / cores);
    }

    /**
     * Looks for a moment, while this process rests.
     *
     * @return a sentence that names the busy processes; empty if there are none
     */
    static String look() throws InterruptedException {
        Others others = new Others();
        long start = System.nanoTime();
        long stolen = ProcessUse.stolenNanos();
        Map<ProcessHandle, Long> before = processNanos();
        Thread.sleep(LOOK_MILLIS);
        Map<ProcessHandle, Long> after = processNanos();
        double nanos = System.nanoTime() - start;
        Set<ProcessHandle> own = Stream.concat(Stream.of(ProcessHandle.current()),
                ProcessHandle.current().descendants()).collect(Collectors.toSet());
        List<Taker> takers = new ArrayList<>();
        takers.add(new Taker("the host of this virtual machine", (ProcessUse.stolenNanos() - stolen) / nanos));
        after.forEach((process, taken) -> {
            if (!own.contains(process)) {
                takers.add(new Taker(name(process), (taken - before.getOrDefault(process, 0L)) / nanos));
            }
        });
        return sentence(others.nanos(0) / nanos, takers, ProcessUse.machineCores());
    }

    private static Map<ProcessHandle, Long> processNanos() {
        Map<ProcessHandle, Long> nanos = new HashMap<>();
        ProcessHandle.allProcesses().forEach(process -> process.info().totalCpuDuration()
                .ifPresent(taken -> nanos.put(process, taken.toNanos())));
        return nanos;
    }

    private static String name(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc", Long.toString(process.pid()), "comm")).trim()
                    + " (pid " + process.pid() + ')';
        } catch (IOException e) {
            // The process has ended.
            return "pid " + process.pid();
        }
    }

    /**
     * Returns a sentence that names the busy processes.
     *
     * @param taken  cores that all others take together
     * @param takers processes that are known
     */
    static String sentence(double taken, List<Taker> takers, int cores) {
        if (taken < BUSY) {
            return "";
        }
        List<Taker> named = takers.stream().filter(taker -> taker.cores() >= WORTH_A_NAME)
                .sorted(Comparator.comparingDouble(Taker::cores).reversed()).limit(MAX_NAMES).toList();
        double rest = taken - named.stream().mapToDouble(Taker::cores).sum();
        String names = Stream.concat(named.stream(), Stream.of(new Taker("the rest", rest))
                        .filter(taker -> taker.cores() >= WORTH_A_NAME))
                .map(taker -> taker.name() + ' ' + percent(taker.cores())).collect(Collectors.joining(", "));
        return "The machine is busy: others take " + percent(taken) + " of a core, and there are " + cores
                + (names.isEmpty() ? "" : ": " + names)
                + ". Figures will be worse and wider than on an idle machine, those of polling modes in particular.";
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.0f %%", part * 100);
    }
}
