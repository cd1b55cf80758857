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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.rdma.connection.ConnectionInternals;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random sequences of what makes receive memory grow and shrink: bursts and pauses, buffers that the application holds
 * and releases in any order, reading that is turned off and on. The clock is simulated, so hours take no time; the
 * connection is a real one, on an event loop that the test runs.
 */
@Tag("iwarp-all")
class ReceiveMemoryModelTest {
    private static final int TABLES = ConnectionInternals.tableBytes();
    private static final int IDLE_MILLIS = 1000;
    private static final int STEPS = 100;
    /** Number of buffers, of a hundred, that the application keeps. */
    private static final int[] HOLDS = { 0, 1, 5, 20, 100 };
    private static final long MAX_WAIT_NANOS = 1_000_000;
    /** The stream repeats it; the length has nothing in common with those of segments. */
    private static final byte[] PATTERN = ConnectedPair.random(131_071, 7);

    private final MockTicker clock = Ticker.newMockTicker();
    private final ManualIoEventLoop loop =
            new ManualIoEventLoop(null, Thread.currentThread(), RdmaIoHandler.newFactory(), clock);
    private final Reader reader = new Reader();
    private SplittableRandom random;
    private Channel listener;
    private RdmaSocketChannel client;
    private RdmaSocketChannel server;
    private long sent;

