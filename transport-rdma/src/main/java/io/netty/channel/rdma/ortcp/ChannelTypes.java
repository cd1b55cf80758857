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

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaIoHandle;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

import java.util.function.Supplier;

/**
 * The channel classes of a transport.
 */
enum ChannelTypes {
    RDMA(RdmaIoHandle.class, RdmaServerSocketChannel.class, RdmaServerSocketChannel::new,
            RdmaSocketChannel.class, RdmaSocketChannel::new),
    EPOLL(EpollIoHandle.class, EpollServerSocketChannel.class, EpollServerSocketChannel::new,
            EpollSocketChannel.class, EpollSocketChannel::new),
    NIO(NioIoHandle.class, NioServerSocketChannel.class, NioServerSocketChannel::new,
            NioSocketChannel.class, NioSocketChannel::new);

    private final Class<? extends IoHandle> handle;
    final Class<? extends ServerChannel> listener;
    private final Supplier<ServerSocketChannel> newListener;
    final Class<? extends Channel> connection;
    private final Supplier<SocketChannel> newConnection;

    ChannelTypes(Class<? extends IoHandle> handle, Class<? extends ServerChannel> listener,
                 Supplier<ServerSocketChannel> newListener, Class<? extends Channel> connection,
                 Supplier<SocketChannel> newConnection) {
        this.handle = handle;
        this.listener = listener;
        this.newListener = newListener;
        this.connection = connection;
        this.newConnection = newConnection;
    }

    ServerSocketChannel newListener() {
        return newListener.get();
    }

    SocketChannel newConnection() {
        return newConnection.get();
    }

    RdmaOrTcpTransport transport() {
        return this == RDMA ? RdmaOrTcpTransport.RDMA : RdmaOrTcpTransport.TCP;
    }

    /** The TCP channels that this process can have, whatever its event loops serve. */
    static ChannelTypes anyTcp() {
        return Epoll.isAvailable() ? EPOLL : NIO;
    }

    boolean isServedBy(EventLoopGroup group) {
        return group instanceof IoEventLoopGroup && ((IoEventLoopGroup) group).isCompatible(handle);
    }

    static boolean isRdma(Class<? extends Channel> type) {
        return type == RDMA.listener || type == RDMA.connection;
    }

    /** The reason why this group can't have RDMA channels, or {@code null}. */
    static Throwable rdmaUnavailabilityCause(EventLoopGroup group) {
        if (!Rdma.isAvailable()) {
            return Rdma.unavailabilityCause();
        }
        return RDMA.isServedBy(group) ? null : new IllegalStateException("the event loops of " + group +
                " don't serve RDMA channels: use RdmaOrTcp.newEventLoopGroup() or an RdmaEventLoopGroup");
    }

    /**
     * The TCP channels that this group can have. NIO comes first: a loop serves NIO only if the application has asked
     * for NIO.
     *
     * @throws IllegalArgumentException if there are none.
     */
    static ChannelTypes tcp(EventLoopGroup group) {
        for (ChannelTypes types : new ChannelTypes[] {NIO, EPOLL}) {
            if (types.isServedBy(group)) {
                return types;
            }
        }
        throw new IllegalArgumentException("the event loops serve TCP channels neither of epoll nor of NIO: use " +
                "RdmaOrTcp.newEventLoopGroup()");
    }
}
