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

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The transports that the examples run on. They differ only in the I/O handler of the event loop group, the channel
 * classes, and for Unix sockets the address. Unix sockets and io_uring are there for comparison.
 */
public enum Transport {
    RDMA(RdmaServerSocketChannel.class, RdmaSocketChannel.class, Transport::rdma, Rdma::unavailabilityCause),
    EPOLL(EpollServerSocketChannel.class, EpollSocketChannel.class, Transport::epoll, Epoll::unavailabilityCause),
    /** Stream sockets of this host, in the abstract namespace, so that they leave nothing in the file system. */
    UNIX(EpollServerDomainSocketChannel.class, EpollDomainSocketChannel.class, Transport::epoll,
            Epoll::unavailabilityCause) {
        @Override
        public SocketAddress address(String host, int port) {
            int number = port != 0 ? port : ThreadLocalRandom.current().nextInt(1, 1 << Short.SIZE);
            return new DomainSocketAddress(NAME + number);
        }

        @Override
        public int port(Channel server) {
            String path = ((DomainSocketAddress) server.localAddress()).path();
            return Integer.parseInt(path.substring(NAME.length()));
        }
    },
    IO_URING(IoUringServerSocketChannel.class, IoUringSocketChannel.class,
            waiting -> neverPolling(IoUringIoHandler.newFactory(), waiting), IoUring::unavailabilityCause),
    NIO(NioServerSocketChannel.class, NioSocketChannel.class,
            waiting -> neverPolling(NioIoHandler.newFactory(), waiting), () -> null);

    private static final SelectStrategyFactory BUSY_WAIT =
            () -> (selectSupplier, hasTasks) -> hasTasks ? selectSupplier.get() : SelectStrategy.BUSY_WAIT;

    /** Beginning of the names of Unix sockets. A leading zero means the abstract namespace: see unix(7). */
    private static final String NAME = "\0io.netty.example.rdma.";

    private final Class<? extends ServerChannel> serverChannelType;
    private final Class<? extends DuplexChannel> channelType;

    private final Function<Waiting, IoHandlerFactory> ioHandler;
    private final Supplier<Throwable> unavailabilityCause;

    Transport(Class<? extends ServerChannel> serverChannelType, Class<? extends DuplexChannel> channelType,
              Function<Waiting, IoHandlerFactory> ioHandler, Supplier<Throwable> unavailabilityCause) {
        this.serverChannelType = serverChannelType;
        this.channelType = channelType;
        this.ioHandler = ioHandler;
        this.unavailabilityCause = unavailabilityCause;
    }

    /** Creates an event loop group. */
    public MultiThreadIoEventLoopGroup newGroup(int threads, Waiting waiting) {
        return new MultiThreadIoEventLoopGroup(threads, ioHandler.apply(waiting));
    }

    public Class<? extends ServerChannel> serverChannelType() {
        return serverChannelType;
    }

    public Class<? extends DuplexChannel> channelType() {
        return channelType;
    }

    /** Returns whether event loops can be told never to sleep. */
    public boolean canPoll() {
        return this != NIO && this != IO_URING;
    }

    /**
     * Address of a server.
     *
     * @param port for a server that will listen, 0 means any that is free
     */
    public SocketAddress address(String host, int port) {
        return new InetSocketAddress(host, port);
    }

    /** The port at which clients find a server. */
    public int port(Channel server) {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** Why this transport cannot be used here, or {@code null} if it can. */
    public Throwable unavailabilityCause() {
        return unavailabilityCause.get();
    }

    /**
     * Counters of the transport in this process, for users; empty if it has none. For RDMA, the bytes that were sent
     * and received without a copy.
     */
    public String counters() {
        return this == RDMA ? RdmaMetrics.total().toString() : "";
    }

    private static IoHandlerFactory rdma(Waiting waiting) {
        RdmaIoHandlerConfig config = new RdmaIoHandlerConfig().setBusyPoll(waiting == Waiting.POLLING);
        if (waiting == Waiting.SLEEPING) {
            config.setMaxSpinMicros(0);
        }
        return RdmaIoHandler.newFactory(config);
    }

    private static IoHandlerFactory epoll(Waiting waiting) {
        return waiting == Waiting.POLLING ? EpollIoHandler.newFactory(0, BUSY_WAIT) : EpollIoHandler.newFactory();
    }

    private static IoHandlerFactory neverPolling(IoHandlerFactory factory, Waiting waiting) {
        if (waiting == Waiting.POLLING) {
            throw new IllegalArgumentException("--polling: nio and io_uring have no such mode, use rdma or epoll");
        }
        return factory;
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Ways in which event loops wait. */
    public enum Waiting {
        /** The default of the transport. */
        DEFAULT,
        /** Event loops poll and never sleep, which takes a core each. */
        POLLING,
        /** Event loops sleep at once. */
        SLEEPING
    }
}
