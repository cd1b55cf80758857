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
package io.netty.example.rdma.proxy;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A client's connection and its connection to the server. Bytes that are read from one are written to the other, and
 * the end of one is passed to the other. Both are on the client's event loop, where all methods run.
 */
final class Tunnel {
    /**
     * Number of bytes that may wait for a slow side before the proxy stops reading for it. The high mark is less than
     * half of the receive memory of a connection (1 MiB). If the proxy kept more of this memory, the transport would
     * copy what arrives.
     */
    static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(128 * 1024, 256 * 1024);

    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(Tunnel.class);
    private static final int DIRECTIONS = 2;

    private final ProxySettings settings;
    private final ProxyCounters counters;
    private final Promise<Void> ended;
    private final long startNanos = System.nanoTime();
    private final End client;
    private End server;
    /** True once there is a connection to the server: bytes go both ways, or have. */
    private boolean connected;
    /** Number of directions that have ended, each with its half close. */
    private int directionsEnded;
    /** True if both sides are closed, or will be: the outcome is decided. */
    private boolean ending;

    /** Adds the handlers to the client's channel, which is not active yet. On its event loop. */
    Tunnel(SocketChannel channel, ProxySettings settings, ProxyCounters counters) {
        this.settings = settings;
        this.counters = counters;
        ended = channel.eventLoop().newPromise();
        client = new End(channel, "client");
        client.addTo(channel.pipeline());
        counters.accepted.increment();
    }

    /** Succeeds when both connections are closed. */
    Future<Void> endFuture() {
        return ended;
    }

    /** Resets both connections. Any thread. */
    void reset() {
        client.channel.eventLoop().execute(this::resetBoth);
    }

    /** Number of bytes that were read from one side, and that the other side has not taken. */
    long waitingBytes() {
        return client.waitingBytes() + (server == null ? 0 : server.waitingBytes());
    }

    /** The channel of the client. */
    SocketChannel clientChannel() {
        return client.channel;
    }

    /** The channel to the server, which may still be connecting; {@code null} if there is none yet. */
    SocketChannel serverChannel() {
        return server == null ? null : server.channel;
    }

