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
package io.netty.microbench.rdma.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What the processes of this user take of the machine, as the kernel counts it: see proc(5).
 */
final class ProcessUse {
    private static final Path PROC = Path.of("/proc");
    /** "C1 CompilerThread0" and the like, in the 15 characters that Linux keeps. */
    private static final Pattern COMPILER = Pattern.compile("C[12] Compiler.*\\s*");

    private ProcessUse() {
    }

    /**
     * Processor time of the threads that a process has now, in nanoseconds, without that of JIT compilers, which go
     * on with what they were given when there was work. That of {@code /proc/PID/stat} is in units of 10 ms, too coarse
     * for a process that does next to nothing.
     */
    static long cpuNanos(long pid) throws IOException {
        List<Path> threads;
        try (var tasks = Files.list(PROC.resolve(pid + "/task"))) {
            threads = tasks.toList();
        }
        return threads.stream().mapToLong(ProcessUse::threadNanos).sum();
    }

    private static long threadNanos(Path thread) {
        try {
            if (COMPILER.matcher(Files.readString(thread.resolve("comm"))).matches()) {
                return 0;
            }
            return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        } catch (NoSuchFileException e) {
            return 0; // It ended.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Resident memory in bytes, shared pages included. */
    static long residentBytes(long pid) throws IOException {
        try (var lines = Files.lines(PROC.resolve(pid + "/status"))) {
            return lines.filter(line -> line.startsWith("VmRSS:")).findFirst()
                    .map(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10).orElseThrow();
        }
    }
}