    static LongStream seeds() {
        return TestRandom.seeds(TestScope.ALL ? 20 : 10);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aConnectionLivesThroughEverySequence(long seed) throws Exception {
        System.out.println("seed " + seed);
        random = new SplittableRandom(seed);
        long pinned = PinnedMemory.PROCESS.used();
        int max = ConnectionInternals.FIRST_RECEIVE_BYTES << random.nextInt(6);
        try {
            connect(max);
            for (int i = 0; i < STEPS; i++) {
                step();
                assertThat(server.isActive()).isTrue();
                assertThat(server.metrics().receiveMemory()).isLessThanOrEqualTo(max + TABLES);
            }
            reader.holds = buf -> false;
            reader.held(0);
            server.config().setAutoRead(true);
            runUntil(() -> reader.arrived == sent);
            runUntilSmall();
        } finally {
            end();
        }
        // Slabs are not given back. One of a thread that ends now may be, between two of these calls.
        TestTimeouts.awaitTrue(() -> PinnedMemory.PROCESS.used() - RdmaMetrics.stagingMemory() -
                RdmaByteBufAllocator.DEFAULT.pinnedMemory() <= pinned);
    }

    @Test
    void itDoesNotShrinkToWhatTheApplicationKeeps() throws Exception {
        random = new SplittableRandom(0);
        int segment = ConnectionInternals.FIRST_RECEIVE_BYTES / 2;
        // The next step has segments of the same length.
        int max = 8 * segment;
        try {
            connect(max);
            reader.holds = buf -> true;
            send(segment);
            runUntil(() -> reader.arrived == sent);
            long first = reader.held.get(0).memoryAddress();
            reader.holds = buf -> buf.memoryAddress() - first >= 0 &&
                    buf.memoryAddress() - first < ConnectionInternals.FIRST_RECEIVE_BYTES;
            runUntil(() -> {
                if (reader.arrived == sent) {
                    send(segment);
                }
                return server.metrics().receiveMemory() == max + TABLES;
            });
            runUntil(() -> reader.arrived == sent);

            server.config().setAutoRead(false);
            for (int i = 0; i < 6; i++) {
                send(segment);
            }
            // Now all segments are filled, so also the other one of the first buffer.
            run(send(segment));
            server.config().setAutoRead(true);
            runUntil(() -> reader.arrived == sent);
            assertThat(reader.held).extracting(buf -> buf.memoryAddress() - first).contains((long) segment);

            for (int i = 0; i < 3; i++) {
                clock.advanceMillis(IDLE_MILLIS);
                loop.runNow();
            }
            send(max);
            runUntil(() -> reader.arrived == sent);
            reader.held(0);
            runUntilSmall();
        } finally {
            end();
        }
    }

    /** When a stream has stopped, it is no reason that it was fast, nor that nothing is on offer any more. */
    @Test
    void itDoesNotGrowAgainWhenItHasShrunk() throws Exception {
        random = new SplittableRandom(0);
        int max = ConnectionInternals.FIRST_RECEIVE_BYTES << 4;
        try {
            connect(max);
            runUntil(() -> {
                if (reader.arrived == sent) {
                    send(max);
                }
                return server.metrics().receiveMemory() == max + TABLES;
            });
            // At the maximum it can't grow, however fast this is.
            send(2 * max);
            runUntil(() -> reader.arrived == sent);
            for (int ticks = 0; ticks < 2; ticks++) {
                clock.advanceMillis(IDLE_MILLIS);
                loop.runNow();
            }
            runUntil(() -> server.metrics().receiveMemory() == ConnectionInternals.FIRST_RECEIVE_BYTES + TABLES);
        } finally {
            end();
        }
    }

    private void step() throws Exception {
        switch (random.nextInt(10)) {
        case 0:
        case 1:
        case 2:
            // As much as makes it grow.
            for (long left = random.nextLong(1, 3L * server.config().getReceiveBufferSize()); left > 0;) {
                int length = (int) Math.min(left, random.nextInt(1, 1 << 20));
                send(length);
                left -= length;
            }
            runUntil(() -> reader.arrived == sent || !server.config().isAutoRead());
            break;
        case 3:
            send(random.nextInt(1, 64 << random.nextInt(11)));
            loop.runNow();
            break;
        case 4:
        case 5:
            for (int ticks = random.nextInt(1, 4); ticks > 0; ticks--) {
                clock.advanceMillis(random.nextInt(1, 2 * IDLE_MILLIS));
                loop.runNow();
                loop.runNow();
            }
            break;
        case 6:
        case 7:
            int percent = HOLDS[random.nextInt(HOLDS.length)];
            reader.holds = buf -> random.nextInt(100) < percent;
            break;
        case 8:
            reader.held(random.nextInt(0, reader.held.size() + 1));
            break;
        default:
            server.config().setAutoRead(random.nextInt(3) > 0);
            loop.runNow();
        }
    }

    private ChannelFuture send(int length) {
        ByteBuf buf = client.alloc().directBuffer(length);
        for (int left = length; left > 0; left = length - buf.writerIndex()) {
            int from = (int) (sent % PATTERN.length);
            int piece = Math.min(left, PATTERN.length - from);
            buf.writeBytes(PATTERN, from, piece);
            sent += piece;
        }
        return client.writeAndFlush(buf);
    }

    private void connect(int max) throws Exception {
        ChannelFuture bound = new ServerBootstrap().group(loop).channel(RdmaServerSocketChannel.class)
                .childOption(ChannelOption.SO_RCVBUF, max)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_IDLE_MILLIS, IDLE_MILLIS)
                .childHandler(reader).bind(TestAddress.anyPort());
        run(bound);
        listener = bound.channel();
        ChannelFuture connected = new Bootstrap().group(loop).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress());
        run(connected);
        client = (RdmaSocketChannel) connected.channel();
        runUntil(() -> reader.channel != null);
        server = (RdmaSocketChannel) reader.channel;
    }

    private void end() throws Exception {
        reader.held(0);
        reader.failure = null;
        for (Channel channel : new Channel[] { client, server, listener }) {
            if (channel != null) {
                run(channel.close());
            }
        }
        // The wait for the end of a connection uses the simulated clock.
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        runUntil(() -> {
            clock.advanceMillis(100);
            return loop.isTerminated();
        });
    }

    private void run(Future<?> future) throws InterruptedException {
        runUntil(future::isDone);
        future.sync();
    }

    private void runUntilSmall() {
        int smallest = Math.min(server.config().getReceiveBufferSize(), ConnectionInternals.FIRST_RECEIVE_BYTES) +
                TABLES;
        runUntil(() -> {
            clock.advanceMillis(IDLE_MILLIS);
            return server.metrics().receiveMemory() == smallest;
        });
    }

    private void runUntil(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(reader.failure).isNull();
            assertThat(System.nanoTime() - deadline).as("in time: %d of %d bytes have arrived", reader.arrived, sent)
                    .isNegative();
            loop.run(MAX_WAIT_NANOS);
        }
    }

    /** Compares what arrives, and holds some of it. */
    private final class Reader extends ChannelInboundHandlerAdapter {
        final List<ByteBuf> held = new ArrayList<>();
        Channel channel;
        Throwable failure;
        long arrived;
        Predicate<ByteBuf> holds = buf -> false;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channel = ctx.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            if (holds.test(buf)) {
                held.add(buf.retain());
            }
            try {
                byte[] bytes = ByteBufUtil.getBytes(buf);
                for (int i = 0, length; i < bytes.length; i += length) {
                    int from = (int) ((arrived + i) % PATTERN.length);
                    length = Math.min(bytes.length - i, PATTERN.length - from);
                    assertThat(Arrays.equals(bytes, i, i + length, PATTERN, from, from + length)).isTrue();
                }
                arrived += bytes.length;
            } finally {
                buf.release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause;
        }

        /** Releases some, until so many are left. */
        void held(int left) {
            while (held.size() > left) {
                held.remove(random.nextInt(held.size())).release();
            }
        }
    }
}
