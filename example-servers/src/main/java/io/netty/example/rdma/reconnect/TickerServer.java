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
package io.netty.example.rdma.reconnect;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.EventLoopOptions;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.util.Transport;
import io.netty.util.NetUtil;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A server of numbers. Runs until it is ended.
 */
@Command(name = "ticker-server", description = "Writes numbers into the memory of each client. Ends connections from "
        + "time to time, if it is told to, and itself by Ctrl-C.")
public final class TickerServer implements Callable<Integer> {
    @Mixin
    private EventLoopOptions eventLoops;

    @Option(names = "--host", description = "The address to listen on (default: 127.0.0.1, or that of an RDMA device "
            + "if there is one).")
    private String host;

    @Option(names = "--port", defaultValue = "8080", description = "The port, 0 for any that is free (default: "
            + "${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--ticks", defaultValue = "0", description = "End a connection after so many numbers (default: "
            + "never).")
    private int ticks;

    @Option(names = "--interval", defaultValue = "1000", description = "Microseconds from one number to the next "
            + "(default: ${DEFAULT-VALUE}).")
    private long intervalMicros;

    public static void main(String[] args) {
        System.exit(Commands.run(new TickerServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = eventLoops.newGroup(Transport.RDMA);
        try {
            InetSocketAddress address = new InetSocketAddress(host != null ? host : LocalHost.address(), port);
            Channel server = listen(group, new Ticker(ticks, intervalMicros), address);
            System.out.println(ExampleServer.READY
                    + NetUtil.toSocketAddressString((InetSocketAddress) server.localAddress()));
            server.closeFuture().sync();
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }

    static Channel listen(EventLoopGroup group, Ticker ticker, InetSocketAddress address) throws InterruptedException {
        return new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class)
                .childOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of()).childHandler(ticker).bind(address).sync()
                .channel();
    }

    /** Writes growing numbers into the memory that each client has exported, and ends the connection after some. */
    @Sharable
    static final class Ticker extends SimpleChannelInboundHandler<RdmaReceive> {
        private final AtomicLong number = new AtomicLong();
        private final int ticks;
        private final long intervalMicros;

        /** @param ticks number of numbers after which a connection is ended; 0 for never */
        Ticker(int ticks, long intervalMicros) {
            this.ticks = ticks;
            this.intervalMicros = intervalMicros;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
            tick(ctx, RemoteMemory.read(msg.content()), 1);
        }

        private void tick(ChannelHandlerContext ctx, RemoteMemory memory, int done) {
            if (!ctx.channel().isActive()) {
                return;
            }
            long next = number.incrementAndGet();
            ctx.writeAndFlush(new RdmaWriteImm(Unpooled.copyLong(next), memory, 0, (int) next))
                    .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
            if (done == ticks) {
                ctx.close();
            } else {
                ctx.executor().schedule(() -> tick(ctx, memory, done + 1), intervalMicros, TimeUnit.MICROSECONDS);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            System.err.println(ctx.channel().remoteAddress() + ": " + cause);
            ctx.close();
        }
    }
}
