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
package io.netty.channel.rdma.bootstrap;

import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The listeners of a {@link RdmaOrTcpServerBootstrap}. Any thread.
 *
 * <p>If one of them is closed, by the application or because its device was removed, the other one goes on, and a
 * warning is logged: {@code rdmaChannel().closeFuture()} tells.
 */
public final class RdmaOrTcpServer {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpServer.class);

    private final ServerSocketChannel tcpChannel;
    private final RdmaServerSocketChannel rdmaChannel;
    private final Throwable rdmaUnavailabilityCause;
    private final InetSocketAddress localAddress;
    private final Promise<Void> closed = GlobalEventExecutor.INSTANCE.newPromise();
    private volatile boolean closing;

    /**
     * @param rdmaChannel             {@code null} if there is none, and then:
     * @param rdmaUnavailabilityCause the reason.
     */
    RdmaOrTcpServer(ServerSocketChannel tcpChannel, RdmaServerSocketChannel rdmaChannel,
                    Throwable rdmaUnavailabilityCause) {
        this.tcpChannel = tcpChannel;
        this.rdmaChannel = rdmaChannel;
        this.rdmaUnavailabilityCause = rdmaUnavailabilityCause;
        localAddress = tcpChannel.localAddress();
        AtomicInteger open = new AtomicInteger(channels().size());
        for (ServerChannel channel : channels()) {
            channel.closeFuture().addListener(future -> {
                if (open.decrementAndGet() == 0) {
                    closed.setSuccess(null);
                } else if (!closing) {
                    logger.warn("{}: one listener is closed, the other one goes on: {}", localAddress, channel);
                }
            });
        }
    }

    /** Where TCP listens, and RDMA if it does; also after the end. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** One or both listeners. */
    public List<ServerChannel> channels() {
        return rdmaChannel == null ? List.of(tcpChannel) : List.of(rdmaChannel, tcpChannel);
    }

    /** The listener for RDMA, or {@code null} if RDMA is not available. */
    public RdmaServerSocketChannel rdmaChannel() {
        return rdmaChannel;
    }

    /** The listener for TCP. */
    public ServerSocketChannel tcpChannel() {
        return tcpChannel;
    }

    /** Why there is no listener for RDMA, or {@code null} if there is one. */
    public Throwable rdmaUnavailabilityCause() {
        return rdmaUnavailabilityCause;
    }

    /**
     * Stops listening. Connections that were accepted stay.
     *
     * @return {@link #closeFuture()}.
     */
    public Future<Void> close() {
        closing = true;
        for (ServerChannel channel : channels()) {
            channel.close();
        }
        return closed;
    }

    /**
     * Done when the last listener is closed, for whatever reason. What listens to it is called by Netty's {@link
     * GlobalEventExecutor}, which outlives event loops.
     */
    public Future<Void> closeFuture() {
        return closed;
    }

    @Override
    public String toString() {
        return localAddress + (rdmaChannel == null ? " (TCP)" : " (RDMA and TCP)");
    }
}
