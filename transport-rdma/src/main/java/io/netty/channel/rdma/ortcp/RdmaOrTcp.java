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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.util.AttributeKey;

import java.util.concurrent.ThreadFactory;

/**
 * Attributes of the channels of this package, and event loops for them.
 */
public final class RdmaOrTcp {
    /**
     * The transport of a channel: of a connected {@link RdmaOrTcpSocketChannel}, of the connections that a {@link
     * RdmaOrTcpServerSocketChannel} accepts, and of its two listeners.
     */
    public static final AttributeKey<RdmaOrTcpTransport> TRANSPORT =
            AttributeKey.valueOf(RdmaOrTcp.class, "TRANSPORT");

    /** The reason why the {@link #TRANSPORT} of a client's channel is {@link RdmaOrTcpTransport#TCP}. */
    public static final AttributeKey<RdmaOrTcpFallback> FALLBACK = AttributeKey.valueOf(RdmaOrTcp.class, "FALLBACK");

    private RdmaOrTcp() { }

    /**
     * Creates event loops that serve channels of all available transports: an {@link RdmaEventLoopGroup} where RDMA is
     * available ({@link Rdma#isAvailable()}), else epoll's loops, else NIO's.
     *
     * @param threads the number of event loops; 0 for Netty's default.
     */
    public static IoEventLoopGroup newEventLoopGroup(int threads) {
        if (Rdma.isAvailable()) {
            return new RdmaEventLoopGroup(threads);
        }
        return new MultiThreadIoEventLoopGroup(threads, tcp());
    }

    /**
     * Creates event loops as {@link #newEventLoopGroup(int)}, with threads of this factory.
     *
     * @param threads       the number of event loops; 0 for Netty's default.
     * @param threadFactory makes their threads.
     */
    public static IoEventLoopGroup newEventLoopGroup(int threads, ThreadFactory threadFactory) {
        if (Rdma.isAvailable()) {
            return new RdmaEventLoopGroup(threads, threadFactory, new RdmaIoHandlerConfig());
        }
        return new MultiThreadIoEventLoopGroup(threads, threadFactory, tcp());
    }

    private static IoHandlerFactory tcp() {
        return Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
    }
}
