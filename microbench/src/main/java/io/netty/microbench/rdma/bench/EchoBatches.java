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
import io.netty.microbench.rdma.load.EchoLoadServer.RequestHandler;
import io.netty.microbench.rdma.load.RepeatedMessage;
import io.netty.microbench.rdma.load.Scenario;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Small messages to an echo server and back, on connections of one event loop, on which all methods run. An operation
 * is the arrival of a batch of messages on a connection. A batch of messages is in flight there at any time: each
 * message that arrives is followed by the next one. The clock is read for each batch, because a read takes as long as a
 * message.
 *
 * <p>The bytes that come back are counted, and not checked.
 */
final class EchoBatches implements Scenario.Operation {
    private static final int MESSAGE_BYTES = 64;
    /** Number of echoes that may arrive before the completions of their messages are seen, besides those of a batch. */
    private static final int COMPLETED_LATE = 64;

    private final Bootstrap bootstrap;
    private final int messages;
    private final Queue<Connection> free = new ArrayDeque<>();

    /**
     * @param bootstrap has the server's address and the event loop. Connections are opened when the first operations
     *                  start, one for each operation in flight
     * @param messages  number of messages of a batch, 1 and more
     */
    EchoBatches(Bootstrap bootstrap, int messages) {
        this.bootstrap = bootstrap;
        this.messages = messages;
    }

    @Override
    public void start(Scenario.Completion completion) {
        Connection connection = free.poll();
        if (connection != null) {
            connection.start(completion);
            return;
        }
        ChannelFutureListener listener = connected -> {
            if (!connected.isSuccess()) {
                completion.ended(connected.cause());
            }
        };
        bootstrap.clone().handler(new Connection(completion)).connect().addListener(listener);
    }

    private final class Connection extends ChannelInboundHandlerAdapter {
        private ChannelHandlerContext context;
        private RepeatedMessage message;
        /** {@code null} between operations. */
        private Scenario.Completion completion;
        private int partialBytes;
        private int toArrive;
        private int underWay;
        private boolean reading;

        Connection(Scenario.Completion completion) {
            this.completion = completion;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            context = ctx;
            ctx.write(ctx.alloc().directBuffer(Integer.BYTES).writeInt(RequestHandler.ECHO), ctx.voidPromise());
            message = new RepeatedMessage(ctx.alloc(), MESSAGE_BYTES, COMPLETED_LATE + 2 * messages);
            start(completion);
        }

        void start(Scenario.Completion next) {
            completion = next;
            if (message == null) {
                end(new IOException("the server has closed"));
                return;
            }
            toArrive = messages;
            for (; underWay < messages; underWay++) {
                context.write(message.next(), context.voidPromise());
            }
            if (!reading) {
                context.flush();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            partialBytes += received.readableBytes();
            received.release();
            int arrived = partialBytes / MESSAGE_BYTES;
            partialBytes -= arrived * MESSAGE_BYTES;
            underWay -= arrived;
            toArrive -= arrived;
            if (underWay < 0) {
                end(new IOException("more came back than was sent"));
            } else if (completion != null && arrived > 0) {
                reading = true;
                if (toArrive <= 0) {
                    // The completion may start the next operation, here or on another free connection.
                    free.add(this);
                    end(null);
                } else {
                    int rest = toArrive;
                    start(completion);
                    toArrive = rest;
                }
                reading = false;
            }
        }

        private void end(Throwable cause) {
            Scenario.Completion ended = completion;
            completion = null;
            if (ended != null) {
                ended.ended(cause);
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            free.remove(this);
            if (message != null) {
                message.release();
                message = null;
            }
            end(new IOException("the server closed while messages were under way"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(cause);
            ctx.close();
        }
    }
}
