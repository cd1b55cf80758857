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
package io.netty.example.rdma;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.NetUtil;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The command line options of servers, and what all of them do alike: listen until they are stopped.
 */
public final class ServerOptions {
    @Mixin
    private TransportOptions transport;

    @Mixin
    private TlsOptions tls;

    @Option(names = "--key", description = "PEM file with the private key of --certificate (PKCS#8).")
    private Path key;

    @Option(names = "--host",
            description = "Address to listen on (default: 127.0.0.1, or that of an RDMA device if there is one).")
    private String host;

    @Option(names = "--port", description = "Port, 0 for any that is free (default: ${DEFAULT-VALUE}).",
            defaultValue = "8080")
    private int port;

    @Option(names = "--until-input-ends", hidden = true,
            description = "End when the standard input does, that is no later than the process that started this one.")
    private boolean untilInputEnds;

    /**
     * What the server needs for TLS, or {@code null} if it does not encrypt.
     */
    public SslContextBuilder sslContext() throws Exception {
        return tls.isEnabled() ? tls.serverContext(key, host()) : null;
    }

    private String host() throws IOException {
        return host == null ? LocalHost.address() : host;
    }

    /**
     * Listens and says so.
     *
     * @param name         of the server, for people
     * @param childHandler of each accepted connection
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, ChannelHandler childHandler) throws IOException, InterruptedException {
        EventLoopGroup group = transport.newGroup();
        try {
            ExampleServer server = ExampleServer.bind(transport.transport(), group, childHandler, host(), port);
            System.out.println(ExampleServer.READY + NetUtil.toSocketAddressString(server.address()) + " (" + name
                    + ", " + transport + ", " + tls + ')');
            if (untilInputEnds) {
                awaitEndOfInput();
            } else {
                server.closeFuture().sync();
            }
            return 0;
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is ever sent.
        }
    }
}