    /** Connects to the server, when the client's channel is active. */
    private void connect() {
        RdmaOrTcpSocketChannel channel = new RdmaOrTcpSocketChannel(
                RdmaOrTcpRule.always(settings.transport().choice()));
        server = new End(channel, "server");
        client.other = server;
        server.other = client;
        new Bootstrap()
                .group(client.channel.eventLoop())
                .channelFactory(() -> channel)
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectMillis())
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel initialized) {
                        server.addTo(initialized.pipeline());
                    }
                })
                .connect(settings.server())
                .addListener(done -> {
                    if (!done.isSuccess()) {
                        unreachable(done.cause());
                    }
                });
    }

    private void unreachable(Throwable cause) {
        if (!ending) {
            counters.unreachable.increment();
            LOGGER.warn("{}: the server can't be reached, the client's connection is reset: {}", this,
                    cause.toString());
        }
        resetBoth();
    }

    /** Begins to read, when the channel to the server is active. */
    private void connected() {
        connected = true;
        counters.connected.get(server.transport()).increment();
        client.readFor(server);
        server.readFor(client);
        client.readIf(server.channel.isWritable());
        server.flush();
        if (!settings.quiet()) {
            LOGGER.info("{}: connected over {}", this, describeTransport());
        }
    }

    /** Returns a text for the log: the transport of the connection to the server. */
    private String describeTransport() {
        if (server.transport() == RdmaOrTcpTransport.RDMA) {
            // On the event loop this future is done.
            QueuePairInfo info = ((RdmaSocketChannel) ((RdmaOrTcpSocketChannel) server.channel).transportChannel())
                    .info().getNow();
            return info == null ? "RDMA" : "RDMA, " + (info.provider() == VerbsProvider.EMBEDDED ? "shared memory"
                    : "device " + info.deviceName());
        }
        RdmaOrTcpFallback fallback = server.channel.attr(RdmaOrTcp.FALLBACK).get();
        return fallback == null ? "TCP" : "TCP: " + fallback;
    }

    /** Notes the end of one direction: all its bytes and its half close were passed on. */
    private void directionEnded() {
        directionsEnded++;
        if (directionsEnded == DIRECTIONS) {
            ending = true;
            client.channel.close();
            server.channel.close();
        }
    }

    private void failed(End end, Throwable cause) {
        if (ending) {
            return;
        }
        counters.failed.increment();
        LOGGER.warn("{}: the connection of the {} {} failed, the other one is reset: {}", this, end.name,
                end.peer(), cause.toString());
        resetBoth();
    }

    private void resetBoth() {
        ending = true;
        client.reset();
        if (server != null) {
            server.reset();
        }
    }

    /** Ends the tunnel if both connections are closed. */
    private void closed() {
        if (client.channel.isOpen() || server != null && server.channel.isOpen() || !ended.trySuccess(null)) {
            return;
        }
        long toClient = server == null ? 0 : server.readBytes;
        counters.end(client.readBytes, toClient);
        if (!settings.quiet()) {
            LOGGER.info("{}: ended after {} s, {} bytes to the server, {} bytes back", this,
                    String.format(Locale.ROOT, "%.3f", (System.nanoTime() - startNanos) / 1e9), client.readBytes,
                    toClient);
        }
    }

    /** Returns the two ends, for each line of the log. */
    @Override
    public String toString() {
        return client.peer() + " (" + client.transport() + ") -> " + NetUtil.toSocketAddressString(settings.server());
    }

    /** Handler of one of the two connections. */
    private final class End extends ChannelInboundHandlerAdapter {
        private final SocketChannel channel;
        private final String name;
        private End other;
        private String peer;
        private long readBytes;

        End(SocketChannel channel, String name) {
            this.channel = channel;
            this.name = name;
        }

        void addTo(ChannelPipeline pipeline) {
            if (settings.idleMillis() > 0) {
                // A slow reader is not idle: with observeOutput, progress of its output counts as activity.
                pipeline.addLast(new IdleStateHandler(true, 0, 0, settings.idleMillis(), TimeUnit.MILLISECONDS));
            }
            pipeline.addLast(this);
            channel.closeFuture().addListener(closed -> closed());
        }

        /** Transport of this connection, once it is known. */
        RdmaOrTcpTransport transport() {
            return channel.attr(RdmaOrTcp.TRANSPORT).get();
        }

        /** Returns the address of the peer, for the log. */
        String peer() {
            if (peer == null && channel.remoteAddress() != null) {
                peer = NetUtil.toSocketAddressString(channel.remoteAddress());
            }
            return peer == null ? NetUtil.toSocketAddressString(settings.server()) : peer;
        }

        long waitingBytes() {
            // The outbound buffer is gone when the channel is closed.
            return channel.unsafe().outboundBuffer() == null ? 0
                    : channel.unsafe().outboundBuffer().totalPendingWriteBytes();
        }

        /** Has bytes from TCP read into registered memory, if the other connection is RDMA. */
        void readFor(End writer) {
            if (transport() == RdmaOrTcpTransport.TCP && writer.transport() == RdmaOrTcpTransport.RDMA) {
                channel.config().setAllocator(writer.channel.config().getAllocator());
            }
        }

        /** Reads, or stops reading. To be called when the other side begins or ceases to be writable. */
        void readIf(boolean wanted) {
            if (!channel.isInputShutdown()) {
                channel.config().setAutoRead(wanted);
            }
        }

        void reset() {
            if (channel.isOpen()) {
                try {
                    channel.config().setSoLinger(0);
                } catch (ChannelException e) {
                    // The socket is gone, which is the purpose of the reset.
                }
                channel.close();
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (this == client) {
                connect();
            } else {
                connected();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            readBytes += ((ByteBuf) msg).readableBytes();
            other.channel.write(msg, other.channel.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            other.flush();
        }

        /**
         * Flushes, if there is a connection to the server. Epoll reads bytes ahead of an end even where autoRead is
         * off, perhaps before the other channel has begun to connect: a flush would fail then.
         */
        private void flush() {
            if (connected) {
                channel.flush();
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            if (connected) {
                other.readIf(channel.isWritable());
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof ChannelInputShutdownEvent) {
                other.endOutput();
            } else if (event instanceof IdleStateEvent) {
                // A missing end of a half closed connection counts as well.
                failed(this, new TimeoutException("nothing moved for " + settings.idleMillis()
                        + " ms"));
                resetBoth();
            }
        }

        /** Ends the output to the peer, behind all bytes that were written. */
        private void endOutput() {
            // A shutdown at once would fail the writes that are still queued.
            channel.write(Unpooled.EMPTY_BUFFER).addListener((ChannelFutureListener) flushed -> {
                if (flushed.isSuccess()) {
                    channel.shutdownOutput().addListener((ChannelFutureListener) shutdown -> {
                        if (shutdown.isSuccess()) {
                            directionEnded();
                        } else {
                            failed(this, shutdown.cause());
                        }
                    });
                } else {
                    failed(this, flushed.cause());
                }
            });
            flush();
        }

        /** Handles a close by the peer, of both directions at once, without an error. */
        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (!ending) {
                ending = true;
                other.channel.config().setAutoRead(false);
                other.channel.write(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
                other.flush();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(this, cause);
        }
    }
}
