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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Consumer;

/**
 * One bind of a {@link RdmaOrTcpServerBootstrap}: TCP, then RDMA at the same port. In this order because TCP's ports
 * are the crowded ones: a free one of RDMA's is more often in use there than the other way round.
 */
final class BindAttempt {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(RdmaOrTcpServerBootstrap.class);

    private final ServerBootstrap template;
    private final boolean rdmaRequired;
    private final InetSocketAddress address;
    private final ChannelTypes tcp;
    private final boolean autoRead;
    /** Lives longer than the event loops, whose end may be what happens. */
    private final Promise<RdmaOrTcpServer> promise = GlobalEventExecutor.INSTANCE.newPromise();
    private Throwable rdmaUnavailabilityCause;
    private int ports;

    /**
     * @param template all but the channel class.
     */
    BindAttempt(ServerBootstrap template, boolean rdmaRequired, InetSocketAddress address) {
        this.template = template;
        this.rdmaRequired = rdmaRequired;
        this.address = address;
        EventLoopGroup[] groups = {template.config().group(), template.config().childGroup()};
        tcp = ChannelTypes.tcp(groups);
        for (EventLoopGroup group : groups) {
            if (rdmaUnavailabilityCause == null) {
                rdmaUnavailabilityCause = ChannelTypes.rdmaUnavailabilityCause(group);
            }
        }
        autoRead = !Boolean.FALSE.equals(template.config().options().get(ChannelOption.AUTO_READ));
    }

    Future<RdmaOrTcpServer> start() {
        if (rdmaUnavailabilityCause != null && rdmaRequired) {
            fail(RdmaOrTcpTransport.RDMA, rdmaUnavailabilityCause);
            return promise;
        }
        bindTcp();
        return promise;
    }

    private void bindTcp() {
        ports++;
        try {
            ServerBootstrap bootstrap = bootstrap(RdmaOrTcpTransport.TCP, tcp, ChannelTypes.RDMA);
            if (rdmaUnavailabilityCause == null) {
                // Nobody is accepted before it is known that both listen.
                bootstrap.option(ChannelOption.AUTO_READ, false);
            }
            whenDone(bootstrap.bind(address), this::tcpBound);
        } catch (Throwable t) {
            fail(RdmaOrTcpTransport.TCP, t);
        }
    }

    private void tcpBound(ChannelFuture future) {
        if (!future.isSuccess()) {
            fail(RdmaOrTcpTransport.TCP, future.cause());
            return;
        }
        ServerSocketChannel channel = (ServerSocketChannel) future.channel();
        if (rdmaUnavailabilityCause != null) {
            succeed(channel, null);
            return;
        }
        try {
            ServerBootstrap bootstrap = bootstrap(RdmaOrTcpTransport.RDMA, ChannelTypes.RDMA, tcp);
            whenDone(bootstrap.bind(channel.localAddress()), bound -> rdmaBound(channel, bound));
        } catch (Throwable t) {
            rdmaFailed(channel, t);
        }
    }

    private void rdmaBound(ServerSocketChannel tcpChannel, ChannelFuture future) {
        if (future.isSuccess()) {
            succeed(tcpChannel, (RdmaServerSocketChannel) future.channel());
        } else if (BindRules.isWithoutRdma(future.cause()) && !rdmaRequired &&
                !BindRules.mayDoAtAnotherPort(future.cause(), address, ports)) {
            rdmaUnavailabilityCause = future.cause();
            succeed(tcpChannel, null);
        } else {
            rdmaFailed(tcpChannel, future.cause());
        }
    }

    private void rdmaFailed(ServerSocketChannel tcpChannel, Throwable cause) {
        whenDone(tcpChannel.close(), closed -> {
            if (BindRules.mayDoAtAnotherPort(cause, address, ports)) {
                logger.debug("{}: trying another port", address, cause);
                bindTcp();
            } else {
                fail(RdmaOrTcpTransport.RDMA, cause);
            }
        });
    }

    private ServerBootstrap bootstrap(RdmaOrTcpTransport transport, ChannelTypes types, ChannelTypes other) {
        ServerBootstrap bootstrap = template.clone().channel(types.listener).handler(listenerHandler(transport))
                .attr(RdmaOrTcp.TRANSPORT, transport).childAttr(RdmaOrTcp.TRANSPORT, transport);
        KnownOptions.foreign(bootstrap.config().options(), types.listener, other.listener,
                foreign -> bootstrap.option(foreign, null));
        KnownOptions.foreign(bootstrap.config().childOptions(), types.connection, other.connection,
                foreign -> bootstrap.childOption(foreign, null));
        return bootstrap;
    }

    private ChannelHandler listenerHandler(RdmaOrTcpTransport transport) {
        ChannelHandler handler = template.config().handler();
        return new ChannelInitializer<ServerChannel>() {
            @Override
            protected void initChannel(ServerChannel listener) {
                if (handler != null) {
                    listener.pipeline().addLast(handler);
                }
                // Behind the application's, which may refuse connections.
                listener.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object connection) {
                        RdmaOrTcpMetrics.total().accepted(transport);
                        ctx.fireChannelRead(connection);
                    }
                });
            }
        };
    }

    /** Listeners of a future that is done are not called if its event loop has ended. */
    private static void whenDone(ChannelFuture future, Consumer<ChannelFuture> action) {
        if (future.isDone()) {
            action.accept(future);
        } else {
            future.addListener(done -> action.accept(future));
        }
    }

    private void succeed(ServerSocketChannel tcpChannel, RdmaServerSocketChannel rdmaChannel) {
        RdmaOrTcpServer server = new RdmaOrTcpServer(tcpChannel, rdmaChannel, rdmaUnavailabilityCause);
        FallbackLog.listens(logger, server.localAddress(), rdmaChannel, tcpChannel, rdmaUnavailabilityCause);
        tcpChannel.config().setAutoRead(autoRead);
        if (!promise.trySuccess(server)) {
            // Cancelled.
            server.close();
        }
    }

    private void fail(RdmaOrTcpTransport transport, Throwable cause) {
        if (cause instanceof IOException || cause == rdmaUnavailabilityCause) {
            promise.tryFailure(BindRules.failure(address, transport, cause));
        } else {
            promise.tryFailure(cause);
        }
    }
}
