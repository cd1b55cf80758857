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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.io.IOException;

/**
 * An operation sends a message and waits for all of its echo. One is under way at any time.
 */
final class PingPongHandler extends ChannelInboundHandlerAdapter implements Scenario.Operation {
    /** An echo may arrive before the completion of its message is seen, and that of some before it. */
    private static final int MAX_UNDER_WAY = 64;

    private final int messageBytes;
    private ChannelHandlerContext context;
    private RepeatedMessage message;
    private int awaitedBytes;
    private Scenario.Completion completion;

    PingPongHandler(int messageBytes) {
        this.messageBytes = messageBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        message = new RepeatedMessage(ctx.alloc(), messageBytes, MAX_UNDER_WAY);
    }

    @Override
    public void start(Scenario.Completion toBeCalled) {
        if (message == null) {
            toBeCalled.ended(new IOException("the server has closed"));
            return;
        }
        completion = toBeCalled;
        awaitedBytes = messageBytes;
        context.writeAndFlush(message.next(), context.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf received = (ByteBuf) msg;
        awaitedBytes -= received.readableBytes();
        received.release();
        if (awaitedBytes < 0) {
            end(new IOException("the echo is longer than the message"));
        } else if (awaitedBytes == 0) {
            end(null);
        }
    }

    private void end(Throwable cause) {
        Scenario.Completion ended = completion;
        if (ended != null) {
            completion = null;
            ended.ended(cause);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (message != null) {
            message.release();
            message = null;
        }
        end(new IOException("the server closed between a message and its echo"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        end(cause);
        ctx.close();
    }
}
