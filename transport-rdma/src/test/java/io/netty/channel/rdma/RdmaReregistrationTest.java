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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.Reregistration.deregister;
import static io.netty.channel.rdma.Reregistration.move;
import static io.netty.channel.rdma.Reregistration.register;
import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.shutdown;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A connected channel is deregistered and registered with another event loop.
 */
@Tag("platforms")
class RdmaReregistrationTest {
    private EventLoopGroup first;
    private EventLoopGroup second;
    private EventLoopGroup third;
    private ConnectedPair pair;

    @BeforeEach
    void connect() throws Exception {
        first = new RdmaEventLoopGroup(1);
        second = new RdmaEventLoopGroup(1);
        third = new RdmaEventLoopGroup(1);
        pair = new ConnectedPair(first);
    }

    @AfterEach
    void close() throws InterruptedException {
        pair.close();
        shutdown(first);
        shutdown(second);
        shutdown(third);
    }

    @Test
    void bytesFlowBothWaysOnTheNewLoop() throws Exception {
        LoopChecker checker = new LoopChecker();
        pair.server.pipeline().addFirst(checker);
        exchange(1);
        move(pair.server, second);
        checker.expected = pair.server.eventLoop();
        exchange(2);
        move(pair.client, third);
        exchange(3);
        assertThat(checker.wrong).isNull();
        assertThat(pair.server.isActive()).isTrue();
        assertThat(pair.serverEvents.hasBytes()).isFalse();
    }

    @Test
    void returnsToItsFirstLoop() throws Exception {
        EventLoop home = pair.server.eventLoop();
        move(pair.server, second);
        exchange(1);
        move(pair.server, third);
        exchange(2);
        move(pair.server, home);
        exchange(3);
        assertThat(pair.server.eventLoop()).isSameAs(home);
    }

    @Test
    void registersAgainWithTheSameLoop() throws Exception {
        EventLoop home = pair.server.eventLoop();
        deregister(pair.server);
        pair.client.writeAndFlush(Unpooled.copyInt(1)).sync();
        register(pair.server, home);
        assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
        exchange(2);
    }

    @Test
    void whatHappensBetweenTwoLoopsWaits() throws Exception {
        deregister(pair.server);
        pair.client.writeAndFlush(Unpooled.copyInt(1)).sync();
        pair.client.shutdownOutput().sync();
        assertThat(pair.serverEvents.hasBytes()).isFalse();
        register(pair.server, second.next());
        assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
        assertThat(pair.serverEvents.next()).isEqualTo("inactive");
    }

