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
package io.netty.example.rdma.gpu;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.example.rdma.gpu.TensorCommand.TensorClient;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.verbs.Result;
import io.netty.util.NetUtil;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * The transfer without RDMA: a copy to the host, a TCP connection of epoll, and a copy to the graphics processor. The
 * server copies the received bytes to its tensor, and sends the tensor back.
 */
final class TensorCopy {
    private final TensorCommand options;

    TensorCopy(TensorCommand options) {
        this.options = options;
    }

    /** Serves one client. Prints the address. */
    CompletableFuture<Result> serve(EventLoopGroup group, Tensor tensor) throws Exception {
        End end = new End(tensor, false);
        Channel server = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class).childHandler(end)
                .bind(options.connection.address()).sync().channel();
        System.out.println(ExampleServer.READY
                + NetUtil.toSocketAddressString((InetSocketAddress) server.localAddress()));
        return end.result;
    }

    CompletableFuture<Result> move(EventLoopGroup group, Tensor tensor) throws Exception {
        End end = new End(tensor, true);
        new Bootstrap().group(group).channel(EpollSocketChannel.class).handler(end)
                .connect(options.connection.address()).sync();
        return end.result;
    }

    /** One end, for one connection. */
    private final class End extends SimpleChannelInboundHandler<ByteBuf> {
        private final CompletableFuture<Result> result = new CompletableFuture<>();
        private final Tensor tensor;
        private final boolean client;
        private final ByteBuf arrived;
        private long round;
        private long wrong;
        private long startNanos;
        private long nanos;

        End(Tensor tensor, boolean client) {
            this.tensor = tensor;
            this.client = client;
            arrived = PooledByteBufAllocator.DEFAULT.directBuffer(tensor.size(), tensor.size());
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) throws IOException {
            startNanos = System.nanoTime();
            if (client) {
                send(ctx);
            }
        }

        private ChannelFuture send(ChannelHandlerContext ctx) throws IOException {
            if (client) {
                tensor.fill(round);
                startNanos = System.nanoTime();
            }
            ByteBuf copy = tensor.store().retainedDuplicate().setIndex(0, tensor.size());
            return ctx.writeAndFlush(copy).addListener(sent -> {
                if (!sent.isSuccess()) {
                    exceptionCaught(ctx, sent.cause());
                }
            });
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf msg) throws IOException {
            if (msg.readableBytes() > arrived.writableBytes()) {
                throw new IOException("the peer sends more than the tensor: give both the same size");
            }
            arrived.writeBytes(msg);
            if (!arrived.isWritable()) {
                arrived.clear();
                tensor.load(arrived);
                complete(ctx);
            }
        }

        private void complete(ChannelHandlerContext ctx) throws IOException {
            long now = System.nanoTime();
            nanos += now - startNanos;
            startNanos = now;
            ChannelFuture done = client ? ctx.newSucceededFuture() : send(ctx);
            wrong += tensor.matches(round) ? 0 : 1;
            if (++round == options.verbs.count()) {
                Result outcome = new Result(options.way.text + (client ? TensorClient.RESULT : ", server"), round,
                        client ? 2L * tensor.size() : tensor.size(), wrong, nanos);
                done.addListener(sent -> result.complete(outcome));
            } else if (client) {
                send(ctx);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            result.completeExceptionally(cause);
            ctx.close();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            result.completeExceptionally(new IOException("the connection ended before the program was done"));
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            arrived.release();
        }
    }
}
