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

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.rdma.connection.ConnectionInternals;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.util.ReferenceCountUtil;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("iwarp")
@Tag("platforms")
class ReceiveMemoryTest {
    private static final int MAX = 1 << 20;
    /** The target SGL, and entries for the peer's. */
    private static final int TABLES = ConnectionInternals.tableBytes();
    private static final int FIRST = ConnectionInternals.FIRST_RECEIVE_BYTES + TABLES;
    private static final int PIECE = 64 << 10;
    /** Long enough that a stream is not taken for idle on any machine. */
    private static final int IDLE_MILLIS = (int) TimeUnit.SECONDS.toMillis(10 * TestTimeouts.SECONDS);

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    @Test
    void idleConnectionsUseLittleAndGiveItBack() throws Exception {
        BlockingQueue<RdmaSocketChannel> channels = new LinkedBlockingQueue<>();
        ChannelHandler collect = new ChannelInitializer<RdmaSocketChannel>() {
            @Override
            protected void initChannel(RdmaSocketChannel channel) {
                channels.add(channel);
            }
        };
        Channel listener = listen(collect);
        Bootstrap bootstrap = new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class).handler(collect);
        for (int i = 0; i < 500; i++) {
            sync(bootstrap.connect(listener.localAddress()));
        }
        // Each connection has two ends here.
        awaitTrue(() -> channels.size() == 1000 && channels.stream().allMatch(Channel::isActive));
        assertThat(channels).allMatch(channel -> channel.metrics().receiveMemory() == FIRST);
        assertThat(RdmaMetrics.total().receiveMemory()).isGreaterThanOrEqualTo(1000L * FIRST);
        assertThat(RdmaMetrics.pinnedMemory()).isBetween(RdmaMetrics.stagingMemory() + 1000L * FIRST,
                RdmaMetrics.maxPinnedMemory());

