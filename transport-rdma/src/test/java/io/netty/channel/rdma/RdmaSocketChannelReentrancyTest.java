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
import io.netty.channel.rdma.connection.ConnectionInternals;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopInternals;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Allowed calls: from inside of other calls, before the connection is made, and after its end was requested.
 */
@Tag("iwarp-all")
@Tag("rxe-quick")
class RdmaSocketChannelReentrancyTest {
    /** One loop, so that channels meet on it. */
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    @RegisterExtension
    static final LoopGroupExtension OTHER_LOOPS = new LoopGroupExtension(1);

    @Test
    void listenerOfOneChannelsFlushMayFlushAnother() throws Exception {
        try (ConnectedPair one = new ConnectedPair(LOOPS.group());
             ConnectedPair other = new ConnectedPair(LOOPS.group())) {
            // An empty message is complete as soon as it is looked at, in the middle of the flush.
            one.client.write(Unpooled.EMPTY_BUFFER).addListener(future ->
                    other.client.writeAndFlush(Unpooled.copyInt(7)));
            one.client.flush();
            assertThat(other.serverEvents.read(4)).containsExactly(0, 0, 0, 7);
        }
    }

    /** As what the completions of other connections lead to may do. */
    @Test
    void moreMayBeSentBetweenCompletionsAndWhatFollowsFromThem() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(OTHER_LOOPS.group(), LOOPS.group(), b -> { },
                // So that each flush has a completion.
                b -> b.option(RdmaChannelOption.SEND_QUEUE_DEPTH, 16).option(RdmaChannelOption.MAX_INLINE, 0))) {
            RdmaConnection connection = pair.client.connection();
            int queuePair = connection.info().number();
            AtomicInteger sent = new AtomicInteger();
            Runnable sendSome = () -> {
                for (int i = 0; i < 16 && sent.get() < 2000; i++) {
                    pair.client.writeAndFlush(Unpooled.copyInt(sent.getAndIncrement()));
                }
            };
            CompletionHandler sending = new DelegatingHandler(connection) {
                @Override
                public void completed(WorkCompletions completions, int index) {
                    super.completed(completions, index);
                    sendSome.run();
                }
            };
            sync(pair.client.eventLoop().submit(() -> {
                LoopInternals.device(pair.client.handler()).register(queuePair, sending);
                sendSome.run();
            }));
            for (int i = 0; i < 2000; i++) {
                assertThat(pair.serverEvents.read(4)).isEqualTo(Unpooled.copyInt(i).array());
            }
        }
    }

    @Test
    void flushOfNothingByAListenerLeavesNothingThatACloseWaitsFor() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            // The second one is in flight, and in the middle of the completion of both it can't be told that it is.
            pair.client.write(pair.client.alloc().directBuffer().writeZero(1000))
                    .addListener(future -> pair.client.flush());
            sync(pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeZero(1000)));
            assertThat(pair.client.eventLoop().submit(() -> pair.client.connection().sendPath().isSending()).get())
                    .isFalse();
        }
    }

    /** As a close does when the connection is broken. */
    @Test
    void listenerMayEndTheConnectionInTheMiddleOfCompletions() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            // Exceptions of listeners are only logged.
            AtomicBoolean ended = new AtomicBoolean();
            sync(pair.client.eventLoop().submit(() -> {
                RdmaConnection connection = pair.client.connection();
                pair.client.write(pair.client.alloc().directBuffer().writeZero(1000)).addListener(done -> {
                    ConnectionInternals.destroyOutbound(connection);
                    ended.set(true);
                });
                pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeZero(1000));
                ConnectionInternals.complete(connection, 0);
            }));
            assertThat(ended).isTrue();
        }
    }

    @Test
    void bytesFlushedWhileConnectingAreSentOnceConnected() throws Exception {
        ConnectedPair.Recorder serverEvents = new ConnectedPair.Recorder();
        Channel listener = new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(serverEvents).bind(TestAddress.anyPort()).sync().channel();
        try {
            AtomicReference<ChannelFuture> write = new AtomicReference<>();
            Bootstrap bootstrap = new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter());
            Channel client = bootstrap.register().sync().channel();
            sync(client.eventLoop().submit(() -> {
                client.connect(listener.localAddress());
                write.set(client.writeAndFlush(Unpooled.copyInt(8)));
            }));
            sync(write.get());
            assertThat(serverEvents.read(4)).containsExactly(0, 0, 0, 8);
            sync(client.close());
        } finally {
            sync(listener.close());
        }
    }

    @Test
    void nothingIsAcceptedAfterCloseWhileTheRestIsSent() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            AtomicReference<ChannelFuture> early = new AtomicReference<>();
            AtomicReference<ChannelFuture> late = new AtomicReference<>();
            sync(pair.client.eventLoop().submit(() -> {
                early.set(pair.client.writeAndFlush(Unpooled.copyInt(1)));
                pair.client.close();
                late.set(pair.client.writeAndFlush(Unpooled.copyInt(2)));
            }));
            sync(early.get());
            TestTimeouts.await(late.get());
            assertThat(late.get().cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
            assertThat(pair.serverEvents.hasBytes()).isFalse();
        }
    }

    @Test
    void nothingIsAcceptedAfterShutdownOfOutputWhileTheRestIsSent() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                b -> b.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true), b -> { })) {
            AtomicReference<ChannelFuture> first = new AtomicReference<>();
            AtomicReference<ChannelFuture> second = new AtomicReference<>();
            AtomicReference<ChannelFuture> late = new AtomicReference<>();
            sync(pair.client.eventLoop().submit(() -> {
                pair.client.writeAndFlush(Unpooled.copyInt(1));
                first.set(pair.client.shutdownOutput());
                late.set(pair.client.writeAndFlush(Unpooled.copyInt(2)));
                second.set(pair.client.shutdownOutput());
            }));
            sync(first.get());
            TestTimeouts.await(late.get());
            assertThat(late.get().cause()).isInstanceOf(ClosedChannelException.class);
            TestTimeouts.await(second.get());
            assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
        }
    }

    /** The end is not read yet, which must not hide from the application that nobody takes what it writes. */
    @Test
    void failedWriteInTheReadBeforeTheEndClosesTheChannelAtTheEnd() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), OTHER_LOOPS.group(), b -> { },
                b -> b.option(ChannelOption.ALLOW_HALF_CLOSURE, true))) {
            AtomicReference<ChannelFuture> write = new AtomicReference<>();
            pair.client.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    write.compareAndSet(null, ctx.writeAndFlush(Unpooled.copyInt(2)));
                    ctx.fireChannelRead(msg);
                }
            });
            // The read finds the bytes and the end at once: the server's queue pair is given back when both have
            // arrived.
            CountDownLatch begun = new CountDownLatch(1);
            Future<?> busy = pair.client.eventLoop().submit(() -> {
                begun.countDown();
                RdmaConnection connection = pair.server.connection();
                TestTimeouts.awaitTrue(() ->
                        pair.server.eventLoop().submit(connection::isDestroyed).awaitUninterruptibly().getNow());
                return null;
            });
            assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            pair.server.writeAndFlush(Unpooled.copyInt(1));
            pair.server.close();
            sync(busy);
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            assertThat(pair.clientEvents.read(4)).containsExactly(0, 0, 0, 1);
            assertThat(write.get().cause()).isInstanceOf(IOException.class).hasMessageContaining("reset by peer");
        }
    }
}
