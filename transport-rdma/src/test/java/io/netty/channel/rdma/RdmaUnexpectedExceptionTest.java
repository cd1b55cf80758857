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
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.loop.LoopInternals;
import io.netty.channel.rdma.message.RdmaConnectionRequest;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An exception while the event loop does something for one connection: that one fails with it, and no other.
 */
class RdmaUnexpectedExceptionTest {
    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(1);
    @RegisterExtension
    final LoopGroupExtension others = new LoopGroupExtension(1);

    private static final String MESSAGE = "injected";

    /** Places that throw. */
    enum Where {
        /** A completion of the connection is noted. */
        COMPLETION {
            @Override
            void inject(RdmaSocketChannel channel) throws Exception {
                register(channel, new Broken(channel.connection(), this));
            }
        },
        /** Work after completions. */
        COMPLETIONS {
            @Override
            void inject(RdmaSocketChannel channel) throws Exception {
                register(channel, new Broken(channel.connection(), this));
            }
        },
        /** A task that was handed over to the loop. */
        TASK {
            @Override
            void inject(RdmaSocketChannel channel) {
                channel.connection().loop().execute(Where::fail);
            }
        },
        TIMER {
            @Override
            void inject(RdmaSocketChannel channel) throws Exception {
                onLoop(channel, () -> channel.connection().loop().schedule(Where::fail, 1, TimeUnit.MILLISECONDS));
            }
        },
        /** An event of the connection manager. */
        EVENT {
            @Override
            void inject(RdmaSocketChannel channel) throws Exception {
                onLoop(channel, () -> {
                    ConnectionId id = channel.connection().id();
                    channel.handler().events(id.verbs()).listen(id, new LoopEvents.Listener() {
                        @Override
                        public void connectionEvent(ConnectionEvent event) {
                            fail();
                        }

                        @Override
                        public void unexpected(Throwable cause) {
                            channel.connection().unexpected(cause);
                        }
                    });
                    return null;
                });
            }
        },
        /** The application's allocator, in the middle of the read loop, and each time again. */
        READING {
            @Override
            void inject(RdmaSocketChannel channel) {
                channel.config().setRecvByteBufAllocator(new BrokenAllocator());
            }
        };

        abstract void inject(RdmaSocketChannel channel) throws Exception;

        static void fail() {
            throw new IllegalStateException(MESSAGE);
        }

        private static void register(RdmaSocketChannel channel, CompletionHandler handler) throws Exception {
            onLoop(channel, () -> {
                LoopInternals.device(channel.handler()).register(channel.connection().info().number(), handler);
                return null;
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void failsTheConnectionAlone(Where where) throws Exception {
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        try (ConnectedPair other = new ConnectedPair(loops.group());
             ConnectedPair pair = new ConnectedPair(loops.group(), others.group(), b -> { }, b -> { })) {
            where.inject(pair.server);
            provoke(where, pair);
            assertFailure(pair.serverEvents.next());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.server.isOpen()).isFalse();
            // The failure is a reset for the peer.
            TestTimeouts.sync(pair.client.closeFuture());

            other.client.writeAndFlush(Unpooled.copyInt(1));
            assertThat(other.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
            new ConnectedPair(loops.group()).close();
        }
        TestTimeouts.awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs);
    }

    @ParameterizedTest
    @EnumSource
    void failsPendingWritesWithIt(Where where) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group(), others.group(), b -> { },
                b -> b.option(ChannelOption.AUTO_READ, false))) {
            ChannelFuture flushed = pair.server.writeAndFlush(Unpooled.wrappedBuffer(new byte[8 << 20]));
            ChannelFuture unflushed = pair.server.write(Unpooled.copyInt(2));
            where.inject(pair.server);
            provoke(where, pair);
            assertFailure(TestTimeouts.await(flushed).cause());
            assertFailure(TestTimeouts.await(unflushed).cause().getCause());
            TestTimeouts.sync(pair.server.closeFuture());
        }
    }

