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
package consumer;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Promise;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** HTTP/1.1 at a port for RDMA and TCP: prints the answer, and over which of the two it came. */
public final class Http {
    private Http() {
    }

    public static void main(String[] args) throws Exception {
        IoEventLoopGroup group = RdmaOrTcp.newEventLoopGroup(1);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaOrTcpServerSocketChannel.class)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(65536), new Hello());
                        }
                    }).bind("127.0.0.1", 0).sync().channel();
            Promise<String> answer = group.next().newPromise();
            Channel client = new Bootstrap().group(group).channel(RdmaOrTcpSocketChannel.class)
                    .handler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            ch.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(65536),
                                    new SimpleChannelInboundHandler<FullHttpResponse>() {
                                        @Override
                                        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse msg) {
                                            answer.trySuccess(msg.content().toString(StandardCharsets.US_ASCII));
                                        }
                                    });
                        }
                    }).connect(server.localAddress()).sync().channel();
            client.writeAndFlush(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/")).sync();
            System.out.println("answer over " + client.attr(RdmaOrTcp.TRANSPORT).get() + ": "
                    + answer.get(60, TimeUnit.SECONDS));
        } finally {
            group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        }
    }

    private static final class Hello extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest msg) {
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                    Unpooled.copiedBuffer("hello", StandardCharsets.US_ASCII));
            response.headers().set("content-length", response.content().readableBytes());
            ctx.writeAndFlush(response);
        }
    }
}
