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
package io.netty.example.rdma.echo.compare;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.example.rdma.compare.Measurement;
import io.netty.example.rdma.compare.Plan;
import io.netty.util.concurrent.Promise;

import java.util.ArrayList;
import java.util.List;

/**
 * Asks for a stream and counts what arrives, in windows of time.
 */
final class StreamSinkHandler extends ChannelInboundHandlerAdapter {
    private static final int WINDOWS = 3;

    private final int writeBytes;
    private final Plan plan;
    private final Promise<List<Measurement>> result;
    private final List<Measurement> windows = new ArrayList<>();
    private long windowStart;
    private long windowEnd;
    private long windowBytes;
    private boolean warm;

    StreamSinkHandler(int writeBytes, Plan plan, Promise<List<Measurement>> result) {
        this.writeBytes = writeBytes;
        this.plan = plan;
        this.result = result;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        windowEnd = System.nanoTime() + 2 * plan.warmUpNanos();
        ctx.writeAndFlush(ctx.alloc().directBuffer(Integer.BYTES).writeInt(writeBytes));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf received = (ByteBuf) msg;
        windowBytes += received.readableBytes();
        received.release();
        long now = System.nanoTime();
        if (now - windowEnd >= 0 && !result.isDone()) {
            if (warm) {
                windows.add(new Measurement(EchoMeasurements.stream(writeBytes), 1,
                        Math.round(windowBytes * 1e9 / (now - windowStart)), Measurement.Unit.BYTES, 0, 0, 0));
            }
            warm = true;
            windowBytes = 0;
            windowStart = now;
            windowEnd = now + plan.measureNanos() / 2;
            if (windows.size() == WINDOWS) {
                result.setSuccess(windows);
                ctx.close();
            }
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        result.tryFailure(new IllegalStateException("the server closed in the middle of a stream"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        result.tryFailure(cause);
        ctx.close();
    }
}