        channels.forEach(Channel::close);
        sync(listener.close());
        awaitTrue(() -> channels.stream().allMatch(channel -> channel.metrics().receiveMemory() == 0));
    }

    @Test
    void aStreamReachesTheMaximumAndShrinksWhenItIsIdle() throws Exception {
        LoopClock clock = new LoopClock(1);
        try (ConnectedPair pair = new ConnectedPair(clock.group(), b -> b.childOption(ChannelOption.SO_RCVBUF, MAX)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_IDLE_MILLIS, IDLE_MILLIS), b -> { })) {
            for (int round = 0; round < 2; round++) {
                assertThat(pair.server.metrics().receiveMemory()).isEqualTo(FIRST);
                streamUntil(pair, () -> pair.server.metrics().receiveMemory() == MAX + TABLES);
                awaitTrue(() -> {
                    clock.advance(IDLE_MILLIS, TimeUnit.MILLISECONDS);
                    return pair.server.metrics().receiveMemory() == FIRST;
                });
                assertThat(pair.client.metrics().receiveMemory()).isEqualTo(FIRST);
            }
            sync(pair.client.writeAndFlush(pair.client.alloc().buffer().writeLong(42)));
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    @Test
    void aSmallMaximumIsKept() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.SO_RCVBUF, 32768),
                b -> b.option(ChannelOption.SO_RCVBUF, 4096))) {
            assertThat(pair.client.metrics().receiveMemory()).isEqualTo(4096 + TABLES);
            streamUntil(pair, () -> pair.server.metrics().receiveMemory() == 32768 + TABLES);
            stream(pair, 10);
            assertThat(pair.server.metrics().receiveMemory()).isEqualTo(32768 + TABLES);
        }
    }

    @Test
    void aPeerOfAnApplicationThatDoesNotReadGetsNoMore() throws Exception {
        // Each message fills a segment.
        int segment = ConnectionInternals.FIRST_RECEIVE_BYTES / 2;
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR,
                        new FixedRecvByteBufAllocator(segment).maxMessagesPerRead(1)), b -> { })) {
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                futures.add(pair.client.writeAndFlush(pair.client.alloc().directBuffer(segment).writeZero(segment)));
            }
            for (int i = 0; i < 6; i++) {
                // The peer has used up all that it was offered, before the next message is read.
                sync(futures.get(i + 1));
                assertThat(pair.server.metrics().receiveMemory()).isEqualTo(FIRST);
                pair.server.read();
                ByteBuf buf = pair.serverEvents.nextBuffer();
                assertThat(buf.readableBytes()).isEqualTo(segment);
                buf.release();
            }
            pair.server.config().setAutoRead(true);
            for (int i = 6; i < 10; i++) {
                pair.serverEvents.nextBuffer().release();
                sync(futures.get(i));
            }
        }
    }

    @Test
    void atTheLimitNothingGrows() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            awaitNoOthers();
            long fill = PinnedMemory.PROCESS.max() - PinnedMemory.PROCESS.used() - 2 * FIRST;
            assertThat(PinnedMemory.PROCESS.reserve(fill, true)).isTrue();
            try {
                stream(pair, 50);
                assertThat(pair.server.metrics().receiveMemory()).isEqualTo(FIRST);
                assertThat(pair.server.metrics().bytesReceivedInPlace()).isPositive();
                assertThat(RdmaMetrics.pinnedMemory()).isLessThanOrEqualTo(RdmaMetrics.maxPinnedMemory());
            } finally {
                PinnedMemory.PROCESS.release(fill);
            }
        }
    }

    @Test
    void aConnectionWithoutMemoryIsRefusedAndTheNextOneIsNot() throws Exception {
        Channel listener = listen(new Discard());
        Bootstrap bootstrap = new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                .handler(new Discard());
        try {
            // So that there is staging memory.
            ChannelFuture earlier = bootstrap.connect(listener.localAddress());
            sync(earlier);
            awaitNoOthers();
            // Enough for the client's end.
            long fill = PinnedMemory.PROCESS.max() - PinnedMemory.PROCESS.used() - FIRST;
            assertThat(PinnedMemory.PROCESS.reserve(fill, true)).isTrue();
            try (LogRecorder log = new LogRecorder()) {
                for (int i = 0; i < 5; i++) {
                    ChannelFuture refused = bootstrap.connect(listener.localAddress());
                    TestTimeouts.await(refused);
                    assertThat(refused.cause()).isInstanceOf(ConnectException.class)
                            .hasMessageContaining("no registered memory for a receive buffer")
                            .hasMessageContaining("-Dio.netty.rdma.maxPinnedMemory (now " + PinnedMemory.PROCESS.max());
                    // The client's end is gone.
                    awaitTrue(() -> PinnedMemory.PROCESS.used() == PinnedMemory.PROCESS.max() - FIRST);
                }
                assertThat(log.messages(Level.WARN)).as("peers can't fill the log").singleElement().asString()
                        .contains("no registered memory");
            } finally {
                PinnedMemory.PROCESS.release(fill);
            }
            ChannelFuture accepted = bootstrap.connect(listener.localAddress());
            sync(accepted);
            sync(accepted.channel().close());
            sync(earlier.channel().close());
        } finally {
            sync(listener.close());
        }
    }

    /** Connections of other tests may still be ending, and would give memory back in the middle of this one. */
    private static void awaitNoOthers() throws InterruptedException {
        awaitTrue(() -> RdmaMetrics.total().receiveMemory() == 2 * FIRST);
    }

    private static Channel listen(ChannelHandler handler) throws InterruptedException {
        return new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 1000).childHandler(handler).bind(TestAddress.anyPort())
                .sync().channel();
    }

    private static void streamUntil(ConnectedPair pair, BooleanSupplier condition) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("in time").isNegative();
            stream(pair, 1);
            assertThat(pair.server.metrics().receiveMemory())
                    .isLessThanOrEqualTo(pair.server.config().getReceiveBufferSize() + TABLES);
        }
    }

    /** Sends to a server that releases what it gets on its event loop. */
    private static void stream(ConnectedPair pair, int megabytes) throws Exception {
        if (pair.server.pipeline().get(Discard.class) == null) {
            pair.server.pipeline().addFirst(new Discard());
        }
        for (int i = 0; i < megabytes; i++) {
            ChannelFuture last = null;
            for (int bytes = 0; bytes < 1 << 20; bytes += PIECE) {
                last = pair.client.write(pair.client.alloc().directBuffer(PIECE).writeZero(PIECE));
            }
            pair.client.flush();
            sync(last);
        }
    }

    @ChannelHandler.Sharable
    private static final class Discard extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ReferenceCountUtil.release(msg);
        }
    }
}
