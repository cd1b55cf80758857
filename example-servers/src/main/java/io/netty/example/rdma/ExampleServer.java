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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;

import java.net.InetSocketAddress;

/**
 * A server that listens on one transport.
 */
public final class ExampleServer {
    /** How the line starts by which a server tells that it listens; its address follows. */
    public static final String READY = "listening on ";

    private final Channel channel;

    private ExampleServer(Channel channel) {
        this.channel = channel;
    }

    /**
     * Listens.
     *
     * @param childHandler of each accepted connection
     * @param port         0 for any that is free
     */
    public static ExampleServer bind(Transport transport, EventLoopGroup group, ChannelHandler childHandler,
                                     String host, int port) throws InterruptedException {
        return new ExampleServer(new ServerBootstrap()
                .group(group)
                .channel(transport.serverChannelType())
                .childHandler(childHandler)
                .bind(host, port).sync().channel());
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** Stops listening. */
    public Future<?> close() {
        return channel.close();
    }

    Future<?> closeFuture() {
        return channel.closeFuture();
    }

    /** The port in the rest of a line that started with {@link #READY}. */
    public static String port(String line) {
        String address = line.split(" ", 2)[0];
        return address.substring(address.lastIndexOf(':') + 1);
    }
}
