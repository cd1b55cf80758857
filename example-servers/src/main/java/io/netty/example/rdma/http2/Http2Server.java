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
package io.netty.example.rdma.http2;

import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * An HTTP/2 server. Runs until it is stopped.
 */
@Command(name = "h2-server", description = "Serves HTTP/2, by ALPN with --tls, else by prior knowledge and by Upgrade, "
        + "and HTTP/1.1: GET /plaintext, /json, /bytes/N; POST /upload, /echo.")
public final class Http2Server implements Callable<Integer> {
    @Mixin
    private ServerOptions server;

    @Mixin
    private HttpLimits.BodyLimitOption bodyLimit;

    @Option(names = "--grace-seconds", defaultValue = "10", description =
            "How long requests that are under way may take when the server is stopped (default: ${DEFAULT-VALUE}).")
    private int graceSeconds;

    public static void main(String[] args) {
        System.exit(Commands.run(new Http2Server(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = server.sslContext();
        SslContext ssl = tls == null ? null
                : Http2Tls.configure(tls, ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);
        HttpLimits limits = new HttpLimits(server.idleMillis(), bodyLimit.bytes());
        Http2ServerInitializer connections = new Http2ServerInitializer(ssl, limits,
                () -> new HttpServerHandler(limits), TimeUnit.SECONDS.toMillis(graceSeconds));
        return server.serve("h2", connections, connections::shutdown);
    }
}
