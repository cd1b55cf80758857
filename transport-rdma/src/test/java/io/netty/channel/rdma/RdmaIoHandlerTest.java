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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.reflect.Method;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static io.netty.channel.rdma.TestTimeouts.shutdown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("aarch64")
@Tag("platforms")
@Tag("quick")
@Tag("rxe-quick")
class RdmaIoHandlerTest {
    private static final int AT_ONCE = 4;
    private static final int MORE_THAN_INLINE = 2000;

    /** Ways in which a loop waits for completions. */
    enum Waiting {
        SLEEP(new RdmaIoHandlerConfig().setMaxSpinMicros(0)),
        SPIN(new RdmaIoHandlerConfig().setMaxSpinMicros(50)),
        BUSY_POLL(new RdmaIoHandlerConfig().setBusyPoll(true)),
        SMALL_BATCH(new RdmaIoHandlerConfig().setPollBatch(1));

        final RdmaIoHandlerConfig config;

        Waiting(RdmaIoHandlerConfig config) {
            this.config = config;
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneLoopServesRdmaAndTcpAtOnce(Waiting waiting) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1, waiting.config);
        try (ConnectedPair rdma = new ConnectedPair(group)) {
            Channel listener = new ServerBootstrap().group(group).channel(EpollServerSocketChannel.class)
                    .childHandler(new Echo()).bind("127.0.0.1", 0).sync().channel();
            ConnectedPair.Recorder tcpEvents = new ConnectedPair.Recorder();
            Channel tcp = new Bootstrap().group(group).channel(EpollSocketChannel.class).handler(tcpEvents)
                    .connect(listener.localAddress()).sync().channel();
            for (int i = 0; i < 200; i++) {
                rdma.client.writeAndFlush(Unpooled.copyInt(i));
                tcp.writeAndFlush(Unpooled.copyInt(i));
                assertThat(rdma.serverEvents.read(4)).containsExactly(0, 0, i >> 8, i);
                assertThat(tcpEvents.read(4)).containsExactly(0, 0, i >> 8, i);
            }
            tcp.close().sync();
            listener.close().sync();
        } finally {
            shutdown(group);
        }
    }