    @Test
    void failsAConnectionThatIsOnAnotherLoopThanItsCompletions() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group())) {
            Reregistration.move(pair.server, others.group());
            Where.READING.inject(pair.server);
            provoke(Where.READING, pair);
            assertFailure(pair.serverEvents.next());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    /** The failure repeats, so the connection needs another way to its end. */
    @Test
    void failsTheConnectionIfItsEndThrows() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group())) {
            Where.READING.inject(pair.server);
            Where.TASK.inject(pair.server);
            assertFailure(pair.serverEvents.next());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            TestTimeouts.sync(pair.client.closeFuture());
        }
    }

    @Test
    void listenerGoesOn() throws Exception {
        BlockingQueue<Throwable> exceptions = new LinkedBlockingQueue<>();
        ConnectedPair.Recorder events = new ConnectedPair.Recorder();
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(loops.group())
                .channel(RdmaServerSocketChannel.class).option(ChannelOption.RECVBUF_ALLOCATOR, new BrokenAllocator())
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        exceptions.add(cause);
                    }
                }).childHandler(events).bind(TestAddress.anyPort())).channel();
        Bootstrap client = new Bootstrap().group(others.group()).channel(RdmaSocketChannel.class)
                .handler(new ConnectedPair.Recorder());
        ChannelFuture connect = client.connect(listener.localAddress());
        assertThat(TestTimeouts.take(exceptions, "an exception")).hasMessage(MESSAGE);
        listener.config().setRecvByteBufAllocator(new FixedRecvByteBufAllocator(1024));
        listener.read();
        TestTimeouts.sync(connect);
        assertThat(events.next()).isEqualTo("active");
        TestTimeouts.sync(connect.channel().close());
        TestTimeouts.sync(events.channel().closeFuture());
        TestTimeouts.sync(listener.close());
    }

    /** The connection manager only says that the broken queue pair can't be connected. */
    @Test
    void attemptToConnectFailsWithWhatBrokeItsQueuePair() throws Exception {
        BlockingQueue<RdmaConnectionRequest> requests = new LinkedBlockingQueue<>();
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(others.group())
                .channel(RdmaServerMessageChannel.class).childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        requests.add((RdmaConnectionRequest) event);
                    }
                }).bind(TestAddress.anyPort())).channel();
        ChannelFuture connect = new Bootstrap().group(loops.group()).channel(RdmaSocketChannel.class)
                .handler(new ConnectedPair.Recorder()).connect(listener.localAddress());
        RdmaConnectionRequest request = TestTimeouts.take(requests, "a request");
        onLoop(connect.channel(), () -> {
            LoopHandler handler = ((RdmaSocketChannel) connect.channel()).handler();
            LoopInternals.fail(handler, new IOException(MESSAGE));
            request.accept();
            // In one task, so that the loop sees no completions in between, which would be another way to the end.
            TestTimeouts.awaitTrue(() -> {
                process(handler);
                return connect.isDone();
            });
            return null;
        });
        assertThat(connect.cause()).hasMessageContaining(MESSAGE);
        TestTimeouts.sync(connect.channel().close());
        TestTimeouts.sync(listener.close());
    }

    private static void process(LoopHandler handler) {
        try {
            LoopInternals.process(handler);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Something happens to the connection. */
    private static void provoke(Where where, ConnectedPair pair) {
        if (where == Where.EVENT) {
            pair.client.config().setSoLinger(0);
            pair.client.close();
        } else if (where != Where.TASK && where != Where.TIMER) {
            pair.client.writeAndFlush(Unpooled.copyInt(3));
        }
    }

    private static void assertFailure(Object event) {
        assertThat(event).isInstanceOfSatisfying(IOException.class, e ->
                assertThat(e).hasMessageContaining(MESSAGE).hasCauseInstanceOf(IllegalStateException.class));
    }

    private static <T> T onLoop(Channel channel, Callable<T> task) throws Exception {
        Future<T> future = channel.eventLoop().submit(task);
        return TestTimeouts.sync(future).getNow();
    }

    /** Throws in the first step or in the second one. */
    private static final class Broken extends DelegatingHandler {
        private final Where where;

        Broken(RdmaConnection connection, Where where) {
            super(connection);
            this.where = where;
        }

        @Override
        public void completed(WorkCompletions completions, int index) {
            if (where == Where.COMPLETION) {
                Where.fail();
            }
            super.completed(completions, index);
        }

        @Override
        public void completionsDone() {
            if (where == Where.COMPLETIONS) {
                Where.fail();
            }
            super.completionsDone();
        }
    }

    private static final class BrokenAllocator extends FixedRecvByteBufAllocator {
        BrokenAllocator() {
            super(1024);
        }

        @Override
        @SuppressWarnings("deprecation")
        public Handle newHandle() {
            throw new IllegalStateException(MESSAGE);
        }
    }
}
