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

import io.netty.example.rdma.files.FileServer;
import io.netty.example.rdma.files.FileServer.FileMode;
import io.netty.example.rdma.grpc.GrpcServerCommand;
import io.netty.example.rdma.http.HttpServer;
import io.netty.example.rdma.http2.Http2Server;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.websocket.WebSocketServer;
import io.netty.microbench.rdma.load.FileLoad;
import io.netty.microbench.rdma.load.GrpcLoad;
import io.netty.microbench.rdma.load.Http2Load;
import io.netty.microbench.rdma.load.HttpLoad;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.WebSocketLoad;
import io.netty.microbench.rdma.process.TemporaryFolder;
import io.netty.microbench.rdma.sample.Launcher;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * An example as a whole: a command that runs its server and its {@link LoadClient} as processes, on one transport after
 * the other, and compares the figures. The exit status is 0 if every answer on every transport was right.
 */
public abstract class ExampleComparison implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private ComparisonOptions options;

    @Option(names = "--tls", description = "Encrypt, with the TLS engine of: ${COMPLETION-CANDIDATES}.")
    private TlsEngine tls;

    final Class<?> server;
    final Class<? extends LoadClient> client;

    /**
     * @param server main class of the server, which has {@code ServerOptions}
     * @param client main class of the client
     */
    protected ExampleComparison(Class<?> server, Class<? extends LoadClient> client) {
        this.server = server;
        this.client = client;
    }

    /**
     * Returns arguments of the server besides the transport, the address and TLS.
     *
     * @param folder folder for files, which is deleted in the end
     */
    protected List<String> serverArguments(Path folder) throws IOException {
        return List.of();
    }

    /** Runs something that is not measured in a mode, before the measurements. */
    protected void prepare(Mode mode) throws IOException, InterruptedException {
        // Most examples check everything while they are measured.
    }

    /** Returns references that are measured beside the modes, with the same scenario names. */
    protected List<Comparison.Reference> references() {
        return List.of();
    }

    /** Returns the modes of a transport that are compared. */
    protected List<Mode> modes(Transport transport) {
        return options.polling() ? Mode.of(transport) : List.of(Mode.byDefault(transport));
    }

    /**
     * Starts the processes of a mode.
     *
     * @param forServer arguments of the server besides the transport and the address
     * @param forClient arguments of the client besides the same ones
     */
    protected Pair start(Mode mode, List<String> forServer, List<String> forClient) throws IOException {
        return launcher().pair(mode, server, forServer, client, forClient, List.of());
    }

    /** Launcher of the example's processes. */
    protected final Launcher launcher() {
        return options.launcher;
    }

    @Override
    public final Integer call() throws Exception {
        List<Mode> modes = options.transports.stream().flatMap(transport -> modes(transport).stream()).toList();
        try (TemporaryFolder folder = new TemporaryFolder()) {
            List<String> forClient = tls == null ? List.of() : List.of("--tls", tls.toString(), "--certificate",
                    folder.path().resolve("certificate.pem").toString());
            List<String> forServer = new ArrayList<>(serverArguments(folder.path()));
            forServer.addAll(forClient);
            for (Transport transport : options.transports) {
                prepare(Mode.byDefault(transport));
            }
            try (Comparison comparison = new Comparison(spec.name(), options, modes,
                    mode -> start(mode, forServer, forClient), references())) {
                comparison.run();
            }
        }
        return 0;
    }

    /** The http example as a whole. */
    @Command(name = "http", description = "Runs an HTTP/1.1 server and a client that checks every answer, on one "
            + "transport after the other, and compares: short answers, pipelined ones, downloads and uploads.")
    public static final class HttpComparison extends ExampleComparison {
        public HttpComparison() {
            super(HttpServer.class, HttpLoad.class);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new HttpComparison(), args));
        }
    }

    /** The h2 example as a whole. */
    @Command(name = "h2", description = "Runs an HTTP/2 server and a client that checks every answer, on one transport "
            + "after the other, and compares: short answers, many streams at once, downloads and echoes.")
    public static final class Http2Comparison extends ExampleComparison {
        public Http2Comparison() {
            super(Http2Server.class, Http2Load.class);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new Http2Comparison(), args));
        }
    }

    /** The websocket example as a whole. */
    @Command(name = "websocket", description = "Runs a WebSocket echo server and a client that checks every frame, on "
            + "one transport after the other, and compares: short texts, one and many in flight, large frames.")
    public static final class WebSocketComparison extends ExampleComparison {
        public WebSocketComparison() {
            super(WebSocketServer.class, WebSocketLoad.class);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new WebSocketComparison(), args));
        }
    }

    /** The grpc example as a whole. */
    @Command(name = "grpc", description = "Runs a gRPC server and a client that checks every answer, on one transport "
            + "after the other, and compares: unary calls, a bidirectional stream, large messages, server streaming.")
    public static final class GrpcComparison extends ExampleComparison {
        public GrpcComparison() {
            super(GrpcServerCommand.class, GrpcLoad.class);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new GrpcComparison(), args));
        }
    }

    /** The files example as a whole. */
    @Command(name = "files", description = "Runs a server of static files and a client that checks every answer, on "
            + "one transport after the other, and compares: a small file, ranges, a large file.")
    public static final class FileComparison extends ExampleComparison {
        @Option(names = "--files", defaultValue = "region",
                description = "How files are sent: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        private FileMode mode;

        public FileComparison() {
            super(FileServer.class, FileLoad.class);
        }

        public static void main(String[] args) {
            System.exit(Commands.run(new FileComparison(), args));
        }

        @Override
        protected List<String> serverArguments(Path folder) throws IOException {
            FileLoad.writeFiles(folder);
            return List.of("--root", folder.toString(), "--files", mode.toString());
        }
    }
}
