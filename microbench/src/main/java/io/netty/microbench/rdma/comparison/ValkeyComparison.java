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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.load.ValkeyLoad;
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.process.ValkeyProcess;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Valkey's unmodified server, with a client on one transport after the other: RDMA by Valkey's own protocol, TCP and a
 * Unix socket. Each mode has a server of its own, with the same options.
 */
@Command(name = "valkey", description = "Runs the unmodified server of Valkey and a client that checks every answer, "
        + "and compares SET and GET over RDMA, TCP and a Unix socket: values of 3 B to 1 MiB, one and 64 commands in "
        + "flight on one connection.")
public final class ValkeyComparison implements Callable<Integer> {
    private static final List<Transport> TRANSPORTS = List.of(Transport.RDMA, Transport.EPOLL, Transport.UNIX);

    @Mixin
    private ComparisonOptions options = new ComparisonOptions(TRANSPORTS);

    @Option(names = "--script", required = true, description = "The script testsuite/valkey/server.")
    private Path script;

    public static void main(String[] args) {
        System.exit(Commands.run(new ValkeyComparison(), args));
    }

    @Override
    public Integer call() throws Exception {
        if (!Files.isExecutable(script)) {
            throw new IllegalArgumentException("--script: there is no " + script);
        }
        for (Transport transport : options.transports) {
            if (!TRANSPORTS.contains(transport)) {
                throw new IllegalArgumentException("--transports: rdma, epoll and unix, not " + transport);
            }
        }
        List<Mode> modes = options.transports.stream().flatMap(transport ->
                (options.polling() ? Mode.of(transport) : List.of(Mode.byDefault(transport))).stream()).toList();
        try (Comparison comparison = new Comparison("valkey", options, modes, this::start, List.of())) {
            comparison.run();
        }
        return 0;
    }

    private Pair start(Mode mode) throws IOException {
        return Pair.start(children -> {
            children.add(new Child(List.of(), ValkeyProcess.class, List.of("--script", script.toString(),
                    "--host", options.launcher.host(), "--provider", options.launcher.provider())));
            String port = ExampleServer.port(children.get(0).await(ExampleServer.READY));
            children.add(options.launcher.start(ValkeyLoad.class, mode, List.of("--port", port,
                    "--socket", children.get(0).await(ValkeyProcess.SOCKET))));
        });
    }
}
