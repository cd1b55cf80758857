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
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollSocketChannelConfig;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;

/** Programs that know the classes of their channels: by an initializer, by a cast, or if it is such a class. */
public final class Casts {
    private Casts() { }

    public static void main(String... args) throws Exception {
        boolean nio = args[0].startsWith("nio");
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                nio ? NioIoHandler.newFactory() : EpollIoHandler.newFactory());
        ServerBootstrap bootstrap = new ServerBootstrap().group(group)
                .channel(nio ? NioServerSocketChannel.class : EpollServerSocketChannel.class);
        switch (args[0]) {
        case "nio":
            bootstrap.childHandler(new Initializer()).handler(new ChannelInitializer<NioServerSocketChannel>() {
                @Override
                protected void initChannel(NioServerSocketChannel channel) {
                    System.out.println("backlog: " + channel.config().getBacklog());
                }
            });
            break;
        case "nio-parameter":
            bootstrap.childHandler(new ChannelInitializer<NioSocketChannel>() {
                @Override
                protected void initChannel(NioSocketChannel channel) {
                    Parameter.addEcho(channel);
                }
            });
            break;
        case "epoll":
            bootstrap.childHandler(new ChannelInitializer<EpollSocketChannel>() {
                @Override
                protected void initChannel(EpollSocketChannel channel) {
                    channel.config().setTcpNoDelay(false).setKeepAlive(true);
                    channel.pipeline().addLast(new Ends.Echo());
                }
            });
            break;
        case "config":
            bootstrap.childHandler(new Unguarded());
            break;
        default:
            bootstrap.childHandler(new Guarded());
            break;
        }
        try {
            Channel listener = Ends.bind(bootstrap);
            Ends.exchange(group, nio ? NioSocketChannel.class : EpollSocketChannel.class, listener);
            if (args[0].equals("late")) {
                Late late = new Late();
                System.out.println("cast: " + late.isQuickAck(new Bootstrap().group(group)
                        .channel(EpollSocketChannel.class).handler(new Ends.Counter(1))
                        .connect(listener.localAddress()).sync().channel()));
            }
        } finally {
            Ends.end(group);
        }
    }

    /** As of tutorials, with a method and a lambda that have the channel. */
    private static final class Initializer extends ChannelInitializer<NioSocketChannel> {
        @Override
        protected void initChannel(NioSocketChannel channel) throws Exception {
            if (channel.remoteAddress() != null) {
                addEcho(channel);
            }
            channel.eventLoop().execute(() -> System.out.println("open: " + channel.isOpen()));
        }

        private void addEcho(NioSocketChannel channel) {
            channel.config().setTcpNoDelay(true);
            channel.pipeline().addLast(new Ends.Echo());
        }
    }

    private static final class Parameter {
        static void addEcho(NioSocketChannel channel) {
            channel.pipeline().addLast(new Ends.Echo());
        }
    }

    private static final class Unguarded extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ((EpollSocketChannelConfig) ctx.channel().config()).setTcpQuickAck(true);
            ctx.pipeline().addLast(new Ends.Echo());
        }
    }

    /** Loaded when there has been a connection. */
    private static final class Late {
        boolean isQuickAck(Channel channel) {
            return ((EpollSocketChannel) channel).config().isTcpQuickAck();
        }
    }

    private static final class Guarded extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            if (ctx.channel() instanceof EpollSocketChannel) {
                ((EpollSocketChannel) ctx.channel()).config().setTcpQuickAck(true);
            }
            ctx.pipeline().addLast(new Ends.Echo());
        }
    }
}
