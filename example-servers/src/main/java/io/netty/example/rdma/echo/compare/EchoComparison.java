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
package io.netty.example.rdma.echo.compare;

import io.netty.example.rdma.Commands;
import io.netty.example.rdma.Transport;
import io.netty.example.rdma.compare.Child;
import io.netty.example.rdma.compare.Comparison;
import io.netty.example.rdma.compare.ComparisonOptions;
import io.netty.example.rdma.compare.Mode;
import io.netty.example.rdma.compare.Results;
import io.netty.example.rdma.echo.EchoClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * The echo example as a whole: a file through an echo server and back, then figures of all modes beside each other.
 * The exit status is 0 if the file came back intact on every transport and everything could be measured.
 */
@Command(name = "echo", description = {
        "Sends a file through an echo server, compares SHA-256, then measures round trips and streaming of the "
                + "transports in turn. Server and client are processes of their own."})
public final class EchoComparison implements Callable<Integer> {
    @Mixin
    private ComparisonOptions options;

    @Option(names = "--file", description = "The file to send (default: lib/modules of the running JDK, over 100 MB).")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoComparison(), args));
    }

    @Override
    public Integer call() throws Exception {
        Comparison comparison = new Comparison(options);
        List<Mode> modes = new ArrayList<>();
        for (Transport transport : options.transports()) {
            sendFile(comparison, new Mode(transport, false));
            modes.addAll(Mode.of(transport, true));
        }
        Results results = comparison.measure(modes, mode -> measure(comparison, mode));
        comparison.tell(new EchoReport(results, modes).write());
        return 0;
    }

    private void sendFile(Comparison comparison, Mode mode) throws IOException, InterruptedException {
        try (Child server = comparison.start(MeasuredServer.class, mode, List.of())) {
            try (Child client = comparison.start(EchoClient.class, mode,
                    List.of("--port", ports(server)[0], "--file", file.toString()))) {
                client.awaitSuccess().forEach(System.out::println);
            }
            server.endInput();
            String counters = server.await(MeasuredServer.COUNTERS);
            if (!counters.isEmpty()) {
                System.out.println(MeasuredServer.COUNTERS + counters);
            }
        }
    }

    private List<String> measure(Comparison comparison, Mode mode) throws IOException, InterruptedException {
        try (Child server = comparison.start(MeasuredServer.class, mode, List.of())) {
            String[] ports = ports(server);
            try (Child client = comparison.start(MeasuringClient.class, mode, List.of("--echo-port", ports[0],
                    "--stream-port", ports[1], "--plan", options.plan().name()))) {
                return client.awaitSuccess();
            }
        }
    }

    private static String[] ports(Child server) throws IOException {
        return server.await(MeasuredServer.READY).split(" ");
    }
}
