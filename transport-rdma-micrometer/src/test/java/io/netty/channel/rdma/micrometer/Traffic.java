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
package io.netty.channel.rdma.micrometer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;

import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An echo server and its client on two event loops, a connect that is refused, and echoes of all sizes.
 */
final class Traffic implements AutoCloseable {
    private final EventLoopGroup group = new RdmaEventLoopGroup(2);
    private final BlockingQueue<Integer> arrived = new LinkedBlockingQueue<>();
    private final Channel client;
    private final Channel server;

    Traffic() throws Exception {
        server = TestTimeouts.sync(new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Echo());
                    }
                }).bind(TestAddress.anyPort())).channel();
        client = TestTimeouts.sync(connect(server.localAddress())).channel();
        Channel closed = TestTimeouts.sync(new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(TestAddress.anyPort())).channel();
        TestTimeouts.sync(closed.close());
        TestTimeouts.await(connect(closed.localAddress()));
        echo();
    }

    private ChannelFuture connect(SocketAddress address) {
        return new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ByteBuf buf = (ByteBuf) msg;
                        arrived.add(buf.readableBytes());
                        buf.release();
                    }
                }).connect(address);
    }

    void echo() throws Exception {
        for (int bytes : new int[] { 16, 500, 4_000, 100_000, 3_000_000 }) {
            TestTimeouts.sync(client.writeAndFlush(client.alloc().directBuffer(bytes).writeZero(bytes)));
            for (int back = 0; back < bytes;) {
                back += TestTimeouts.take(arrived, "the echo");
            }
        }
    }

    @Override
    public void close() {
        try {
            TestTimeouts.sync(client.close());
            TestTimeouts.sync(server.close());
            TestTimeouts.shutdown(group);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg, ctx.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }
}