    /** Nothing else wakes the loop of the end that receives: the other end has a loop of its own. */
    @ParameterizedTest
    @EnumSource
    void everyMessageWakesTheLoopThatWaitsForIt(Waiting waiting) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1, waiting.config);
        EventLoopGroup clientGroup = new RdmaEventLoopGroup(1, waiting.config);
        try (ConnectedPair pair = new ConnectedPair(group, clientGroup, server -> { }, client -> { })) {
            for (int i = 0; i < 200; i++) {
                pair.client.writeAndFlush(Unpooled.copyInt(i));
                assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, i >> 8, i);
            }
            completeAtOnce(pair, group);
            // On the loop, so that it is not in the middle of counting.
            RdmaLoopMetrics loop = loopOf(group);
            TestTimeouts.sync(group.next().submit(() -> assertWaits(waiting, loop)));
        } finally {
            shutdown(group);
            shutdown(clientGroup);
        }
    }

    /** Has several completions there when the loop polls next. */
    private static void completeAtOnce(ConnectedPair pair, EventLoopGroup group) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        Future<Boolean> busy = group.next().submit(() -> sent.await(TestTimeouts.SECONDS, TimeUnit.SECONDS));
        for (int i = 0; i < AT_ONCE; i++) {
            // The write is done when the peer's device has it.
            TestTimeouts.sync(pair.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[MORE_THAN_INLINE])));
        }
        sent.countDown();
        assertThat(TestTimeouts.result(busy)).isTrue();
        pair.serverEvents.read(AT_ONCE * MORE_THAN_INLINE);
    }

    private static void assertWaits(Waiting waiting, RdmaLoopMetrics loop) {
        switch (waiting) {
        case SLEEP:
            assertThat(loop.sleeps()).isPositive();
            assertThat(loop.completionWakeups()).isPositive();
            assertThat(loop.spins()).isZero();
            assertThat(loop.completions()).isGreaterThan(loop.fruitfulPolls());
            break;
        case BUSY_POLL:
            assertThat(loop.sleeps()).isZero();
            break;
        case SMALL_BATCH:
            assertThat(loop.completions()).isEqualTo(loop.fruitfulPolls());
            break;
        default:
            // The numbers of polls and sleeps are up to what it has learned.
        }
    }

    private static RdmaLoopMetrics loopOf(EventLoopGroup group) throws Exception {
        String name = TestTimeouts.result(group.next().submit(() -> Thread.currentThread().getName()));
        return RdmaLoopMetrics.all().stream().filter(loop -> loop.name().equals(name)).findFirst().orElseThrow();
    }

    @Test
    void threadsAreThoseOfTheFactory() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(2, new DefaultThreadFactory("made"), new RdmaIoHandlerConfig());
        for (EventExecutor loop : group) {
            assertThat(TestTimeouts.result(loop.submit(() -> Thread.currentThread().getName()))).startsWith("made-");
        }
        shutdown(group);
    }

    @ParameterizedTest
    @EnumSource
    void oneLoopServesRdmaAndNioAtOnce(Waiting waiting) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                RdmaIoHandler.newFactory(waiting.config, NioIoHandler.newFactory()));
        try (ConnectedPair rdma = new ConnectedPair(group)) {
            Channel listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .childHandler(new Echo()).bind("127.0.0.1", 0).sync().channel();
            ConnectedPair.Recorder tcpEvents = new ConnectedPair.Recorder();
            Channel tcp = new Bootstrap().group(group).channel(NioSocketChannel.class).handler(tcpEvents)
                    .connect(listener.localAddress()).sync().channel();
            for (int i = 0; i < 200; i++) {
                if (i == 100) {
                    rebuildSelector(group);
                }
                // By turns with and without completions that have the loop poll.
                if (i % 2 == 0) {
                    rdma.client.writeAndFlush(Unpooled.copyInt(i));
                    assertThat(rdma.serverEvents.read(4)).containsExactly(0, 0, i >> 8, i);
                }
                tcp.writeAndFlush(Unpooled.copyInt(i));
                assertThat(tcpEvents.read(4)).containsExactly(0, 0, i >> 8, i);
            }
            tcp.close().sync();
            listener.close().sync();
        } finally {
            shutdown(group);
        }
    }

    /** {@code NioIoHandler} takes another selector, as it does when one seems to spin. */
    private static void rebuildSelector(EventLoopGroup group) throws Exception {
        Method rebuild = NioIoHandler.class.getDeclaredMethod("rebuildSelector0");
        rebuild.setAccessible(true);
        IoHandler nio = handlerOf(group).tcpHandler();
        TestTimeouts.sync(group.next().submit(() -> rebuild.invoke(nio)));
    }

    private static RdmaIoHandler handlerOf(EventLoopGroup group) throws Exception {
        Method ioHandler = SingleThreadIoEventLoop.class.getDeclaredMethod("ioHandler");
        ioHandler.setAccessible(true);
        return (RdmaIoHandler) ioHandler.invoke(group.next());
    }

    @Test
    void channelsOfNioAreClosedWithTheirLoop() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1,
                RdmaIoHandler.newFactory(new RdmaIoHandlerConfig(), NioIoHandler.newFactory()));
        Channel datagrams = new Bootstrap().group(group).channel(NioDatagramChannel.class).handler(new Echo())
                .bind("127.0.0.1", 0).sync().channel();
        shutdown(group);
        assertThat(datagrams.isOpen()).isFalse();
    }

    @Test
    void settingsOfAGivenEpollHandlerStay() throws Exception {
        AtomicReference<IoHandler> given = new AtomicReference<>();
        IoHandlerFactory epoll = EpollIoHandler.newFactory(7, DefaultSelectStrategyFactory.INSTANCE);
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(new RdmaIoHandlerConfig(),
                executor -> {
                    given.set(epoll.newHandler(executor));
                    return given.get();
                }));
        try (ConnectedPair rdma = new ConnectedPair(group)) {
            assertThat(handlerOf(group).tcpHandler()).isSameAs(given.get());
            rdma.client.writeAndFlush(Unpooled.copyInt(1));
            assertThat(rdma.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
        } finally {
            shutdown(group);
        }
    }

    @Test
    void handlerOfAnotherClassIsRefused() {
        assertThatThrownBy(() -> new MultiThreadIoEventLoopGroup(1,
                RdmaIoHandler.newFactory(new RdmaIoHandlerConfig(), LocalIoHandler.newFactory())))
                .rootCause().isInstanceOf(IllegalArgumentException.class).hasMessageContaining("LocalIoHandler");
    }

    @ParameterizedTest
    @EnumSource
    void tasksAndTimersRunWhileConnectionsAreIdleOrBusy(Waiting waiting) throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1, waiting.config);
        try (ConnectedPair pair = new ConnectedPair(group)) {
            for (int i = 0; i < 500; i++) {
                CountDownLatch latch = new CountDownLatch(2);
                group.execute(latch::countDown);
                group.schedule(latch::countDown, 1, TimeUnit.MILLISECONDS);
                assertThat(latch.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            // Both at the same time: an endless exchange of messages, and tasks.
            pair.server.pipeline().addFirst(new Echo());
            pair.client.pipeline().addFirst(new Echo());
            pair.client.writeAndFlush(Unpooled.copyInt(1));
            awaitMessages(pair);
            for (int i = 0; i < 500; i++) {
                CountDownLatch latch = new CountDownLatch(1);
                group.execute(latch::countDown);
                assertThat(latch.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            awaitMessages(pair);
        } finally {
            shutdown(group);
        }
    }

    /** Waits until more than the one that the test has sent are on their way. */
    private static void awaitMessages(ConnectedPair pair) throws Exception {
        long before = pair.client.metrics().bytesSentInline();
        TestTimeouts.awaitTrue(() -> pair.client.metrics().bytesSentInline() > before + 2 * Integer.BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, 50 })
    void shutdownClosesChannelsAndReleasesEverything(int quietMillis) throws Exception {
        // A first run makes the objects that the process keeps, such as the device's protection domain.
        EventLoopGroup first = new RdmaEventLoopGroup(1);
        new ConnectedPair(first).close();
        shutdown(first);

        Map<VerbsResource, Integer> before = live();
        EventLoopGroup group = new RdmaEventLoopGroup(2);
        ConnectedPair pair = new ConnectedPair(group);
        pair.client.writeAndFlush(RdmaByteBufAllocator.DEFAULT.buffer().writeZero(100_000)).sync();
        assertThat(live().get(VerbsResource.QUEUE_PAIR)).isEqualTo(before.get(VerbsResource.QUEUE_PAIR) + 2);
        TestTimeouts.await(group.shutdownGracefully(quietMillis,
                TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS), TimeUnit.MILLISECONDS));
        assertThat(pair.client.isOpen()).isFalse();
        assertThat(pair.server.isOpen()).isFalse();
        assertThat(pair.listener.isOpen()).isFalse();
        pair.serverEvents.release();
        Map<VerbsResource, Integer> after = live();
        // Slabs that the first run did not touch may have been registered; those stay too.
        after.remove(VerbsResource.MEMORY_REGION);
        before.remove(VerbsResource.MEMORY_REGION);
        assertThat(after).isEqualTo(before);
    }

    @Test
    void handlerThatThrowsDoesNotEndTheLoop() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        AtomicInteger thrown = new AtomicInteger();
        try (ConnectedPair pair = new ConnectedPair(group); ConnectedPair other = new ConnectedPair(group)) {
            pair.server.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ((ByteBuf) msg).release();
                    thrown.incrementAndGet();
                    throw new AssertionError("on purpose");
                }
            });
            pair.client.writeAndFlush(Unpooled.copyInt(1)).sync();
            assertThat(pair.serverEvents.next()).isInstanceOf(AssertionError.class);
            assertThat(thrown).hasValue(1);
            other.client.writeAndFlush(Unpooled.copyInt(7));
            assertThat(other.serverEvents.read(4)).containsExactly(0, 0, 0, 7);
        } finally {
            shutdown(group);
        }
    }

    @Test
    void isCompatibleWithItsOwnHandlesAndEpolls() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try {
            IoEventLoop loop = (IoEventLoop) group.next();
            assertThat(loop.isCompatible(RdmaIoHandle.class)).isTrue();
            assertThat(loop.isCompatible(EpollIoHandle.class)).isTrue();
            assertThat(loop.isCompatible(IoHandle.class)).isFalse();
            assertThat(loop.isIoType(RdmaIoHandler.class)).isTrue();
        } finally {
            shutdown(group);
        }
    }

    @Test
    void closedLoopRefusesChannels() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        shutdown(group);
        RdmaSocketChannel channel = new RdmaSocketChannel();
        assertThat(group.register(channel).await().isSuccess()).isFalse();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void configurationIsChecked() {
        assertThatThrownBy(() -> new RdmaIoHandlerConfig().setMaxSpinMicros(-1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("maxSpinMicros");
        assertThatThrownBy(() -> new RdmaIoHandlerConfig().setPollBatch(0))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("pollBatch");
    }

    @Test
    void manyConnectionsShareALoopBeyondOneCompletionQueue() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        int count = 40;
        ConnectedPair[] pairs = new ConnectedPair[count];
        try {
            for (int i = 0; i < count; i++) {
                pairs[i] = new ConnectedPair(group, b -> b.childOption(ChannelOption.SO_RCVBUF, 65536),
                        b -> b.option(ChannelOption.SO_RCVBUF, 65536));
            }
            for (int i = 0; i < count; i++) {
                pairs[i].client.writeAndFlush(Unpooled.copyInt(i));
            }
            for (int i = 0; i < count; i++) {
                assertThat(pairs[i].serverEvents.read(4)).containsExactly(0, 0, 0, i);
            }
            for (ConnectedPair pair : pairs) {
                pair.close();
            }
        } finally {
            shutdown(group);
        }
    }

    private static Map<VerbsResource, Integer> live() {
        Map<VerbsResource, Integer> live = new EnumMap<>(VerbsResource.class);
        for (VerbsResource resource : VerbsResource.values()) {
            live.put(resource, resource.live());
        }
        return live;
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg);
        }
    }
}
