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

import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.util.concurrent.ImmediateEventExecutor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Starts Valkey's unmodified server, and answers the commands of the measuring process for it. The server has no event
 * loops to be parked: it sleeps while no client sends anything.
 */
@Command(name = "valkey-process", description = "Runs Valkey's server while the standard input is open.")
public final class ValkeyProcess implements Callable<Integer> {
    /** Beginning of the line with the path of its Unix socket. The line follows that of {@link ExampleServer#READY}. */
    public static final String SOCKET = "socket ";

    private static final String LISTENING = "Ready to accept connections ";
    /** Number of listeners: TCP, the Unix socket and RDMA. */
    private static final int LISTENERS = 3;

    @Option(names = "--script", required = true, description = "The script testsuite/valkey/server.")
    private Path script;

    @Option(names = "--host", required = true, description = "Address to listen on.")
    private String host;

    @Option(names = "--provider", required = true, description = "Verbs provider: ${COMPLETION-CANDIDATES}.")
    private VerbsProvider provider;

    private ValkeyProcess() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new ValkeyProcess(), args));
    }

    @Override
    public Integer call() throws Exception {
        try (TemporaryFolder folder = new TemporaryFolder()) {
            int port = freePort();
            // The server must not stay behind if this process is killed.
            List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL", script.toString()));
            if (provider == VerbsProvider.IBVERBS) {
                command.add("--ibverbs");
            }
            command.addAll(List.of(host, Integer.toString(port), folder.path().toString()));
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try {
                awaitListening(process);
                System.out.println(ExampleServer.READY + host + ':' + port);
                System.out.println(SOCKET + folder.path().resolve("socket"));
                control(process.pid()).run();
                return 0;
            } finally {
                process.destroyForcibly();
                process.onExit().join();
            }
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0)) {
            return any.getLocalPort();
        }
    }

    /** Reads the output until the server listens everywhere, then in the background to empty the pipe. */
    private static void awaitListening(Process process) throws IOException {
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        StringBuilder log = new StringBuilder();
        for (int listeners = 0; listeners < LISTENERS;) {
            String line = output.readLine();
            if (line == null) {
                throw new IOException("Valkey's server ended: " + log);
            }
            log.append(line).append('\n');
            listeners += line.contains(LISTENING) ? 1 : 0;
        }
        Thread reader = new Thread(() -> output.lines().forEach(line -> { }), "output of Valkey's server");
        reader.setDaemon(true);
        reader.start();
    }

    private static Control control(long pid) throws IOException, InterruptedException {
        return new Control(ImmediateEventExecutor.INSTANCE)
                .add(Control.PROBE, arguments -> new Probe(System.nanoTime(), ProcessUse.cpuNanos(pid), 0, 0, 0, 0,
                        ProcessUse.residentBytes(pid)).toString())
                .add(Control.MEMORY, arguments -> Long.toString(ProcessUse.residentBytes(pid)))
                .add(Control.PAUSE, arguments -> "sleeps")
                .add(Control.RESUME, arguments -> "sleeps");
    }
}
