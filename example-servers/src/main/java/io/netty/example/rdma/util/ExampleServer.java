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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpChoice;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServer;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServerBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpTransport;
import io.netty.util.concurrent.Future;

import java.net.InetSocketAddress;

/**
 * A server that listens. With RDMA it listens for TCP at the same port as well, unless it is told not to, so that it
 * serves every client.
 */
public final class ExampleServer {
    /** How the line starts by which a server tells that it listens; its address follows. */
    public static final String READY = "listening on ";

    private final InetSocketAddress address;
    private final Runnable close;
    private final Future<?> closeFuture;

    private ExampleServer(InetSocketAddress address, Runnable close, Future<?> closeFuture) {
        this.address = address;
        this.close = close;
        this.closeFuture = closeFuture;
    }

    /**
     * Listens, on RDMA for TCP as well.
     *
     * @param childHandler of each accepted connection
     * @param port         0 for any that is free
     */
    public static ExampleServer bind(Transport transport, EventLoopGroup group, ChannelHandler childHandler,
                                     String host, int port) throws InterruptedException {
        return bind(transport, RdmaOrTcpChoice.RDMA_OR_TCP, group, childHandler, host, port);
    }

    /**
     * Listens.
     *
     * @param choice       what a server on RDMA listens for
     * @param childHandler of each accepted connection
     * @param port         0 for any that is free
     */
    public static ExampleServer bind(Transport transport, RdmaOrTcpChoice choice, EventLoopGroup group,
                                     ChannelHandler childHandler, String host, int port) throws InterruptedException {
        if (transport == Transport.RDMA && choice == RdmaOrTcpChoice.RDMA_OR_TCP) {
            RdmaOrTcpServer server = new RdmaOrTcpServerBootstrap()
                    .group(group)
                    .childHandler(childHandler)
                    // Who asks for RDMA is not to get a server that has none.
                    .require(RdmaOrTcpTransport.RDMA)
                    .bind(host, port).sync().getNow();
            return new ExampleServer(server.localAddress(), server::close, server.closeFuture());
        }
        Channel server = new ServerBootstrap()
                .group(group)
                .channel(transport.serverChannelType())
                .childHandler(childHandler)
                .bind(transport.address(host, port)).sync().channel();
        return new ExampleServer(new InetSocketAddress(host, transport.port(server)), server::close,
                server.closeFuture());
    }

    public InetSocketAddress address() {
        return address;
    }

    /** Stops listening. Connections stay. */
    public Future<?> close() {
        close.run();
        return closeFuture;
    }

    /** The port in the rest of a line that started with {@link #READY}. */
    public static String port(String line) {
        String address = line.split(" ", 2)[0];
        return address.substring(address.lastIndexOf(':') + 1);
    }
}
