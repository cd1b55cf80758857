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
package io.netty.microbench.rdma.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.microbench.rdma.load.RequestHandler;
import io.netty.microbench.rdma.load.Scenario;

import java.io.IOException;

/**
 * Connections that last for one round trip each, as those that a load balancer has with clients of a single request.
 */
final class ShortConnections implements Scenario.Operation {
    private static final int MESSAGE_BYTES = 64;

    private final Bootstrap bootstrap;

    /**
     * Opens nothing yet.
     *
     * @param bootstrap knows the server's address and the event loop
     */
    ShortConnections(Bootstrap bootstrap) {
        this.bootstrap = bootstrap;
    }

    @Override
    public void start(Scenario.Completion completion) {
        Connection connection = new Connection();
        ChannelFutureListener closed = future -> completion.ended(connection.failure());
        ChannelFutureListener connected = future -> {
            if (future.isSuccess()) {
                future.channel().closeFuture().addListener(closed);
            } else {
                completion.ended(future.cause());
            }
        };
        bootstrap.clone().handler(connection).connect().addListener(connected);
    }

    private static final class Connection extends ChannelInboundHandlerAdapter {
        private int toArrive = MESSAGE_BYTES;
        private Throwable failure;

        Throwable failure() {
            return failure == null && toArrive > 0 ? new IOException("the server closed before its answer") : failure;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().directBuffer(Integer.BYTES + MESSAGE_BYTES).writeInt(RequestHandler.ECHO)
                    .writeZero(MESSAGE_BYTES), ctx.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            toArrive -= received.readableBytes();
            received.release();
            if (toArrive <= 0) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause;
            ctx.close();
        }
    }
}
