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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Resources that processes of this user use, as the kernel counts them: see proc(5).
 */
public final class ProcessUse {
    private static final Path PROC = Path.of("/proc");
    /** Names of compiler threads, such as "C1 CompilerThread0", in the 15 characters that Linux keeps. */
    private static final Pattern COMPILER = Pattern.compile("C[12] Compiler.*\\s*");
    /** Unit of time of proc(5), 1/USER_HZ: USER_HZ is 100 on all architectures of Linux that Netty runs on. */
    private static final long NANOS_PER_TICK = 10_000_000;
    /** Columns of {@code /proc/stat}. */
    private static final int STEAL = 7;
    /** user, nice, system and steal. */
    private static final int[] CPU_TIMES = {0, 1, 2, STEAL};
    private static final Pattern CORE = Pattern.compile("cpu\\d+ ");
    private static final Pattern NUMBER = Pattern.compile("\\d+");
    private static final Pattern RANGE = Pattern.compile("(\\d+)(?:-(\\d+))?");

    private ProcessUse() {
    }

    /**
     * Processor time of the present threads of a process, in nanoseconds. JIT compilers are left out, because they go
     * on with their work when the measured work has ended. {@code /proc/PID/stat} has units of 10 ms, too coarse for a
     * process that does almost nothing.
     */
    public static long cpuNanos(long pid) throws IOException {
        List<Path> others = threads(pid);
        others.removeIf(ProcessUse::isCompiler);
        return nanos(others);
    }

    /** The present threads of JIT compilers of a process, for {@link #nanos}. */
    public static List<Path> compilers(long pid) throws IOException {
        List<Path> compilers = threads(pid);
        compilers.removeIf(thread -> !isCompiler(thread));
        return compilers;
    }

    /** Processor time of threads, in nanoseconds. Those that have ended count as 0. */
    public static long nanos(List<Path> threads) {
        return scheduled(threads, 0);
    }

    /** Time in which threads had work, but no core, as {@link #nanos}. */
    static long waitNanos(List<Path> threads) {
        return scheduled(threads, 1);
    }

    private static long scheduled(List<Path> threads, int column) {
        return threads.stream().map(thread -> read(thread.resolve("schedstat")))
                .filter(statistics -> !statistics.isEmpty())
                .mapToLong(statistics -> Long.parseLong(statistics.trim().split(" ")[column])).sum();
    }

    /**
     * Processor time in nanoseconds that all processes of the machine and the hypervisor have taken. It is without the
     * time of interrupts, because that is for the network, and counts for the sender.
     */
    static long machineNanos() {
        long[] ticks = machineTicks();
        return Arrays.stream(CPU_TIMES).mapToLong(column -> ticks[column]).sum() * NANOS_PER_TICK;
    }

    /** Processor time in nanoseconds that the hypervisor has given to other virtual machines. */
    static long stolenNanos() {
        return machineTicks()[STEAL] * NANOS_PER_TICK;
    }

    /** Number of cores of the machine, whether or not this process may use them; 0 if the system does not tell. */
    static int machineCores() {
        return (int) read(PROC.resolve("stat")).lines().filter(line -> CORE.matcher(line).lookingAt()).count();
    }

    /** Ticks of all cores together since the start of the machine; zeros if the system does not tell. */
    private static long[] machineTicks() {
        long[] ticks = new long[STEAL + 1];
        String[] words = read(PROC.resolve("stat")).lines().findFirst().orElse("").trim().split(" +");
        for (int i = 0; i < ticks.length && i + 1 < words.length; i++) {
            ticks[i] = Long.parseLong(words[i + 1]);
        }
        return ticks;
    }

    /** Resident memory in bytes, shared pages included. */
    public static long residentBytes(long pid) throws IOException {
        return number(PROC.resolve(pid + "/status"), "VmRSS:") << 10;
    }

    /** Memory in bytes that is available without swapping, as the kernel estimates it. */
    public static long availableBytes() throws IOException {
        return number(PROC.resolve("meminfo"), "MemAvailable:") << 10;
    }

    /** The numbers of the cores that this process may use. */
    public static List<Integer> cores() throws IOException {
        try (var lines = Files.lines(PROC.resolve("self/status"))) {
            return cores(lines.filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow());
        }
    }

    /** Parses a list of cores as in proc(5): single numbers, and ranges with a hyphen. */
    static List<Integer> cores(String list) {
        return RANGE.matcher(list).results().flatMapToInt(range -> {
            int first = Integer.parseInt(range.group(1));
            return IntStream.rangeClosed(first, range.group(2) == null ? first : Integer.parseInt(range.group(2)));
        }).boxed().toList();
    }

    /** Number of open file descriptors of a process. */
    public static long descriptors(long pid) throws IOException {
        try (var open = Files.list(PROC.resolve(pid + "/fd"))) {
            return open.count();
        }
    }

    /** Maximum number of open file descriptors of a process. */
    public static long maxDescriptors(long pid) throws IOException {
        return number(PROC.resolve(pid + "/limits"), "Max open files");
    }

    /** The first number after a name at the start of a line; the maximum if there is no number, as for "unlimited". */
    private static long number(Path file, String name) throws IOException {
        try (var lines = Files.lines(file)) {
            Matcher number = NUMBER.matcher(lines.filter(line -> line.startsWith(name)).findFirst().orElseThrow());
            return number.find() ? Long.parseLong(number.group()) : Long.MAX_VALUE;
        }
    }

    private static List<Path> threads(long pid) throws IOException {
        try (var tasks = Files.list(PROC.resolve(pid + "/task"))) {
            return tasks.collect(Collectors.toCollection(ArrayList::new));
        }
    }

    private static boolean isCompiler(Path thread) {
        return COMPILER.matcher(read(thread.resolve("comm"))).matches();
    }

    /** Reads a file; returns an empty string if the thread has ended. */
    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
