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

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.microbench.rdma.load.RepeatedMessage;
import io.netty.microbench.rdma.load.RequestHandler;
import io.netty.microbench.rdma.load.Scenario;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A connection to an echo server. An operation flushes a message and ends when its echo has arrived; any number may be
 * under way. A server that sends more than that is left. For the event loop of the connection. The bytes that come back
 * are counted and not looked at.
 */
final class EchoConnection extends ChannelInboundHandlerAdapter implements Scenario.Operation {
    static final int MESSAGE_BYTES = 64;
    /** More than are under way unless the rate is too high, in which case there are new objects. */
    private static final int USUALLY_UNDER_WAY = 64;

    private final Queue<Scenario.Completion> underWay = new ArrayDeque<>();
    private ChannelHandlerContext context;
    /** {@code null} if the connection is not open. */
    private RepeatedMessage message;
    private int partialBytes;

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        context = ctx;
        message = new RepeatedMessage(ctx.alloc(), MESSAGE_BYTES, USUALLY_UNDER_WAY);
        ctx.writeAndFlush(ctx.alloc().directBuffer(Integer.BYTES).writeInt(RequestHandler.ECHO), ctx.voidPromise());
    }

    @Override
    public void start(Scenario.Completion completion) {
        if (message == null) {
            completion.ended(new IOException("the server has closed"));
            return;
        }
        underWay.add(completion);
        context.writeAndFlush(message.next(), context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf received = (ByteBuf) msg;
        partialBytes += received.readableBytes();
        received.release();
        for (; partialBytes >= MESSAGE_BYTES && !underWay.isEmpty(); partialBytes -= MESSAGE_BYTES) {
            underWay.remove().ended(null);
        }
        if (underWay.isEmpty() && partialBytes > 0) {
            // The next operation finds it closed, as there is none now.
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
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

    private void end(Throwable cause) {
        while (!underWay.isEmpty()) {
            underWay.remove().ended(cause);
        }
    }
}
