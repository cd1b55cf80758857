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
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;

/** A proxy that connects by the class and on the loop of the channel that it has accepted, to a server of TCP alone. */
public final class Proxy {
    private Proxy() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel proxy = Ends.bind(new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new Front(server.getLocalSocketAddress())));
            Ends.Counter counter = new Ends.Counter(10);
            Channel client = Ends.client(group, EpollSocketChannel.class, counter).connect(proxy.localAddress()).sync()
                    .channel();
            client.writeAndFlush(client.alloc().buffer().writeBytes(new byte[10]));
            try (Socket accepted = server.accept()) {
                accepted.getOutputStream().write(accepted.getInputStream().readNBytes(10));
                System.out.println("by the proxy: " + counter.done.await(Ends.SECONDS, TimeUnit.SECONDS));
            }
        }
        Ends.end(group);
    }

    private static final class Front extends ChannelInboundHandlerAdapter {
        private final SocketAddress server;
        private Channel back;

        Front(SocketAddress server) {
            this.server = server;
        }

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            new Bootstrap().group(ctx.channel().eventLoop()).channel(ctx.channel().getClass())
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext backCtx, Object msg) {
                            ctx.writeAndFlush(msg);
                        }
                    }).connect(server).addListener(connected -> {
                        System.out.println("connected: " + connected.isSuccess());
                        back = ((io.netty.channel.ChannelFuture) connected).channel();
                        ctx.channel().config().setAutoRead(true);
                    });
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            back.writeAndFlush(msg);
        }
    }
}
