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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process of Valkey's server, which is not changed, at a port of TCP and of RDMA and at a Unix socket: {@code
 * testsuite/valkey/server}.
 */
final class ValkeyServer implements AutoCloseable {
    private static final Path SCRIPT = Path.of("valkey", "server").toAbsolutePath();
    private static final String READY = "Ready to accept connections ";
    /** TCP, the Unix socket and RDMA. */
    private static final int LISTENERS = 3;
    private static final String TAKEN = "Failed listening on port";
    private static final String END = "the end of its output";
    /** Attempts to find a port that no other process takes at the same time. */
    private static final int ATTEMPTS = 10;

    private final Path folder;
    private final List<String> options;
    private int port;
    private Process process;

    /**
     * Starts it, and waits until it listens.
     *
     * @param folder for its files
     * @param options those of valkey-server
     */
    ValkeyServer(Path folder, String... options) throws IOException, InterruptedException {
        this.folder = folder;
        this.options = List.of(options);
        for (int attempt = 1; process == null; attempt++) {
            try (ServerSocket any = new ServerSocket(0)) {
                port = any.getLocalPort();
            }
            String log = start();
            assertThat(process != null || attempt < ATTEMPTS && log.contains(TAKEN)).as(log).isTrue();
        }
    }

    /** Leaves {@link #process} empty if it did not come to listen; returns its output. */
    private String start() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(SCRIPT.toString()));
        if (VerbsApi.preferred().provider() != VerbsProvider.EMBEDDED) {
            command.add("--ibverbs");
        }
        command.addAll(List.of(TestAddress.HOST, Integer.toString(port), folder.toString()));
        command.addAll(options);
        // A queue for this process alone: the end of the last one's output may still have to be read.
        BlockingQueue<String> output = new LinkedBlockingQueue<>();
        Process started = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectInput(new File("/dev/null")).start();
        Thread reader = new Thread(() -> read(started, output), "output of process " + started.pid());
        reader.setDaemon(true);
        reader.start();
        StringBuilder log = new StringBuilder();
        for (int listeners = 0; listeners < LISTENERS;) {
            String line = TestTimeouts.take(output, "a listening server; before it: " + log);
            log.append(line).append('\n');
            if (line.equals(END)) {
                return log.toString();
            }
            listeners += line.contains(READY) ? 1 : 0;
        }
        process = started;
        return log.toString();
    }

    private static void read(Process started, BlockingQueue<String> output) {
        try (BufferedReader reader = started.inputReader(StandardCharsets.UTF_8)) {
            reader.lines().forEach(output::add);
        } catch (IOException | UncheckedIOException e) {
            output.add(e.toString());
        }
        output.add(END);
    }

    /** The address, of TCP and of RDMA. */
    InetSocketAddress address() {
        return new InetSocketAddress(TestAddress.HOST, port);
    }

    Path socket() {
        return folder.resolve("socket");
    }

    /** Maximum number of its open files. */
    long maxDescriptors() throws IOException {
        try (var limits = Files.lines(Path.of("/proc/" + process.pid() + "/limits"))) {
            String[] words = limits.filter(line -> line.startsWith("Max open files")).findFirst().orElseThrow()
                    .split(" +");
            return words[3].equals("unlimited") ? Long.MAX_VALUE : Long.parseLong(words[3]);
        }
    }

    /** SIGKILL: it can't say goodbye. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        awaitExit();
    }

    /** Waits until it has ended, and returns its status. */
    int awaitExit() throws InterruptedException {
        assertThat(process.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    /** A new process at the same port, with the same files, after the end of the last one. */
    void restart() throws IOException, InterruptedException {
        process = null;
        String log = start();
        assertThat(process).as(log).isNotNull();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().orTimeout(TestTimeouts.SECONDS, TimeUnit.SECONDS).join();
    }
}
