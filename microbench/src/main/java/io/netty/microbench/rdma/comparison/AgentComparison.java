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
import io.netty.microbench.rdma.process.Child;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;
import io.netty.microbench.rdma.unmodified.ArmeriaServer;
import io.netty.microbench.rdma.unmodified.LibraryLoad;
import io.netty.microbench.rdma.unmodified.OverRdma;
import io.netty.microbench.rdma.unmodified.WebFluxServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Compares programs that do not know RDMA, without and with the agent. The exit status is 0 if every answer was right,
 * and all connections of the processes with the agent were over RDMA.
 */
@Command(name = "agent", description = "Runs a server of Armeria, one of Spring WebFlux and a client of both, without "
        + "and with the agent on their command lines (epoll, rdma), and compares HTTP/1.1. They have no RDMA transport "
        + "on their class path. Server CPU is that of both servers. Event loops are those that the libraries choose.")
public final class AgentComparison implements Callable<Integer> {
    /** Jars that a program without RDMA does not have, with our logging, which writes to standard output. */
    private static final List<String> OURS = List.of("netty-transport-rdma", "netty-transport-native-rdma", "logback-",
            "netty-transport-classes-io_uring", "netty-transport-native-io_uring");

    @Mixin
    private ComparisonOptions options;

    @Option(names = "--agent", required = true, description = "The jar of the agent.")
    private Path agent;

    @Option(names = "--libraries", required = true, description = "A folder with the jars of the libraries.")
    private Path libraries;

    /** Bytes over RDMA of the last processes with the agent: both servers and the client. */
    private List<OverRdma> overRdma = List.of();

    public static void main(String[] args) {
        System.exit(Commands.run(new AgentComparison(), args));
    }

    @Override
    public Integer call() throws Exception {
        for (Transport transport : options.transports) {
            if (transport != Transport.RDMA && transport != Transport.EPOLL) {
                throw new IllegalArgumentException("--transports: with the agent it is rdma, without it epoll, not "
                        + transport);
            }
        }
        if (!Files.isReadable(agent)) {
            throw new IllegalArgumentException("--agent: there is no " + agent);
        }
        List<Mode> modes = options.transports.stream().map(Mode::byDefault).toList();
        try (Comparison comparison = new Comparison("agent", options, modes, new Programs(), List.of())) {
            comparison.run();
        }
        if (!overRdma.isEmpty()) {
            System.out.printf(Locale.ROOT, "%nrdma: with -javaagent:%s, all connections were over RDMA. Sent bytes by "
                    + "the MBeans: Armeria's server %s, WebFlux's %s, the client %s.%n", agent.getFileName(),
                    describe(overRdma.get(0)), describe(overRdma.get(1)), describe(overRdma.get(2)));
        }
        return 0;
    }

    private static String describe(OverRdma bytes) {
        return String.format(Locale.ROOT, "%.1f MB (%.0f %% copied)", bytes.sent() / 1e6,
                100.0 * bytes.copied() / bytes.sent());
    }

    /** The processes of a mode. */
    private final class Programs implements Comparison.Starter {
        @Override
        public Pair start(Mode mode) throws IOException {
            String host = options.launcher.host();
            return Pair.start(children -> {
                children.add(child(mode, ArmeriaServer.class, host));
                children.add(child(mode, WebFluxServer.class, host));
                children.add(child(mode, LibraryLoad.class, host, port(children.get(0)), port(children.get(1))));
            });
        }

        @Override
        public void measured(Mode mode, Pair pair) throws IOException {
            List<OverRdma> bytes = pair.askAll(OverRdma.COMMAND).stream().map(OverRdma::parse).toList();
            boolean withAgent = mode.transport() == Transport.RDMA;
            for (OverRdma each : bytes) {
                if (each.sent() > 0 != withAgent || each.tcpConnections() > 0) {
                    throw new IOException(mode + ": sent over RDMA, copied, connections over TCP: " + bytes);
                }
            }
            overRdma = withAgent ? bytes : overRdma;
        }
    }

    private Child child(Mode mode, Class<?> main, String... arguments) throws IOException {
        List<String> jvm = new ArrayList<>(List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
        if (mode.transport() == Transport.RDMA) {
            jvm.addAll(List.of("-javaagent:" + agent, "-Dio.netty.rdma.provider=" + options.launcher.provider()));
        }
        String classPath = Stream.concat(
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator)).filter(entry ->
                        OURS.stream().noneMatch(Path.of(entry).getFileName().toString()::startsWith)),
                Stream.of(libraries + File.separator + '*')).collect(Collectors.joining(File.pathSeparator));
        return new Child(jvm, classPath, main, List.of(arguments));
    }

    private static String port(Child server) throws IOException {
        return ExampleServer.port(server.await(ExampleServer.READY));
    }
}