    @Test
    void writesInFlightAreCompletedOnTheNewLoop() throws Exception {
        pair.client.config().setAutoRead(false);
        int size = 8 * pair.client.config().getReceiveBufferSize();
        ByteBuf message = RdmaByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size);
        ChannelFuture written = pair.server.writeAndFlush(message);
        awaitTrue(() -> pair.server.metrics().bytesSentInPlace() + pair.server.metrics().bytesSentCopied() > 0);
        move(pair.server, second);
        assertThat(written.isDone()).isFalse();
        pair.client.config().setAutoRead(true);
        for (int read = 0; read < size;) {
            ByteBuf buf = pair.clientEvents.nextBuffer();
            read += buf.readableBytes();
            buf.release();
        }
        TestTimeouts.sync(written);
    }

    /** A stream in both directions, while both ends move from loop to loop. */
    @Test
    void orderSurvivesManyMoves() throws Exception {
        int total = 4_000_000;
        Sequence received = new Sequence();
        pair.client.pipeline().addFirst(received);
        pair.server.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ctx.writeAndFlush(msg);
            }
        });
        EventLoop[] loops = { second.next(), third.next(), first.next() };
        int moves = 0;
        for (int sent = 0; sent < total;) {
            for (int i = 0; i < 8; i++) {
                int length = Math.min(1 + (sent * 7919 & 0x3fff), total - sent);
                pair.client.writeAndFlush(sequence(sent, length));
                sent += length;
            }
            deregister(pair.server);
            register(pair.server, loops[moves % 3]);
            if (moves % 2 == 0) {
                move(pair.client, loops[(moves + 1) % 3]);
            }
            moves++;
        }
        awaitTrue(() -> received.count == total || received.failure != null);
        assertThat(received.failure).isNull();
    }

    /**
     * A channel that shares its receives takes all completions that there are, of whomever, before it gives its queue
     * pair back. Meanwhile its loop was busy.
     */
    @Test
    void anyNumberOfCompletionsAtATimeFollowTheChannel() throws Exception {
        int messages = 200;
        CountDownLatch asked = new CountDownLatch(1);
        Channel neverAnswers = new ServerBootstrap().group(third).channel(RdmaServerMessageChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        asked.countDown();
                    }
                }).bind(TestAddress.anyPort()).sync().channel();
        try (ConnectedPair moved = new ConnectedPair(first, third, b -> { }, b -> { })) {
            move(moved.server, second);
            ChannelFuture connect = new Bootstrap().group(first).channel(RdmaMessageChannel.class)
                    .option(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true)
                    .handler(new ChannelInboundHandlerAdapter()).connect(neverAnswers.localAddress());
            assertThat(asked.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            CountDownLatch arrived = new CountDownLatch(1);
            Future<?> drained = first.submit(() -> {
                arrived.await();
                connect.channel().close();
                return null;
            });
            ChannelFuture last = null;
            for (int i = 0; i < messages; i++) {
                last = moved.client.writeAndFlush(Unpooled.copyInt(i));
            }
            TestTimeouts.sync(last);
            arrived.countDown();
            TestTimeouts.sync(drained);
            for (int i = 0; i < messages; i++) {
                assertThat(ByteBuffer.wrap(moved.serverEvents.read(4)).getInt()).isEqualTo(i);
            }
        }
        TestTimeouts.sync(neverAnswers.close());
    }

    enum End {
        HERE, PEER, PEER_RESETS
    }

    @ParameterizedTest
    @EnumSource
    void endsAsOnAnyLoop(End end) throws Exception {
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        int ids = VerbsResource.CONNECTION_ID.live();
        move(pair.server, second);
        exchange(1);
        switch (end) {
        case HERE:
            pair.server.close().sync();
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            break;
        case PEER:
            pair.client.close().sync();
            break;
        default:
            pair.client.config().setOption(ChannelOption.SO_LINGER, 0);
            pair.client.close().sync();
            assertThat(pair.serverEvents.next()).isInstanceOf(IOException.class);
        }
        assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs - 2);
        awaitTrue(() -> VerbsResource.CONNECTION_ID.live() == ids - 2);
    }

    @Test
    void goesOnWhenItsFirstLoopEnds() throws Exception {
        ConnectedPair other = new ConnectedPair(second);
        move(other.server, third);
        move(pair.server, third);
        // One that comes to where its completions will be handled, and one that does not.
        move(pair.client, second);
        pair.listener.close().sync();
        shutdown(first);
        exchange(1);
        move(pair.server, second);
        exchange(2);
        other.client.writeAndFlush(Unpooled.copyInt(7));
        assertThat(other.serverEvents.read(4)).containsExactly(0, 0, 0, 7);
        other.close();
        first = new RdmaEventLoopGroup(1);
    }

    @Test
    void isClosedWhenItsNewLoopEnds() throws Exception {
        move(pair.server, second);
        exchange(1);
        shutdown(second);
        assertThat(pair.server.isOpen()).isFalse();
        TestTimeouts.await(pair.client.closeFuture());
        new ConnectedPair(first).close();
    }

    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void allLoopsEndAtOnce(boolean crossed) throws Exception {
        ConnectedPair other = new ConnectedPair(second);
        move(pair.server, second);
        if (crossed) {
            move(other.server, first);
        }
        Future<?> end = first.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        shutdown(second);
        TestTimeouts.await(end);
        assertThat(pair.server.isOpen()).isFalse();
        assertThat(other.server.isOpen()).isFalse();
        other.clientEvents.release();
        other.serverEvents.release();
    }

    @Test
    void whatALoopHasInCommonWithOneThatEndsSlowlyIsGivenBackByThatOne() throws Exception {
        pair.listener.close().sync();
        // The pair's queue pairs are the first of their loop.
        int queuePairs = VerbsResource.QUEUE_PAIR.live() - 2;
        int queues = VerbsResource.COMPLETION_QUEUE.live() - 1;
        int channels = VerbsResource.COMPLETION_CHANNEL.live() - 1;
        SlowEnd slowEnd = new SlowEnd();
        EventLoopGroup slow = new MultiThreadIoEventLoopGroup(1, slowEnd);
        move(pair.server, slow);
        exchange(1);
        Future<?> end = slow.shutdownGracefully(0, 5, TimeUnit.SECONDS);
        slowEnd.reached.await();
        shutdown(first);
        assertThat(end.isDone()).isFalse();
        slowEnd.goOn.countDown();
        TestTimeouts.await(end);
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs);
        assertThat(VerbsResource.COMPLETION_QUEUE.live()).isEqualTo(queues);
        assertThat(VerbsResource.COMPLETION_CHANNEL.live()).isEqualTo(channels);
        assertThat(pair.server.isOpen()).isFalse();
    }

    @Test
    void endsWithTheLoopThatItLeftIfItIsOnNoOther() throws Exception {
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        deregister(pair.server);
        shutdown(first);
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs - 2);
        assertThat(second.register(pair.server).await().isSuccess()).isFalse();
        assertThat(pair.server.isOpen()).isFalse();
    }

    @Test
    void isClosedIfTheOtherLoopDoesNotTakeIt() throws Exception {
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        shutdown(second);
        deregister(pair.server);
        assertThat(second.register(pair.server).await().isSuccess()).isFalse();
        assertThat(pair.server.isOpen()).isFalse();
        TestTimeouts.await(pair.client.closeFuture());
        awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs - 2);
    }

    /** A loop that does nothing until it is released. */
    private static final class Held {
        private final CountDownLatch goOn = new CountDownLatch(1);

        Held(EventLoop loop) throws InterruptedException {
            CountDownLatch begun = new CountDownLatch(1);
            loop.execute(() -> {
                begun.countDown();
                try {
                    // Bounded, should the test fail.
                    goOn.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            begun.await();
        }

        void release() {
            goOn.countDown();
        }
    }

    /** Writes more than the peer has room for, which does not read. */
    private ChannelFuture writeUntilStalled() throws InterruptedException {
        pair.client.config().setAutoRead(false);
        int size = 8 * pair.client.config().getReceiveBufferSize();
        ChannelFuture written = pair.server.writeAndFlush(
                RdmaByteBufAllocator.DEFAULT.directBuffer(size).writeZero(size));
        awaitTrue(() -> pair.server.metrics().bytesSentInPlace() + pair.server.metrics().bytesSentCopied() > 0);
        return written;
    }

    @Test
    void aCloseThatWaitsComesBeforeADeregistration() throws Exception {
        ChannelFuture written = writeUntilStalled();
        // Without it a close waits for 3 s, which may be too short for all of that.
        pair.server.config().setSoLinger((int) TestTimeouts.SECONDS);
        ChannelFuture closed = pair.server.close();
        ChannelFuture deregistered = pair.server.deregister();
        pair.server.eventLoop().submit(() -> { }).sync();
        assertThat(deregistered.isDone()).isFalse();
        pair.client.config().setAutoRead(true);
        TestTimeouts.sync(written);
        TestTimeouts.sync(closed);
        assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        TestTimeouts.sync(deregistered);
        assertThat(pair.server.isRegistered()).isFalse();
    }

    /** Both on the loop, so that the deregistration is under way. */
    @Test
    void aCloseDoesNotWaitForWhatADeregisteredChannelIsNotTold() throws Exception {
        ChannelFuture written = writeUntilStalled();
        // Longer than this test waits, if the close does.
        pair.server.config().setSoLinger(10 * (int) TestTimeouts.SECONDS);
        pair.server.eventLoop().submit(() -> {
            pair.server.deregister();
            pair.server.close();
        }).sync();
        TestTimeouts.await(pair.server.closeFuture());
        TestTimeouts.await(written);
    }

    /**
     * The close comes before the deregistration takes effect, as when an SslHandler's last write arrives between the
     * two. With Netty's channels it is not told then.
     */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void aCloseBesideADeregistrationIsToldOnce(boolean closeFirst) throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        pair.server.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
                ctx.fireChannelInactive();
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
                ctx.fireChannelUnregistered();
            }
        });
        pair.server.eventLoop().submit(() -> {
            if (closeFirst) {
                pair.server.close();
            }
            pair.server.deregister();
            pair.server.close();
        }).sync();
        pair.server.eventLoop().submit(() -> { }).sync();
        assertThat(events).containsExactly("inactive", "unregistered");
    }

    @Test
    void aDeregisteredChannelIsClosed() throws Exception {
        ChannelFuture written = writeUntilStalled();
        deregister(pair.server);
        TestTimeouts.sync(pair.server.close());
        TestTimeouts.await(written);
        pair.client.config().setAutoRead(true);
        TestTimeouts.await(pair.client.closeFuture());
    }

    /** The device may use the memory of the writes until the connection is closed, which takes a loop. */
    @Test
    void aCloseOnTheWayToAnotherLoopComesWithTheArrival() throws Exception {
        ChannelFuture written = writeUntilStalled();
        deregister(pair.server);
        Held held = new Held(pair.server.eventLoop());
        ChannelFuture registered = second.register(pair.server);
        ChannelFuture closed = pair.server.close();
        pair.server.eventLoop().submit(() -> { }).sync();
        assertThat(written.isDone()).isFalse();
        held.release();
        TestTimeouts.sync(registered);
        TestTimeouts.sync(closed);
        TestTimeouts.await(written);
        assertThat(pair.serverEvents.next()).isEqualTo("inactive");
    }

    @Test
    void aShutdownOnTheWayToAnotherLoopComesAfterTheArrival() throws Exception {
        deregister(pair.server);
        Held held = new Held(pair.server.eventLoop());
        second.register(pair.server);
        ChannelFuture output = pair.server.shutdownOutput();
        ChannelFuture input = pair.server.shutdownInput();
        pair.server.eventLoop().submit(() -> { }).sync();
        assertThat(output.isDone()).isFalse();
        assertThat(input.isDone()).isFalse();
        held.release();
        TestTimeouts.sync(output);
        TestTimeouts.sync(input);
        assertThat(pair.clientEvents.next()).isEqualTo("inactive");
    }

    @Test
    void writesOfAChannelThatNoLoopTakesFailWhenTheConnectionIsClosed() throws Exception {
        ChannelFuture written = writeUntilStalled();
        deregister(pair.server);
        EventLoopGroup refusing = new MultiThreadIoEventLoopGroup(1, new Refusing());
        Held held = new Held(pair.server.eventLoop());
        assertThat(refusing.register(pair.server).await().isSuccess()).isFalse();
        pair.server.close();
        pair.server.eventLoop().submit(() -> { }).sync();
        assertThat(written.isDone()).isFalse();
        held.release();
        TestTimeouts.await(written);
        assertThat(written.isSuccess()).isFalse();
        shutdown(refusing);
    }

    @Test
    void loopThatPollsForAnotherIsNotSuspended() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        EventLoopGroup homes = new RdmaEventLoopGroup(1, new DefaultThreadFactory("home") {
            @Override
            public Thread newThread(Runnable task) {
                threads.add(super.newThread(task));
                return threads.get(threads.size() - 1);
            }
        }, new RdmaIoHandlerConfig());
        ConnectedPair moved = new ConnectedPair(homes);
        try {
            SingleThreadEventExecutor home = (SingleThreadEventExecutor) moved.server.eventLoop();
            move(moved.server, second);
            move(moved.client, second);
            TestTimeouts.sync(moved.listener.close());
            // As AutoScalingEventExecutorChooserFactory does.
            assertThat(home.trySuspend()).isTrue();
            for (int i = 0; i < 30; i++) {
                moved.client.writeAndFlush(Unpooled.copyInt(i));
                assertThat(moved.serverEvents.read(4)).containsExactly(0, 0, 0, i);
            }
            assertThat(home.isSuspended()).isTrue();
            assertThat(threads).singleElement().matches(Thread::isAlive);
            moved.close();
            awaitTrue(() -> !threads.get(0).isAlive());
        } finally {
            moved.close();
            shutdown(homes);
        }
    }

    private void exchange(int value) throws InterruptedException {
        pair.client.writeAndFlush(Unpooled.copyInt(value));
        assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, value);
        pair.server.writeAndFlush(Unpooled.copyInt(value));
        assertThat(pair.clientEvents.read(4)).containsExactly(0, 0, 0, value);
    }

    private static ByteBuf sequence(int from, int length) {
        return RdmaByteBufAllocator.DEFAULT.directBuffer(length).writeBytes(bytes(from, length));
    }

    private static byte[] bytes(int from, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) ((from + i) * 31 >> 5);
        }
        return bytes;
    }

    private static class WrappedHandler implements IoHandler {
        private final IoHandler handler;

        WrappedHandler(ThreadAwareExecutor executor) {
            handler = RdmaIoHandler.newFactory().newHandler(executor);
        }

        @Override
        public void initialize() {
            handler.initialize();
        }

        @Override
        public int run(IoHandlerContext context) {
            return handler.run(context);
        }

        @Override
        public void destroy() {
            handler.destroy();
        }

        @Override
        public IoRegistration register(IoHandle handle) throws Exception {
            return handler.register(handle);
        }

        @Override
        public void wakeup() {
            handler.wakeup();
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return handler.isCompatible(type);
        }
    }

    /** Handlers that close their channels, and end, only when they may. */
    private static final class SlowEnd implements IoHandlerFactory {
        final CountDownLatch reached = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            return new WrappedHandler(executor) {
                @Override
                public void destroy() {
                    reached.countDown();
                    try {
                        goOn.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                    super.destroy();
                }
            };
        }
    }

    /** Handlers that take no channel. */
    private static final class Refusing implements IoHandlerFactory {
        @Override
        public IoHandler newHandler(ThreadAwareExecutor executor) {
            return new WrappedHandler(executor) {
                @Override
                public IoRegistration register(IoHandle handle) throws IOException {
                    throw new IOException("no room");
                }
            };
        }
    }

    private static final class LoopChecker extends ChannelInboundHandlerAdapter {
        private volatile EventLoop expected;
        private volatile Thread wrong;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (expected != null && !expected.inEventLoop()) {
                wrong = Thread.currentThread();
            }
            ctx.fireChannelRead(msg);
        }
    }

    /** Checks what arrives against {@link #sequence}. */
    private static final class Sequence extends ChannelInboundHandlerAdapter {
        private volatile int count;
        private volatile String failure;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            byte[] actual = ByteBufUtil.getBytes(buf);
            buf.release();
            if (!Arrays.equals(actual, bytes(count, actual.length))) {
                failure = "other bytes from " + count + " on";
            }
            count += actual.length;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause.toString();
        }
    }
}
