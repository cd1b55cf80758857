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
package io.netty.channel.rdma.peers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Promise;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * One connection of librdmacm's {@code rstream}, as its client or its server. The two take turns: before each test,
 * each sends 16 bytes; then, {@code iterations} times, the client sends {@code size * count} bytes and the server as
 * many. All bytes are a counter modulo 256, which goes on over all the connections of a program ({@code -T verify}).
 */
final class RstreamHandler extends ChannelInboundHandlerAdapter {
    private static final int SYNC = 16;
    private static final int CHUNK = 1 << 16;
    /** Sizes that rstream tests without {@code -S all}. */
    private static final List<Integer> SIZES = List.of(64, 4096, 65536, 1048576);
    private static final byte[] PATTERN = pattern();

    /** Values of {@code -S}, {@code -C} and {@code -I}. */
    record Transfers(int size, int count, int iterations) { }

    /** State of the two counters of a program and of its peer's. */
    static final class Counters {
        private int sent;
        private int received;
    }

    private final boolean client;
    private final List<Transfers> tests;
    private final Counters counters;
    private final Promise<Void> done;
    private int test;
    /** 0 is the exchange of {@link #SYNC} bytes. */
    private int iteration;
    private boolean sending;
    private long left = SYNC;
    private boolean inWrite;

    RstreamHandler(boolean client, List<Transfers> tests, Counters counters, Promise<Void> done) {
        this.client = client;
        this.tests = tests;
        this.counters = counters;
        this.done = done;
        sending = client;
    }

    /** The first connection of an rstream that is not told what to test: round trips. */
    static List<Transfers> latencyTests() {
        return SIZES.stream().map(size -> new Transfers(size, 1, count(size))).collect(Collectors.toList());
    }

    /** The second one: streaming. */
    static List<Transfers> bandwidthTests() {
        return SIZES.stream().map(size -> new Transfers(size, count(size), 1)).collect(Collectors.toList());
    }

    /** {@code size_to_count} of librdmacm's examples. */
    private static int count(int size) {
        return size >= 1 << 20 ? 100 : size >= 1 << 16 ? 1000 : size >= 1 << 10 ? 10_000 : 100_000;
    }

    private static byte[] pattern() {
        byte[] bytes = new byte[CHUNK + 256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        return bytes;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        write(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable()) {
            write(ctx);
        }
    }

    private void write(ChannelHandlerContext ctx) {
        if (inWrite) {
            return;
        }
        inWrite = true;
        while (sending && ctx.channel().isWritable()) {
            int length = (int) Math.min(left, CHUNK);
            ByteBuf bytes = ctx.alloc().directBuffer(length);
            bytes.writeBytes(PATTERN, counters.sent & 0xFF, length);
            counters.sent += length;
            ctx.writeAndFlush(bytes);
            advance(length);
        }
        inWrite = false;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf bytes = (ByteBuf) msg;
        try {
            while (bytes.isReadable() && !done.isDone()) {
                if (sending || test == tests.size()) {
                    done.tryFailure(new AssertionError(bytes + " came out of turn, in " + this));
                    return;
                }
                int length = (int) Math.min(Math.min(left, bytes.readableBytes()), CHUNK);
                int from = counters.received & 0xFF;
                // At once, because the leak detector records every access.
                byte[] actual = ByteBufUtil.getBytes(bytes, bytes.readerIndex(), length);
                if (!Arrays.equals(actual, 0, length, PATTERN, from, from + length)) {
                    done.tryFailure(new AssertionError("wrong bytes in " + this));
                    return;
                }
                bytes.skipBytes(length);
                counters.received += length;
                advance(length);
            }
        } finally {
            bytes.release();
        }
        write(ctx);
    }

    /** So many bytes went in the direction of the turn. */
    private void advance(int length) {
        left -= length;
        if (left > 0) {
            return;
        }
        boolean firstHalf = sending == client;
        sending = !sending;
        if (!firstHalf && iteration++ == tests.get(test).iterations()) {
            iteration = 0;
            if (++test == tests.size()) {
                sending = false;
                done.trySuccess(null);
                return;
            }
        }
        Transfers current = tests.get(test);
        left = iteration == 0 ? SYNC : (long) current.size() * current.count();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        done.tryFailure(cause);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        done.tryFailure(new AssertionError("closed in " + this));
        ctx.fireChannelInactive();
    }

    @Override
    public String toString() {
        return "iteration " + iteration + " of " + (test < tests.size() ? tests.get(test) : "all") + ", " + left +
                " bytes before its end";
    }
}
