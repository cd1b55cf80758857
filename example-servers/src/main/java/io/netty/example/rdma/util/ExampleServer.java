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
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.util.concurrent.Future;

import java.net.InetSocketAddress;

/**
 * A server that listens. With RDMA it also listens for TCP at the same port, unless the caller decides otherwise, so
 * that it serves every client.
 */
public final class ExampleServer {
    /** Beginning of the line that says that a server listens; its address follows. */
    public static final String READY = "listening on ";

    private final InetSocketAddress address;
    private final Channel channel;

    private ExampleServer(InetSocketAddress address, Channel channel) {
        this.address = address;
        this.channel = channel;
    }

    /**
     * Listens. On RDMA it also listens for TCP.
     *
     * @param childHandler handler of each accepted connection
     * @param port         0 for any that is free
     */
    public static ExampleServer bind(Transport transport, EventLoopGroup group, ChannelHandler childHandler,
                                     String host, int port) throws InterruptedException {
        return bind(transport, RdmaOrTcpChoice.RDMA_AND_TCP, group, childHandler, host, port);
    }

    /**
     * Listens.
     *
     * @param choice       transports that a server on RDMA listens for
     * @param childHandler handler of each accepted connection
     * @param port         0 for any that is free
     */
    public static ExampleServer bind(Transport transport, RdmaOrTcpChoice choice, EventLoopGroup group,
                                     ChannelHandler childHandler, String host, int port) throws InterruptedException {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .childHandler(childHandler);
        if (transport == Transport.RDMA) {
            bootstrap.channelFactory(() -> new RdmaOrTcpServerSocketChannel(RdmaOrTcpRule.always(choice)));
        } else {
            bootstrap.channel(transport.serverChannelType());
        }
        Channel server = bootstrap.bind(transport.address(host, port)).sync().channel();
        return new ExampleServer(new InetSocketAddress(host, transport.port(server)), server);
    }

    public InetSocketAddress address() {
        return address;
    }

    /** Stops listening. Connections stay open. */
    public Future<?> close() {
        return channel.close();
    }

    /** Returns the port in the rest of a line that starts with {@link #READY}. */
    public static String port(String line) {
        String address = line.split(" ", 2)[0];
        return address.substring(address.lastIndexOf(':') + 1);
    }
}
