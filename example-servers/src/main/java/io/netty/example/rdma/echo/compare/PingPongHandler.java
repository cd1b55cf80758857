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
import org.HdrHistogram.Histogram;

/**
 * Sends a message, waits for all of its echo, and does it again: one message is in flight at any time.
 */
final class PingPongHandler extends ChannelInboundHandlerAdapter {
    private static final int SIGNIFICANT_DIGITS = 3;
    /** On a machine that is busy with other things, polling processes may get no more than a few turns a second. */
    private static final int MIN_ROUND_TRIPS = 100;

    /**
     * Every size waits for the compilers of both virtual machines, as one that is new makes them begin again. On two
     * cores they take one of them, so that two loops that poll have to share the other, and take turns every 30
     * microseconds or so.
     */
    private static final int WARM_UP_ROUND_TRIPS = 20_000;
    private static final int MAX_WARM_UP_FACTOR = 5;

    private final int messageBytes;
    private final Plan plan;
    private final Promise<Measurement> result;
    private final Histogram histogram = new Histogram(SIGNIFICANT_DIGITS);
    private ByteBuf message;
    private int awaitedBytes;
    private long sentNanos;
    private long startNanos;
    private long warmNanos;
    private long endNanos;
    private int warmUps;
    private boolean warm;

    PingPongHandler(int messageBytes, Plan plan, Promise<Measurement> result) {
        this.messageBytes = messageBytes;
        this.plan = plan;
        this.result = result;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        message = ctx.alloc().directBuffer(messageBytes, messageBytes).setZero(0, messageBytes)
                .writerIndex(messageBytes);
        startNanos = System.nanoTime();
        send(ctx);
    }

    private void send(ChannelHandlerContext ctx) {
        awaitedBytes = messageBytes;
        sentNanos = System.nanoTime();
        ctx.writeAndFlush(message.retainedDuplicate(), ctx.voidPromise());
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf received = (ByteBuf) msg;
        awaitedBytes -= received.readableBytes();
        received.release();
        if (awaitedBytes > 0) {
            return;
        }
        long now = System.nanoTime();
        if (awaitedBytes < 0) {
            result.tryFailure(new IllegalStateException("the echo is longer than the message"));
            ctx.close();
        } else if (!warm) {
            warm = isWarm(now - startNanos);
            warmNanos = now;
            endNanos = now + plan.measureNanos();
            send(ctx);
        } else if (now - endNanos < 0 || histogram.getTotalCount() < MIN_ROUND_TRIPS) {
            histogram.recordValue(now - sentNanos);
            send(ctx);
        } else {
            result.trySuccess(measurement(now));
            ctx.close();
        }
    }

    private Measurement measurement(long now) {
        long count = histogram.getTotalCount();
        return new Measurement(EchoMeasurements.roundTrips(messageBytes), count,
                Math.round(count * 1e9 / (now - warmNanos)), Measurement.Unit.OPERATIONS,
                histogram.getValueAtPercentile(50), histogram.getValueAtPercentile(99),
                histogram.getValueAtPercentile(99.9));
    }

    private boolean isWarm(long nanos) {
        long enough = plan.compilerWarmUpNanos();
        warmUps++;
        // However few round trips it takes, there is an end to it.
        return nanos >= MAX_WARM_UP_FACTOR * enough
                || nanos >= enough && warmUps >= WARM_UP_ROUND_TRIPS;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (message != null) {
            message.release();
            message = null;
        }
        result.tryFailure(new IllegalStateException("the server closed between two messages"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        result.tryFailure(cause);
        ctx.close();
    }
}
