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
import com.sun.management.ThreadMXBean;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Executes the commands of the measuring process: a command on each line of standard input. The answer is a line on
 * standard output that starts with {@link #ANSWER}. The commands that every process has are here.
 */
public final class Control {
    /** Beginning of an answer. */
    public static final String ANSWER = "answer: ";
    /** Asks for a {@link Probe}. */
    public static final String PROBE = "probe";
    /**
     * Parks the event loops, and answers when they no longer run. Otherwise loops that never sleep would take a core
     * each from the measured processes. Only the loops stop: compilers can finish their work.
     */
    public static final String PAUSE = "pause";
    /**
     * Collects garbage, and answers with the bytes that the process then holds: resident memory, but only the live part
     * of its heap. Two answers can be compared only if all of a heap of fixed size was touched from the start ({@code
     * -XX:+AlwaysPreTouch}). Otherwise resident memory grows when garbage first uses a part of the heap.
     */
    public static final String MEMORY = "memory";
    /** Binds each event loop to a core. The numbers of the cores follow. */
    public static final String PIN = "pin";
    /** Lets the event loops run again. */
    public static final String RESUME = "resume";

    private final EventExecutorGroup group;
    private final Prober prober;
    private final Map<String, Command> commands = new HashMap<>();
    private CountDownLatch resumed = new CountDownLatch(0);

    /**
     * Creates a control. Not to be called on an event loop.
     *
     * @param group event loops of this process
     */
    public Control(EventExecutorGroup group) throws IOException, InterruptedException {
        this.group = group;
        prober = new Prober(group);
        add(PROBE, arguments -> prober.probe().toString());
        add(MEMORY, arguments -> Long.toString(prober.heldBytes()));
        add(PAUSE, arguments -> pause());
        add(RESUME, arguments -> resume());
        add(PIN, this::pin);
    }

    /** A command of a process. */
    @FunctionalInterface
    public interface Command {
        /**
         * Executes the command.
         *
         * @param arguments words after the name of the command
         * @return the answer, of one line
         */
        String execute(String[] arguments) throws Exception;
    }

    /** Adds a command that only this process knows. */
    public Control add(String name, Command command) {
        commands.put(name, command);
        return this;
    }

    /**
     * Executes commands until the input ends.
     *
     * @throws Exception of the first command that fails
     */
    public void run() throws Exception {
        try {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                String[] words = line.split(" ", 2);
                Command command = commands.get(words[0]);
                if (command == null) {
                    throw new IllegalArgumentException("unknown command: " + line);
                }
                System.out.println(ANSWER + command.execute(words.length == 1 ? new String[0] : words[1].split(" ")));
            }
        } finally {
            resume();
        }
    }

    private String pin(String[] cores) throws IOException, InterruptedException {
        int next = 0;
        for (EventExecutor executor : group) {
            // The file is a link to PID/task/TID.
            Path thread = executor.submit(() -> Files.readSymbolicLink(Path.of("/proc/thread-self"))).sync().getNow();
            List<String> command = List.of("taskset", "-pc", cores[next++], thread.getFileName().toString());
            Process taskset = new ProcessBuilder(command).redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
            if (taskset.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + ": failed");
            }
        }
        return "pinned";
    }

    private String pause() throws InterruptedException {
        if (resumed.getCount() == 0) {
            CountDownLatch toResume = new CountDownLatch(1);
            resumed = toResume;
            for (EventExecutor executor : group) {
                CountDownLatch paused = new CountDownLatch(1);
                executor.execute(() -> {
                    paused.countDown();
                    try {
                        toResume.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                });
                paused.await();
            }
        }
        return "paused";
    }

    private String resume() {
        resumed.countDown();
        return "resumed";
    }

    /** Finds out which resources this process has used. Linux only, as the transport is. */
    private static final class Prober {
        private static final long PID = ProcessHandle.current().pid();

        private final OperatingSystemMXBean system =
                (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        private final long[] eventLoopThreads;
        private final List<Path> compilerThreads;

        /** Not to be called on an event loop. */
        Prober(EventExecutorGroup group) throws IOException, InterruptedException {
            List<Long> ids = new ArrayList<>();
            for (EventExecutor executor : group) {
                ids.add(executor.submit(() -> Thread.currentThread().getId()).sync().getNow());
            }
            eventLoopThreads = ids.stream().mapToLong(Long::longValue).toArray();
            compilerThreads = ProcessUse.compilers(PID);
        }

        Probe probe() throws IOException {
            long allocated = 0;
            for (long bytes : threads.getThreadAllocatedBytes(eventLoopThreads)) {
                allocated += bytes;
            }
            long gcMillis = ManagementFactory.getGarbageCollectorMXBeans().stream()
                    .mapToLong(collector -> Math.max(0, collector.getCollectionTime())).sum();
            return new Probe(System.nanoTime(), system.getProcessCpuTime(), compilerNanos(),
                    ProcessUse.waitNanos(compilerThreads), TimeUnit.MILLISECONDS.toNanos(gcMillis), allocated,
                    ProcessUse.residentBytes(PID));
        }

        /** Collects garbage, and returns the held bytes: see {@link Control#MEMORY}. */
        long heldBytes() throws IOException {
            System.gc();
            MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
            return ProcessUse.residentBytes(PID) - heap.getCommitted() + heap.getUsed();
        }

        /**
         * CPU time of the compilers. If their threads are not found by name, it is that of {@code CompilationMXBean}.
         * That counts a compilation only when it is done: with two threads that poll on two cores, half a second after
         * it began to disturb them.
         */
        private long compilerNanos() {
            if (compilerThreads.isEmpty()) {
                return TimeUnit.MILLISECONDS.toNanos(
                        ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
            }
            return ProcessUse.nanos(compilerThreads);
        }
    }
}
