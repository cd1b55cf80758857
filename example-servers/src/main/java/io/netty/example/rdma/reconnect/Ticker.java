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

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes numbers, which grow, into the memory of which each client tells, and ends its connection after some.
 */
@Sharable
final class Ticker extends SimpleChannelInboundHandler<RdmaReceive> {
    private final AtomicLong number = new AtomicLong();
    private final int ticks;
    private final long intervalMicros;

    /** @param ticks of a connection, or 0: no end */
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
