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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;

import java.net.InetSocketAddress;
import java.util.Locale;

/**
 * Transport of a client: one of the transports, or RDMA if the server can be reached by it, else TCP.
 */
public enum ClientTransport {
    RDMA(Transport.RDMA),
    EPOLL(Transport.EPOLL),
    UNIX(Transport.UNIX),
    IO_URING(Transport.IO_URING),
    NIO(Transport.NIO),
    AUTO(Transport.RDMA) {
        @Override
        public Channel connect(EventLoopGroup group, String host, int port, ChannelHandler handler)
                throws InterruptedException {
            return new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class).handler(handler)
                    .connect(host, port).sync().channel();
        }

        @Override
        public Transport find(EventLoopGroup group, InetSocketAddress server) throws InterruptedException {
            Channel channel = new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(server).sync().channel();
            channel.close().sync();
            return channel.attr(RdmaOrTcp.TRANSPORT).get() == RdmaOrTcpTransport.RDMA ? Transport.RDMA :
                    Transport.EPOLL;
        }

        @Override
        public String describe(Channel channel) {
            RdmaOrTcpFallback fallback = channel.attr(RdmaOrTcp.FALLBACK).get();
            return this + ": " + channel.attr(RdmaOrTcp.TRANSPORT).get() + (fallback == null ? "" : ", " + fallback);
        }
    };

    private final Transport transport;

    ClientTransport(Transport transport) {
        this.transport = transport;
    }

    /** Transport of the event loops. Event loops of RDMA serve TCP channels, too. */
    public Transport transport() {
        return transport;
    }

    /** Connects a client. Not to be called on an event loop. */
    public Channel connect(EventLoopGroup group, String host, int port, ChannelHandler handler)
            throws InterruptedException {
        return new Bootstrap().group(group).channel(transport.channelType()).handler(handler)
                .connect(transport.address(host, port)).sync().channel();
    }

    /**
     * Finds out which transport leads to a server, for clients that make their connections themselves. With {@link
     * #AUTO} it makes a connection, and closes it again. Not to be called on an event loop.
     */
    public Transport find(EventLoopGroup group, InetSocketAddress server) throws InterruptedException {
        return transport;
    }

    /** Returns the transport of a channel, and why, for users. */
    public String describe(Channel channel) {
        return toString();
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
