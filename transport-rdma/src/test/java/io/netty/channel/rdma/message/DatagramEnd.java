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
package io.netty.channel.rdma.message;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.EventRecorder;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A bound channel of datagrams, and what arrives at it.
 */
final class DatagramEnd implements AutoCloseable {
    final Recorder events = new Recorder();
    final RdmaDatagramChannel channel;

    DatagramEnd(EventLoopGroup group) throws Exception {
        this(group, TestAddress.anyPort(), b -> { });
    }

    DatagramEnd(EventLoopGroup group, SocketAddress local, Consumer<Bootstrap> options) throws Exception {
        Bootstrap bootstrap = bootstrap(group, events);
        options.accept(bootstrap);
        channel = (RdmaDatagramChannel) TestTimeouts.sync(bootstrap.bind(local)).channel();
        assertThat(events.next()).isEqualTo("active");
    }

    static Bootstrap bootstrap(EventLoopGroup group, Recorder events) {
        return new Bootstrap().group(group).channel(RdmaDatagramChannel.class).handler(events);
    }

    static ByteBuf ascii(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    InetSocketAddress address() {
        return channel.localAddress();
    }

    /** Writes, and waits until it is sent. */
    void send(String text, SocketAddress to) throws Exception {
        TestTimeouts.sync(write(text, to));
    }

    ChannelFuture write(String text, SocketAddress to) {
        return channel.writeAndFlush(new RdmaDatagram(ascii(text), to));
    }

    /** Writes, and returns the exception of its failure. */
    Throwable failure(Object msg) throws Exception {
        ChannelFuture future = TestTimeouts.await(channel.writeAndFlush(msg));
        assertThat(future.cause()).as("failure of " + msg).isNotNull();
        return future.cause();
    }

    /** The next datagram, which the caller releases. */
    RdmaDatagram datagram() throws InterruptedException {
        return TestTimeouts.take(events.datagrams, "a datagram");
    }

    /** The next datagram as text. */
    String text() throws InterruptedException {
        RdmaDatagram datagram = datagram();
        try {
            return datagram.content().toString(StandardCharsets.US_ASCII);
        } finally {
            datagram.release();
        }
    }

    @Override
    public void close() {
        assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        events.release();
    }

    static final class Recorder extends EventRecorder {
        final BlockingQueue<RdmaDatagram> datagrams = new LinkedBlockingQueue<>();

        void release() {
            for (RdmaDatagram datagram; (datagram = datagrams.poll()) != null;) {
                datagram.release();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            datagrams.add((RdmaDatagram) msg);
        }
    }
}
