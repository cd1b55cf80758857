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
package io.netty.channel.rdma.support;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Echoes on all connections, and keeps what their pipelines are told for the test to look at.
 */
public final class EchoServer implements AutoCloseable {
    /** Event of {@code channelInactive} in the queue of events. */
    public static final Object INACTIVE = "channelInactive";

    private final Initializer initializer = new Initializer();
    private final Channel channel;

    /** One accepted connection: the causes given to {@code exceptionCaught}, then {@link #INACTIVE}. */
    public static final class Connection extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        private volatile Channel channel;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channel = ctx.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            events.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            events.add(INACTIVE);
        }

        public Channel channel() {
            return channel;
        }

        public Object nextEvent() throws InterruptedException {
            return TestTimeouts.take(events, "exceptionCaught or channelInactive");
        }
    }

    /** For a child of any kind. */
    public static final class Initializer extends ChannelInitializer<Channel> {
        private final BlockingQueue<Connection> connections = new LinkedBlockingQueue<>();

        @Override
        protected void initChannel(Channel ch) {
            Connection connection = new Connection();
            connection.channel = ch;
            ch.pipeline().addLast(connection);
            connections.add(connection);
        }

        /** The next connection in the order of acceptance. */
        public Connection nextConnection() throws InterruptedException {
            return TestTimeouts.take(connections, "a connection");
        }

        /** Returns whether there is one that {@link #nextConnection()} has not given yet. */
        public boolean hasConnection() {
            return !connections.isEmpty();
        }
    }

    public EchoServer(EventLoopGroup group) throws InterruptedException {
        this(group, RdmaServerSocketChannel.class, RdmaSocketTestPermutation.newSocketAddress());
    }

    /** A server of another transport, or at a certain port. */
    public EchoServer(EventLoopGroup group, Class<? extends ServerChannel> type, SocketAddress address)
            throws InterruptedException {
        channel = TestTimeouts.sync(new ServerBootstrap().group(group).channel(type).childHandler(initializer)
                .bind(address)).channel();
    }

    /** Accepts nothing until {@link #resume()}. */
    public void pause() {
        channel.config().setAutoRead(false);
    }

    public void resume() {
        channel.config().setAutoRead(true);
    }

    public InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    /** The next connection in the order of acceptance. */
    public Connection nextConnection() throws InterruptedException {
        return initializer.nextConnection();
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }
}
