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
package io.netty.example.rdma.util;

import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The command line options of servers, and their common work: they listen until they are stopped.
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

    @Option(names = "--idle-seconds", defaultValue = "60",
            description = "Close connections on which nothing moves for so long (default: ${DEFAULT-VALUE}; 0: never).")
    private int idleSeconds;

    @Option(names = "--rdma-only", description = "Listen for RDMA alone, without TCP at the same port: that stays free "
            + "for a proxy.")
    private boolean rdmaOnly;

    /** TLS settings of the server, or {@code null} if it does not encrypt. */
    public SslContextBuilder sslContext() throws Exception {
        return tls.isEnabled() ? tls.serverContext(key, host()) : null;
    }

    /** Transports that a server on RDMA listens for. */
    public RdmaOrTcpChoice choice() {
        if (rdmaOnly && transport.transport() != Transport.RDMA) {
            throw new IllegalArgumentException("--rdma-only: needs --transport rdma, not " + transport.transport());
        }
        // A caller that asks for RDMA must not get a server without it.
        return rdmaOnly ? RdmaOrTcpChoice.RDMA_ONLY : RdmaOrTcpChoice.RDMA_AND_TCP;
    }

    /** Time after which a connection without any traffic is closed; 0 for never. */
    public long idleMillis() {
        return TimeUnit.SECONDS.toMillis(idleSeconds);
    }

    private String host() throws IOException {
        return host == null ? LocalHost.address() : host;
    }

    /** Provider of TLS, or {@code null} for no TLS. */
    public SslProvider tlsProvider() {
        return tls.isEnabled() ? tls.provider() : null;
    }

    /**
     * Listens, and prints the address. When the server is stopped, connections are closed at once.
     *
     * @param name         name of the server, for users
     * @param childHandler handler of each accepted connection
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, ChannelHandler childHandler) throws IOException, InterruptedException {
        return serve(name, childHandler, () -> ImmediateEventExecutor.INSTANCE.newSucceededFuture(null));
    }

    /**
     * Listens, and prints the address.
     *
     * @param name           name of the server, for users
     * @param childHandler   handler of each accepted connection
     * @param endConnections called when the server is stopped and no longer listens: ends the open connections
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, ChannelHandler childHandler, Supplier<Future<?>> endConnections)
            throws IOException, InterruptedException {
        return serve(name, (transport, group, address) -> {
            ExampleServer server = ExampleServer.bind(transport, choice(), group, childHandler,
                    address.getHostString(), address.getPort());
            return new ServerRun.Running(server.address(), () -> {
                server.close().sync();
                endConnections.get().sync();
            });
        });
    }

    /**
     * Starts a server, prints its address, and waits until it is stopped: see {@link ServerRun}.
     *
     * @param name name of the server, for users
     * @return the exit status, when the server has been stopped
     */
    public int serve(String name, Starter starter) throws IOException, InterruptedException {
        EventLoopGroup group = transport.newGroup();
        String served = transport.transport() != Transport.RDMA ? "" : rdmaOnly ? " only" : " and tcp";
        return ServerRun.untilStopped(group, name + ", " + transport.describe(served) + ", " + tls,
                () -> starter.start(transport.transport(), group, new InetSocketAddress(host(), port)));
    }

    /** Starts a server. */
    @FunctionalInterface
    public interface Starter {
        ServerRun.Running start(Transport transport, EventLoopGroup group, InetSocketAddress address)
                throws IOException, InterruptedException;
    }
}
