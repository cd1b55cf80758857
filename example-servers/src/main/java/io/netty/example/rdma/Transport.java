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

import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SelectStrategy;
import io.netty.channel.SelectStrategyFactory;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.util.Locale;

/**
 * The transports that the examples run on. This is all that differs between them: the I/O handler of the event loop
 * group and the channel classes.
 */
public enum Transport {
    RDMA(RdmaServerSocketChannel.class, RdmaSocketChannel.class) {
        @Override
        IoHandlerFactory ioHandler(boolean polling) {
            return RdmaIoHandler.newFactory(new RdmaIoHandlerConfig().setBusyPoll(polling));
        }

        @Override
        public String counters() {
            return RdmaMetrics.total().toString();
        }
    },
    EPOLL(EpollServerSocketChannel.class, EpollSocketChannel.class) {
        @Override
        IoHandlerFactory ioHandler(boolean polling) {
            return polling ? EpollIoHandler.newFactory(0, BUSY_WAIT) : EpollIoHandler.newFactory();
        }
    },
    NIO(NioServerSocketChannel.class, NioSocketChannel.class) {
        @Override
        IoHandlerFactory ioHandler(boolean polling) {
            if (polling) {
                throw new IllegalArgumentException("--polling: nio has no such mode, use rdma or epoll");
            }
            return NioIoHandler.newFactory();
        }
    };

    private static final SelectStrategyFactory BUSY_WAIT =
            () -> (selectSupplier, hasTasks) -> hasTasks ? selectSupplier.get() : SelectStrategy.BUSY_WAIT;

    private final Class<? extends ServerSocketChannel> serverChannelType;
    private final Class<? extends SocketChannel> channelType;

    Transport(Class<? extends ServerSocketChannel> serverChannelType, Class<? extends SocketChannel> channelType) {
        this.serverChannelType = serverChannelType;
        this.channelType = channelType;
    }

    abstract IoHandlerFactory ioHandler(boolean polling);

    /**
     * Creates an event loop group. With {@code polling} its threads never sleep, which takes a core each.
     */
    public MultiThreadIoEventLoopGroup newGroup(int threads, boolean polling) {
        return new MultiThreadIoEventLoopGroup(threads, ioHandler(polling));
    }

    public Class<? extends ServerSocketChannel> serverChannelType() {
        return serverChannelType;
    }

    public Class<? extends SocketChannel> channelType() {
        return channelType;
    }

    /**
     * What the transport counted in this process, for people; empty if it counts nothing. For RDMA, how many bytes were
     * sent and received without a copy.
     */
    public String counters() {
        return "";
    }

    /** As written on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
