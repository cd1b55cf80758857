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
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;

import java.net.HttpURLConnection;
import java.net.URI;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** HTTP by Netty's codec, and a client of the JDK. */
public final class Http {
    private static final int BYTES = 1024 * 1024;

    private Http() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        Channel listener = bind(group);
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        Channel client = new Bootstrap().group(group).channel(NioSocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(2 * BYTES),
                                new Client(answers));
                    }
                }).connect(listener.localAddress()).sync().channel();
        for (int i = 0; i < 20; i++) {
            FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/" + i,
                    client.alloc().buffer(BYTES).writeZero(BYTES));
            HttpUtil.setContentLength(request, BYTES);
            client.writeAndFlush(request);
            System.out.println(answers.poll(Ends.SECONDS, TimeUnit.SECONDS));
        }
        client.close().sync();
        HttpURLConnection other = (HttpURLConnection) URI.create("http://127.0.0.1:" + Ends.port(listener) + "/jdk")
                .toURL().openConnection();
        System.out.println("JDK: " + other.getResponseCode());
        other.disconnect();
        Ends.end(group);
    }

    /** A server that sends back what it gets. */
    static Channel bind(EventLoopGroup group) throws InterruptedException {
        return Ends.bind(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(2 * BYTES),
                                new Server());
                    }
                }));
    }

    private static final class Server extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                    request.content().retain());
            response.headers().set("uri", request.uri());
            HttpUtil.setContentLength(response, request.content().readableBytes());
            ctx.writeAndFlush(response);
        }
    }

    private static final class Client extends SimpleChannelInboundHandler<FullHttpResponse> {
        private final BlockingQueue<String> answers;

        Client(BlockingQueue<String> answers) {
            this.answers = answers;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
            answers.add(response.status() + " " + response.headers().get("uri") + ' ' +
                    response.content().readableBytes());
        }
    }
}
