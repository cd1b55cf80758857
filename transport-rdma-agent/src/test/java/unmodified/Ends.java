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
package unmodified;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.SocketChannel;

import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;

/** An echo server and its client, of any transport. */
final class Ends {
    static final int SECONDS = 60;
    static final int BYTES = 4 * 1024 * 1024;

    private Ends() { }

    static ServerBootstrap server(EventLoopGroup group, Class<? extends ServerChannel> type) {
        return new ServerBootstrap().group(group).channel(type).childHandler(new ChannelInitializer<SocketChannel>() {
            @Override
            protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Echo());
            }
        });
    }

    static Channel bind(ServerBootstrap bootstrap) throws InterruptedException {
        return bootstrap.bind("127.0.0.1", 0).sync().channel();
    }

    static Bootstrap client(EventLoopGroup group, Class<? extends Channel> type, Counter counter) {
        return new Bootstrap().group(group).channel(type).handler(counter);
    }

    static int port(Channel listener) {
        return ((InetSocketAddress) listener.localAddress()).getPort();
    }

    /** Sends bytes through an echo, and prints whether the same have come back. */
    static void exchange(EventLoopGroup group, Class<? extends Channel> type, Channel listener)
            throws InterruptedException {
        Counter counter = new Counter(BYTES);
        Channel channel = client(group, type, counter).connect(listener.localAddress()).sync().channel();
        CRC32 sent = new CRC32();
        for (int i = 0; i < BYTES; i += 64 * 1024) {
            byte[] bytes = new byte[64 * 1024];
            java.util.Arrays.fill(bytes, (byte) (i >> 16));
            sent.update(bytes);
            channel.write(channel.alloc().buffer(bytes.length).writeBytes(bytes));
        }
        channel.flush();
        System.out.println("all came back: " + counter.done.await(SECONDS, TimeUnit.SECONDS) + ", the same: " +
                (counter.received.getValue() == sent.getValue()));
        System.out.println("peer: " + (channel.remoteAddress().equals(listener.localAddress())));
        channel.close().sync();
    }

    static void end(EventLoopGroup... groups) throws InterruptedException {
        for (EventLoopGroup group : groups) {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }
        for (EventLoopGroup group : groups) {
            System.out.println("ended: " + group.awaitTermination(SECONDS, TimeUnit.SECONDS));
        }
    }

    /** Counts what comes back. */
    static final class Counter extends ChannelInboundHandlerAdapter {
        final CountDownLatch done = new CountDownLatch(1);
        final CRC32 received = new CRC32();
        private long left;

        Counter(long bytes) {
            left = bytes;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf bytes = (ByteBuf) msg;
            left -= bytes.readableBytes();
            received.update(bytes.nioBuffer());
            bytes.release();
            if (left == 0) {
                done.countDown();
            }
        }
    }

    /** Sends back what it gets. */
    static class Echo extends ChannelInboundHandlerAdapter {
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
            System.out.println("exception: " + cause.getClass().getName());
            ctx.close();
        }
    }
}
