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

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/**
 * A client of a server of numbers, which connects again whenever a connection ends.
 */
@Command(name = "ticker-client", description = "Has a ticker-server write numbers into its memory until there were "
        + "--count, and connects again whenever the connection ends or there is no server.")
public final class TickerClient implements Callable<Integer> {
    private static final int CONNECT_TIMEOUT_MILLIS = 2000;

    @Mixin
    private VerbsOptions options;

    @Option(names = "--host", description = "The address of the server (default: 127.0.0.1, or that of an RDMA device "
            + "if there is one).")
    private String host;

    @Option(names = "--port", defaultValue = "8080", description = "The port (default: ${DEFAULT-VALUE}).")
    private int port;

    public static void main(String[] args) {
        System.exit(Commands.run(new TickerClient(), args));
    }

    /** Options of every connection. */
    static Bootstrap bootstrap() {
        return new Bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                .option(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
    }

    @Override
    public Integer call() throws Exception {
        return options.run(group -> {
            TickReader reader = new TickReader(bootstrap(), group,
                    new InetSocketAddress(host != null ? host : LocalHost.address(), port), options.count());
            reader.start();
            return List.of(reader.result());
        });
    }

    /** Has memory into which the server writes growing numbers, over any number of connections. */
    static class TickReader extends ReconnectingClient {
        private final long count;
        /** Registered once, for all connections. */
        private final RegisteredMemory memory;
        private final CompletableFuture<Result> result = new CompletableFuture<>();
        private final long startNanos = System.nanoTime();
        private long seen;
        private long last;
        private long wrong;

        /** @param count number of numbers after which the client ends */
        TickReader(Bootstrap bootstrap, EventLoopGroup group, SocketAddress server, long count) throws IOException {
            super(bootstrap, group, server);
            this.count = count;
            memory = RegisteredMemory.allocate(Long.BYTES,
                    EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE));
        }

        final CompletableFuture<Result> result() {
            return result;
        }

        @Override
        final void begin(RdmaMessageChannel newChannel) throws IOException {
            newChannel.pipeline().addLast(new Ticks());
            ByteBuf blob = newChannel.alloc().buffer(RemoteMemory.BLOB_LENGTH, RemoteMemory.BLOB_LENGTH);
            newChannel.export(memory).write(blob);
            newChannel.writeAndFlush(new RdmaSend(blob)).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        }

        @Override
        void waiting(Throwable cause, long millis) {
            System.out.println("no connection after " + last + " (" + (cause == null ? "the server has ended it"
                    : cause.getMessage()) + "), again in " + millis + " ms");
        }

        private void tick(long number) {
            served();
            // Each number is written once. Numbers that are written while there is no connection are missed. The memory
            // may already have the next number.
            if (number <= last || memory.buf().getLong(0) < number) {
                wrong++;
            }
            last = number;
            if (++seen == count) {
                System.out.println("seen " + seen + " numbers up to " + last + " on " + connections() + " connections");
                close();
            }
        }

        /** Handler of one connection. */
        private final class Ticks extends SimpleChannelInboundHandler<RdmaReceive> {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
                if (!msg.hasImmediate() || msg.length() != Long.BYTES) {
                    throw new IllegalArgumentException("not the notice of a number: " + msg);
                }
                if (seen < count) {
                    tick(Integer.toUnsignedLong(msg.immediate()));
                }
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                ctx.fireChannelInactive();
                if (seen == count) {
                    memory.close();
                    result.complete(new Result("numbers on " + connections() + " connections", seen, Long.BYTES, wrong,
                            System.nanoTime() - startNanos));
                }
            }
        }
    }
}
