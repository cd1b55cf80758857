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

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * A Java process. It is killed when it is closed, when it does not answer in time, and when this process ends.
 */
public final class Child implements AutoCloseable {
    /** Options of all compared processes. A fixed heap and the serial collector leave the second core to the peer. */
    private static final List<String> JVM_OPTIONS = List.of("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC",
            // Compiler threads must live as long as the process, otherwise their CPU time is lost.
            "-XX:-UseDynamicNumberOfCompilerThreads", "--enable-native-access=ALL-UNNAMED");
    private static final int MAX_SECONDS = 300;
    /** Maximum time of an answer, much longer than any takes: a server that hangs is an error. */
    private static final int MAX_ANSWER_SECONDS = 120;
    private static final ScheduledExecutorService WATCHDOG = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task, "watchdog");
        thread.setDaemon(true);
        return thread;
    });

    private final String name;
    private final Process process;
    private final BufferedReader output;
    private final Writer input;
    private final Thread onExit;
    private volatile boolean tooLate;

    /**
     * Starts a process with the class path of this process.
     *
     * @param options options of the virtual machine, besides the common ones
     */
    public Child(List<String> options, Class<?> main, List<String> arguments) throws IOException {
        this(options, System.getProperty("java.class.path"), main, arguments);
    }

    /**
     * Starts a process.
     *
     * @param options options of the virtual machine, besides the common ones
     */
    public Child(List<String> options, String classPath, Class<?> main, List<String> arguments) throws IOException {
        name = main.getSimpleName() + ' ' + String.join(" ", arguments);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_OPTIONS);
        // Tests run without the second compiler, which is most of the work of a short process.
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(option -> option.startsWith("-XX:TieredStopAtLevel=")).forEach(command::add);
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(arguments);
        process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        onExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(onExit);
        output = process.inputReader(StandardCharsets.UTF_8);
        input = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Returns the next line.
     *
     * @throws IOException if the process ends without one
     */
    public String line() throws IOException {
        ScheduledFuture<?> timeout = killAfter(MAX_ANSWER_SECONDS);
        String line = output.readLine();
        timeout.cancel(false);
        if (line == null) {
            throw failure();
        }
        return line;
    }

    /**
     * Returns the rest of the first line that starts with {@code prefix}.
     *
     * @throws IOException if the process ends without such a line
     */
    public String await(String prefix) throws IOException {
        String line;
        do {
            line = line();
        } while (!line.startsWith(prefix));
        return line.substring(prefix.length());
    }

    /** Process id. */
    public long pid() {
        return process.pid();
    }

    /**
     * Sends a command to the {@link Control} of the process.
     *
     * @return the answer
     * @throws IOException if the process ends without an answer, as it does if it fails
     */
    public String ask(String command) throws IOException {
        try {
            input.write(command + System.lineSeparator());
            input.flush();
        } catch (IOException e) {
            // The process has ended, and its earlier output tells more.
        }
        return await(Control.ANSWER);
    }

    /**
     * Returns all lines to the successful end of the process.
     *
     * @throws IOException if the process fails or does not end in time
     */
    public List<String> awaitSuccess() throws IOException, InterruptedException {
        ScheduledFuture<?> timeout = killAfter(MAX_SECONDS);
        List<String> lines = output.lines().toList();
        int status = process.waitFor();
        timeout.cancel(false);
        if (status != 0) {
            lines.forEach(System.err::println);
            throw failure();
        }
        return lines;
    }

    private ScheduledFuture<?> killAfter(int seconds) {
        return WATCHDOG.schedule(() -> {
            tooLate = true;
            process.destroyForcibly();
        }, seconds, TimeUnit.SECONDS);
    }

    /** Kills the process, and returns when it has ended. */
    public void kill() {
        process.destroyForcibly();
        process.onExit().join();
    }

    private IOException failure() throws IOException {
        try {
            return new IOException(name + ": ended with status " + process.waitFor()
                    + (tooLate ? ", killed because its time was over" : ""));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new IOException(name + ": interrupted", e);
        }
    }

    @Override
    public void close() throws IOException {
        kill();
        output.close();
        try {
            Runtime.getRuntime().removeShutdownHook(onExit);
        } catch (IllegalStateException ignored) {
            // The JVM is ending: the hook runs anyway and finds nothing to kill.
        }
    }
}
