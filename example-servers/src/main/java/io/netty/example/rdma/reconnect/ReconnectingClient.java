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
package io.netty.example.rdma.reconnect;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.util.concurrent.Future;

import java.net.SocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Connects to a server, and connects again whenever a connect fails or the connection ends, until it is closed. All its
 * work is on one event loop.
 */
abstract class ReconnectingClient {
    private static final long MIN_WAIT_MILLIS = 50;
    private static final long MAX_WAIT_MILLIS = 5000;

    private final SocketAddress server;
    private final EventLoop loop;
    private final Bootstrap bootstrap;
    private long waitMillis = MIN_WAIT_MILLIS;
    private long connected;
    private Channel channel;
    private Future<?> timer;
    private boolean closed;

    /** @param bootstrap with the options of every connection. This object sets its group, class and handler */
    ReconnectingClient(Bootstrap bootstrap, EventLoopGroup group, SocketAddress server) {
        this.server = server;
        loop = group.next();
        this.bootstrap = bootstrap.clone().group(loop).channel(RdmaMessageChannel.class)
                .handler(new ChannelInitializer<RdmaMessageChannel>() {
                    @Override
                    protected void initChannel(RdmaMessageChannel newChannel) {
                        newChannel.pipeline().addLast(new Watch());
                    }
                });
    }

    /**
     * Begins the use of a new connection: adds its handlers, exports memory for it, and tells the peer. On the event
     * loop, as are all of the following methods up to {@link #served}.
     */
    abstract void begin(RdmaMessageChannel newChannel) throws Exception;

    /** Reports a failed or ended connection. The cause may be {@code null} if the server has ended it. */
    void waiting(Throwable cause, long millis) {
        // Subclasses may print it.
    }

    /** Notes that the server has served: after the next end, the first wait is the shortest one. */
    final void served() {
        waitMillis = MIN_WAIT_MILLIS;
    }

    /** Number of connections so far. */
    final long connections() {
        return connected;
    }

    /** Connects, and goes on until {@link #close}. Any thread. */
    final void start() {
        loop.execute(this::connect);
    }

    /** Closes the connection, and makes no more. Any thread. */
    final void close() {
        loop.execute(() -> {
            closed = true;
            if (timer != null) {
                timer.cancel(false);
            }
            if (channel != null) {
                channel.close();
            }
        });
    }

    private void connect() {
        if (closed) {
            return;
        }
        bootstrap.connect(server).addListener((ChannelFuture future) -> {
            if (!future.isSuccess()) {
                connectLater(future.cause());
            }
        });
    }

    private void connectLater(Throwable cause) {
        channel = null;
        if (closed || loop.isShuttingDown()) {
            return;
        }
        // Half of the wait is random.
        long millis = waitMillis / 2 + ThreadLocalRandom.current().nextLong(waitMillis / 2 + 1);
        waitMillis = Math.min(2 * waitMillis, MAX_WAIT_MILLIS);
        waiting(cause, millis);
        timer = loop.schedule(this::connect, millis, TimeUnit.MILLISECONDS);
    }

    /** Notices the beginning and the end of each connection. */
    private final class Watch extends ChannelInboundHandlerAdapter {
        private Throwable cause;

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws Exception {
            channel = ctx.channel();
            connected++;
            if (closed) {
                ctx.close();
            } else {
                begin((RdmaMessageChannel) channel);
                ctx.fireChannelActive();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ctx.fireChannelInactive();
            connectLater(cause);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable newCause) {
            cause = newCause;
            ctx.close();
        }
    }
}
