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

import io.netty.example.rdma.ExampleServer;
import io.netty.example.rdma.ServerOptions;
import io.netty.example.rdma.compare.Child;
import io.netty.example.rdma.compare.LoadClient;
import io.netty.example.rdma.compare.Measurement;
import io.netty.example.rdma.compare.Mode;
import io.netty.example.rdma.compare.Pair;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Starts the processes of a part.
 *
 * @param provider as the system property {@code io.netty.rdma.provider} has it
 * @param host     address at which servers listen
 * @param folder   for files, which is deleted in the end
 * @param limit    the program that measures what this machine can do between two processes
 */
record Processes(String provider, String host, Path folder, Path limit) {
    private static final int LIMIT_SECONDS = 300;

    /** Starts a server, and when it listens a client. */
    Pair start(Mode mode, Class<?> server, List<String> serverArguments, Class<? extends LoadClient> client)
            throws IOException {
        List<String> forServer = new ArrayList<>(List.of("--port", "0", "--idle-seconds", "0",
                ServerOptions.CONTROLLED));
        forServer.addAll(serverArguments);
        Child serverProcess = start(server, mode, forServer);
        try {
            return new Pair(serverProcess, start(client, mode, List.of("--port",
                    ExampleServer.port(serverProcess.await(ExampleServer.READY)))));
        } catch (IOException e) {
            serverProcess.close();
            throw e;
        }
    }

    private Child start(Class<?> main, Mode mode, List<String> arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("--transport", mode.transport().toString(), "--host", host));
        if (mode.polling()) {
            all.add("--polling");
        }
        all.addAll(arguments);
        return new Child("io.netty.rdma.provider=" + provider, main, all);
    }

    /** Runs the program that measures the limit to its end, and returns what it measured. */
    List<Measurement> runLimit(int millis) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(limit.toString(), "--millis", Integer.toString(millis))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (var output = process.inputReader(StandardCharsets.UTF_8)) {
            process.onExit().orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).exceptionally(late -> {
                process.destroyForcibly();
                return process;
            });
            List<Measurement> measurements = output.lines().map(Measurement::parse).filter(Objects::nonNull).toList();
            if (process.waitFor() != 0) {
                throw new IOException(limit.getFileName() + ": ended with status " + process.exitValue());
            }
            return measurements;
        } finally {
            process.destroyForcibly();
        }
    }
}
