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
 * An operation receives the next so many bytes of a stream, and looks at none of them. While none is under way, nothing
 * is read, so that the stream rests.
 */
final class StreamSinkHandler extends ChannelInboundHandlerAdapter implements Scenario.Operation {
    private final int pieceBytes;
    private ChannelHandlerContext context;
    private int awaitedBytes;
    private Scenario.Completion completion;

    /** To be added to a pipeline whose channel does not read by itself. */
    StreamSinkHandler(int pieceBytes) {
        this.pieceBytes = pieceBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void start(Scenario.Completion toBeCalled) {
        if (!context.channel().isActive()) {
            toBeCalled.ended(new IOException("the server has closed"));
            return;
        }
        completion = toBeCalled;
        // Bytes beyond the last piece belong to this one.
        awaitedBytes += pieceBytes;
        context.channel().config().setAutoRead(true);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf received = (ByteBuf) msg;
        awaitedBytes -= received.readableBytes();
        received.release();
        if (awaitedBytes <= 0) {
            end(null);
        }
    }

    private void end(Throwable cause) {
        Scenario.Completion ended = completion;
        if (ended != null) {
            completion = null;
            ended.ended(cause);
        }
        if (completion == null) {
            context.channel().config().setAutoRead(false);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end(new IOException("the server closed in the middle of a stream"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        end(cause);
        ctx.close();
    }
}
