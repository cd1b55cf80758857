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
package io.netty.example.rdma.http;

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/**
 * An HTTP/1.1 server. Runs until it is killed.
 */
@Command(name = "http-server", description = "Serves HTTP/1.1: GET /plaintext, /json, /bytes/N; POST /upload, /echo.")
public final class HttpServer implements Callable<Integer> {
    @Mixin
    private ServerOptions server;

    @Mixin
    private HttpLimits.BodyLimitOption bodyLimit;

    public static void main(String[] args) {
        System.exit(Commands.run(new HttpServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = server.sslContext();
        SslContext ssl = tls == null ? null : tls.build();
        HttpLimits limits = new HttpLimits(server.idleMillis(), bodyLimit.bytes());
        return server.serve("http", new HttpServerInitializer(ssl, limits, () -> new HttpServerHandler(limits)));
    }
}
