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

package echo;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.valkey.RdmaValkeyServerSocketChannel;
import io.netty.channel.rdma.valkey.RdmaValkeySocketChannel;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * Sends a line to servers of bytes, of messages and in place of Valkey, in this process, and prints what comes back. It names
 * something of each package that is for applications.
 */
public final class Echo {
    private static final int SECONDS = Integer.getInteger("seconds");

    private Echo() {
    }

    public static void main(String[] args) throws Exception {
        InetSocketAddress address = new InetSocketAddress(args[0], 0);
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try {
            System.out.println("bytes: " + bytes(group, address));
            System.out.println("messages: " + messages(group, address));
            System.out.println("to Valkey: " + valkey(group, address));
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS);
        }
    }

    private static String bytes(EventLoopGroup group, InetSocketAddress address) throws Exception {
        Channel server = connected(new ServerBootstrap().group(group).channel(RdmaOrTcpServerSocketChannel.class)
                .option(RdmaOrTcpChannelOption.TRANSPORT_RULE, RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_AND_TCP))
                .childHandler(new Answers()).bind(address));
        Promise<String> answer = group.next().newPromise();
        RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) connected(new Bootstrap().group(group)
                .channel(RdmaOrTcpSocketChannel.class).handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf msg) {
                        answer.trySuccess(msg.toString(StandardCharsets.US_ASCII));
                    }
                }).connect(server.localAddress()));
        if (channel.attr(RdmaOrTcp.TRANSPORT).get() != RdmaOrTcpTransport.RDMA) {
            throw new AssertionError(channel);
        }
        QueuePairInfo info = await(((RdmaSocketChannel) channel.transportChannel()).info());
        if (info.state() != QueuePairState.RTS) {
            throw new AssertionError(info);
        }
        await(channel.writeAndFlush(text("hello")));
        String result = await(answer);
        await(channel.close());
        await(server.close());
        return result;
    }

    private static String messages(EventLoopGroup group, InetSocketAddress address) throws Exception {
        Channel server = connected(new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class)
                .childHandler(new Answers()).bind(address));
        Promise<String> answer = group.next().newPromise();
        Channel channel = connected(new Bootstrap().group(group).channel(RdmaMessageChannel.class)
                .handler(new SimpleChannelInboundHandler<RdmaReceive>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
                        answer.trySuccess(msg.content().toString(StandardCharsets.US_ASCII));
                    }
                }).connect(server.localAddress()));
        await(channel.writeAndFlush(new RdmaSend(text("hello"))));
        String result = await(answer);
        await(channel.close());
        await(server.close());
        return result;
    }

    private static String valkey(EventLoopGroup group, InetSocketAddress address) throws Exception {
        Channel server = connected(new ServerBootstrap().group(group).channel(RdmaValkeyServerSocketChannel.class)
                .childHandler(new Answers()).bind(address));
        Promise<String> answer = group.next().newPromise();
        Channel channel = connected(new Bootstrap().group(group).channel(RdmaValkeySocketChannel.class)
                .handler(new SimpleChannelInboundHandler<ByteBuf>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf msg) {
                        answer.trySuccess(msg.toString(StandardCharsets.US_ASCII));
                    }
                }).connect(server.localAddress()));
        await(channel.writeAndFlush(text("hello")));
        String result = await(answer);
        await(channel.close());
        await(server.close());
        return result;
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    private static <T> T await(Future<T> future) throws Exception {
        return future.get(SECONDS, TimeUnit.SECONDS);
    }

    private static Channel connected(ChannelFuture future) throws Exception {
        await(future);
        return future.channel();
    }

    @ChannelHandler.Sharable
    private static final class Answers extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg instanceof RdmaReceive ? new RdmaSend(((RdmaReceive) msg).content()) : msg);
        }
    }
}
