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

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.buffer.PooledByteBufAllocator;

import java.net.StandardSocketOptions;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;

/** Options of epoll's and of NIO's, on listeners and on both ends of connections. */
public final class Options {
    private Options() { }

    public static void main(String... args) throws Exception {
        if (args[0].equals("epoll")) {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
            exchange(group, Ends.server(group, EpollServerSocketChannel.class)
                    .option(EpollChannelOption.TCP_DEFER_ACCEPT, 1)
                    .option(EpollChannelOption.SO_REUSEPORT, true)
                    .option(ChannelOption.TCP_FASTOPEN, 3)
                    .childOption(EpollChannelOption.TCP_QUICKACK, true)
                    .childOption(EpollChannelOption.TCP_USER_TIMEOUT, 5000)
                    .childOption(EpollChannelOption.TCP_KEEPIDLE, 30)
                    .childOption(EpollChannelOption.TCP_KEEPINTVL, 5)
                    .childOption(EpollChannelOption.TCP_KEEPCNT, 4)
                    .childOption(EpollChannelOption.TCP_CORK, false), EpollSocketChannel.class);
            Ends.end(group);
        } else {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
            exchange(group, Ends.server(group, NioServerSocketChannel.class)
                    .option(NioChannelOption.of(StandardSocketOptions.SO_REUSEADDR), true)
                    .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), 30)
                    .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), 5)
                    .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), 4)
                    .childOption(NioChannelOption.of(ExtendedSocketOptions.TCP_QUICKACK), true)
                    .childOption(NioChannelOption.of(StandardSocketOptions.TCP_NODELAY), true),
                    NioSocketChannel.class);
            Ends.end(group);
        }
    }

    private static void exchange(EventLoopGroup group, ServerBootstrap bootstrap, Class<? extends Channel> type)
            throws InterruptedException {
        Channel listener = Ends.bind(bootstrap.childOption(ChannelOption.SO_KEEPALIVE, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT));
        Ends.Counter counter = new Ends.Counter(3);
        Channel client = Ends.client(group, type, counter)
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(type == EpollSocketChannel.class ? EpollChannelOption.TCP_KEEPIDLE :
                        NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), 77)
                .option(ChannelOption.ALLOCATOR, new PooledByteBufAllocator(true))
                .connect("127.0.0.1", Ends.port(listener)).sync().channel();
        client.writeAndFlush(client.alloc().buffer().writeBytes(new byte[3]));
        System.out.println("echo: " + counter.done.await(Ends.SECONDS, TimeUnit.SECONDS));
        System.out.println("keep-alive: " + client.config().getOption(ChannelOption.SO_KEEPALIVE));
        client.close().sync();
        listener.close().sync();
    }
}
