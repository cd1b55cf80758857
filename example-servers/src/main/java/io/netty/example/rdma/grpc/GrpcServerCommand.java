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
package io.netty.example.rdma.grpc;

import io.grpc.netty.GrpcSslContexts;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.example.rdma.util.ServerRun;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Serves {@link EchoService}. Runs until it is stopped.
 */
@Command(name = "grpc-server", description = "Serves the gRPC service of echo.proto.")
public final class GrpcServerCommand implements Callable<Integer> {
    @Mixin
    private ServerOptions options;

    @Option(names = "--grace-seconds", defaultValue = "10", description =
            "How long calls that are under way may take when the server is stopped (default: ${DEFAULT-VALUE}).")
    private int graceSeconds;

    public static void main(String[] args) {
        System.exit(Commands.run(new GrpcServerCommand(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = options.sslContext();
        SslContext ssl = tls == null ? null : GrpcSslContexts.configure(tls, options.tlsProvider()).build();
        return options.serve("grpc", (transport, group, address) -> {
            GrpcServer server = GrpcServer.start(transport, options.choice(), group, address, builder -> {
                builder.addService(new EchoService(group))
                        // No method of the service blocks. A service that blocks must not run on the event loop.
                        .directExecutor()
                        .maxInboundMessageSize(Payloads.MAX_MESSAGE_BYTES);
                if (ssl != null) {
                    builder.sslContext(ssl);
                }
            });
            return new ServerRun.Running(server.address(), () -> server.shutdown(graceSeconds, TimeUnit.SECONDS));
        });
    }
}
