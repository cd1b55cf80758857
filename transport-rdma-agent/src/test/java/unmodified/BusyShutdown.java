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
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.ReferenceCountUtil;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A server that ends while clients send to it. */
public final class BusyShutdown {
    private static final int CLIENTS = 8;
    private static final int ECHOES = 200;

    private BusyShutdown() { }

    public static void main(String... args) throws Exception {
        EventLoopGroup clients = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        EventLoopGroup servers = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        Channel listener = Ends.bind(Ends.server(servers, EpollServerSocketChannel.class));
        Set<String> exceptions = new ConcurrentSkipListSet<>();
        CountDownLatch echoes = new CountDownLatch(ECHOES);
        List<Channel> channels = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            channels.add(new Bootstrap().group(clients).channel(EpollSocketChannel.class)
                    .handler(new Sender(echoes, exceptions)).connect(listener.localAddress()).sync().channel());
        }
        System.out.println("busy: " + echoes.await(Ends.SECONDS, TimeUnit.SECONDS));
        Ends.end(servers);
        for (Channel channel : channels) {
            channel.closeFuture().sync();
        }
        System.out.println("exceptions that are none of I/O: " + exceptions);
        Ends.end(clients);
    }

    /** Sends as much as has come back, with several writes on their way. */
    private static final class Sender extends ChannelInboundHandlerAdapter {
        private static final int BYTES = 16 * 1024;
        private static final int WRITES = 8;

        private final CountDownLatch echoes;
        private final Set<String> exceptions;
        private int received;

        Sender(CountDownLatch echoes, Set<String> exceptions) {
            this.echoes = echoes;
            this.exceptions = exceptions;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            for (int i = 0; i < WRITES; i++) {
                send(ctx);
            }
        }

        private void send(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().buffer(BYTES).writeZero(BYTES)).addListener(sent -> {
                if (!sent.isSuccess()) {
                    failed(sent.cause());
                }
            });
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            received += ((ByteBuf) msg).readableBytes();
            ReferenceCountUtil.release(msg);
            for (; received >= BYTES; received -= BYTES) {
                echoes.countDown();
                send(ctx);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failed(cause);
        }

        private void failed(Throwable cause) {
            if (!(cause instanceof IOException)) {
                exceptions.add(cause.toString());
            }
        }
    }
}
