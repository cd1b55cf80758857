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
package io.netty.channel.rdma.message;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaIoHandlerConfig;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Channels that take their receives from one queue of their event loop.
 */
@Tag("quick")
class RdmaMessageSharedReceiveTest {
    /** Loops of the clients, which share nothing unless a test says so. */
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(1);

    private static final int FIRST_RECEIVES = 64;

    /** Group of the server. */
    private RdmaEventLoopGroup group;
    private Channel listener;
    private final BlockingQueue<Recorder> accepted = new LinkedBlockingQueue<>();
    private final List<Recorder> recorders = new ArrayList<>();
    private final List<Channel> clients = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (Channel client : clients) {
            TestTimeouts.sync(client.close());
        }
        for (Recorder recorder : recorders) {
            close(recorder.channel());
        }
        close(listener);
        recorders.forEach(Recorder::release);
        // The last channel gives them back.
        TestTimeouts.awaitTrue(() -> RdmaMetrics.sharedReceives() == 0);
        TestTimeouts.shutdown(group);
    }

    private static void close(Channel channel) throws Exception {
        // The channel's loop may have ended.
        if (channel.isOpen()) {
            channel.close();
        }
        TestTimeouts.sync(channel.closeFuture());
    }

    private void listen(int depth, Consumer<ServerBootstrap> options) throws Exception {
        group = new RdmaEventLoopGroup(1, new RdmaIoHandlerConfig().setSharedReceiveQueueDepth(depth));
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).channel(RdmaServerMessageChannel.class)
                .childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        Recorder recorder = new Recorder();
                        channel.pipeline().addLast(recorder);
                        accepted.add(recorder);
                    }
                });
        options.accept(bootstrap);
        listener = TestTimeouts.sync(bootstrap.bind(TestAddress.anyPort())).channel();
    }

    private static Bootstrap client() {
        return MessagePair.connecting(loops.group(), new Recorder());
    }

    private Channel connect(Bootstrap bootstrap) throws Exception {
        Channel client = TestTimeouts.sync(bootstrap.connect(listener.localAddress())).channel();
        clients.add(client);
        return client;
    }

    private Channel connect() throws Exception {
        return connect(client());
    }

    /** The server's end of the client that was connected last. */
    private Recorder server() throws Exception {
        Recorder recorder = TestTimeouts.take(accepted, "a connection");
        recorders.add(recorder);
        assertThat(recorder.next()).isEqualTo("active");
        return recorder;
    }

    private static ByteBuf number(Channel channel, int number) {
        return channel.alloc().buffer(4).writeInt(number);
    }

    private static void assertNumbers(Recorder recorder, int from, int to) throws Exception {
        for (int i = from; i < to; i++) {
            RdmaReceive message = recorder.message();
            assertThat(message.content().readInt()).isEqualTo(i);
            assertThat(message.hasImmediate()).isFalse();
            message.release();
        }
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    /** Keeps the loop of the channel busy, from now until the latch is counted down. */
    private static CountDownLatch block(Recorder recorder) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        recorder.channel().eventLoop().execute(() -> {
            begun.countDown();
            try {
                assertThat(released.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(begun.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        return released;
    }

    @Test
    void eachChannelGetsItsMessagesInOrderAndTheMemoryDoesNotGrowWithTheChannels() throws Exception {
        listen(FIRST_RECEIVES, server -> { });
        int channels = 20;
        List<Recorder> servers = new ArrayList<>();
        for (int i = 0; i < channels; i++) {
            connect();
            servers.add(server());
            assertThat(RdmaMetrics.sharedReceives()).isEqualTo(FIRST_RECEIVES);
        }
        int count = 200;
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            for (int c = 0; c < channels; c++) {
                futures.add(clients.get(c).writeAndFlush(number(clients.get(c), 1000 * c + i)));
            }
        }
        for (int c = 0; c < channels; c++) {
            assertNumbers(servers.get(c), 1000 * c, 1000 * c + count);
        }
        for (ChannelFuture future : futures) {
            TestTimeouts.sync(future);
        }
        MessagePair.write(servers.get(7).channel(), text("answer"));
        assertThat(((Recorder) clients.get(7).pipeline().last()).text()).isEqualTo("answer");
    }

    @Test
    void immediateDataAndWritesUseSharedReceivesAsWell() throws Exception {
        listen(16, server -> { });
        Channel client = connect();
        Recorder server = server();
        try (RegisteredMemory memory = RegisteredMemory.allocate(8, EnumSet.allOf(RdmaPermission.class))) {
            RemoteMemory remote = ((RdmaMessageChannel) server.channel()).export(memory);
            for (int i = 0; i < 100; i++) {
                MessagePair.write(client, new RdmaWriteImm(number(client, i), remote, 4, i));
                RdmaReceive message = server.message();
                assertThat(message.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
                assertThat(message.immediate()).isEqualTo(i);
                assertThat(message.length()).isEqualTo(4);
                message.release();
                assertThat(memory.buf().getInt(4)).isEqualTo(i);
                MessagePair.write(client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, -i));
                message = server.message();
                assertThat(message.immediate()).isEqualTo(-i);
                message.release();
            }
        }
    }

    @Test
    void receivesWithoutBuffersTakeImmediateData() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 0));
        Channel client = connect();
        Recorder server = server();
        for (int i = 0; i < 100; i++) {
            MessagePair.write(client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, i));
            RdmaReceive message = server.message();
            assertThat(message.immediate()).isEqualTo(i);
            message.release();
        }
    }

    @Test
    void thereAreMoreReceivesWhenTheyRunLow() throws Exception {
        listen(256, server -> { });
        Channel client = connect();
        Recorder server = server();
        assertThat(RdmaMetrics.sharedReceives()).isEqualTo(FIRST_RECEIVES);
        while (RdmaMetrics.sharedReceives() < 256) {
            int receives = (int) RdmaMetrics.sharedReceives();
            assertAllReceivesAreThere(client, server, receives);
            TestTimeouts.awaitTrue(() -> RdmaMetrics.sharedReceives() > receives);
        }
        assertThat(RdmaMetrics.sharedReceives()).isEqualTo(256);
    }

    @Test
    void channelThatDoesNotReadHoldsNobodyUpAndLosesNothing() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 32));
        Channel lazyClient = connect();
        Recorder lazy = server();
        Channel client = connect();
        Recorder server = server();
        lazy.channel().config().setAutoRead(false);
        int count = 1000;
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            futures.add(lazyClient.writeAndFlush(number(lazyClient, i)));
        }
        for (ChannelFuture future : futures) {
            // The message has arrived, and nobody reads it.
            TestTimeouts.sync(future);
        }
        for (int i = 0; i < 100; i++) {
            MessagePair.write(client, number(client, i));
        }
        assertNumbers(server, 0, 100);
        int early = lazy.messages();
        lazy.channel().config().setAutoRead(true);
        int inPlace = 0;
        for (int i = 0; i < count; i++) {
            RdmaReceive message = lazy.message();
            inPlace += message.content().isDirect() ? 1 : 0;
            assertThat(message.content().readInt()).isEqualTo(i);
            message.release();
        }
        assertThat(inPlace).as("in registered memory while nobody read").isBetween(32, 32 + early);
    }

    @Test
    void channelThatReadsFarTooLittleIsClosedAndTheOthersGoOn() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16)
                .childOption(RdmaChannelOption.MAX_UNREAD_MESSAGES, 100)
                .childOption(ChannelOption.AUTO_READ, false));
        Channel lazyClient = connect();
        Recorder lazy = server();
        Channel client = connect();
        Recorder server = server();
        server.channel().config().setAutoRead(true);
        for (int i = 0; i < 100; i++) {
            MessagePair.write(lazyClient, number(lazyClient, i));
        }
        MessagePair.write(client, text("all is well"));
        assertThat(server.text()).isEqualTo("all is well");
        assertThat(lazy.channel().isActive()).isTrue();
        lazyClient.writeAndFlush(number(lazyClient, 100));
        assertThat(lazy.next()).isInstanceOfSatisfying(IOException.class, e ->
                assertThat(e).hasMessageContaining("more than 100 messages").hasMessageContaining("MAX_UNREAD"));
        assertThat(lazy.next()).isEqualTo("inactive");
        TestTimeouts.sync(lazyClient.closeFuture());
        assertNumbers(lazy, 0, 101);
        MessagePair.write(client, text("still"));
        assertThat(server.text()).isEqualTo("still");
    }

    @Test
    void readerMayKeepAllMessages() throws Exception {
        listen(16, server -> { });
        Channel client = connect();
        Recorder server = server();
        int count = 300;
        for (int i = 0; i < count; i++) {
            client.writeAndFlush(client.alloc().buffer(4096, 4096).writeZero(4092).writeInt(i));
        }
        List<RdmaReceive> kept = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            kept.add(server.message());
        }
        for (int i = 0; i < count; i++) {
            assertThat(kept.get(i).content().getInt(4092)).isEqualTo(i);
            kept.get(i).release();
        }
    }

    @Test
    void whatArrivedBeforeTheEndIsReadEvenIfNobodyAsked() throws Exception {
        listen(16, server -> server.childOption(ChannelOption.AUTO_READ, false));
        Channel client = connect();
        Recorder server = server();
        for (int i = 0; i < 200; i++) {
            client.write(number(client, i));
        }
        client.flush();
        TestTimeouts.sync(client.close());
        assertThat(server.next()).isEqualTo("inactive");
        assertThat(server.messages()).isEqualTo(200);
        assertNumbers(server, 0, 200);
    }

    @Test
    void connectionsThatEndInTheMiddleOfMessagesTakeNoReceivesAlong() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 64 << 10));
        Channel stays = connect();
        Recorder server = server();
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        for (int round = 0; round < 30; round++) {
            Channel client = connect(client().option(ChannelOption.SO_LINGER, 0));
            Recorder end = server();
            for (int i = 0; i < 50; i++) {
                client.write(client.alloc().buffer(60000, 60000).writeZero(60000));
            }
            client.flush();
            // Either side may be the first, as soon as something has arrived.
            end.message().release();
            TestTimeouts.sync((round % 2 == 0 ? client : end.channel()).close());
            TestTimeouts.sync(end.channel().closeFuture());
            TestTimeouts.sync(client.closeFuture());
            end.release();
        }
        awaitQueuePairs(queuePairs);
        assertAllReceivesAreThere(stays, server, 16);
    }

    @Test
    void channelThatIsClosedBeforeItsLoopHasSeenWhatArrivedTakesNoReceivesAlong() throws Exception {
        listen(16, server -> { });
        Channel stays = connect();
        Recorder server = server();
        int queuePairs = VerbsResource.QUEUE_PAIR.live();
        for (int round = 0; round < 5; round++) {
            Channel client = connect();
            Recorder end = server();
            CountDownLatch released = block(end);
            ChannelFuture closed = end.channel().close();
            for (int i = 0; i < 10; i++) {
                MessagePair.write(client, number(client, i));
            }
            released.countDown();
            TestTimeouts.sync(closed);
            TestTimeouts.sync(client.closeFuture());
        }
        awaitQueuePairs(queuePairs);
        assertAllReceivesAreThere(stays, server, 16);
    }

    /** The queue pairs of closed channels are gone, too. */
    private static void awaitQueuePairs(int count) throws Exception {
        TestTimeouts.awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == count);
    }

    /** As many messages as there are receives arrive while the loop is busy, and one more does not. */
    private static void assertAllReceivesAreThere(Channel client, Recorder server, int receives) throws Exception {
        CountDownLatch released = block(server);
        List<ChannelFuture> futures = new ArrayList<>();
        for (int i = 0; i <= receives; i++) {
            futures.add(client.writeAndFlush(number(client, i)));
        }
        TestTimeouts.sync(futures.get(receives - 1));
        assertThat(futures.get(receives).isDone()).isFalse();
        released.countDown();
        assertNumbers(server, 0, receives + 1);
        TestTimeouts.sync(futures.get(receives));
    }

    @Test
    void messageLongerThanTheReceiveEndsThatConnectionOnly() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 100));
        Channel client = connect();
        Recorder server = server();
        for (int i = 0; i < 20; i++) {
            Channel wrong = connect();
            Recorder end = server();
            assertThat(MessagePair.failure(wrong, wrong.alloc().buffer(101).writeZero(101)))
                    .isInstanceOf(RdmaOperationException.class);
            assertThat(end.next()).isInstanceOf(RdmaOperationException.class);
            assertThat(end.next()).isEqualTo("inactive");
            MessagePair.write(client, number(client, i));
        }
        assertNumbers(server, 0, 20);
    }

    @Test
    void channelsWithOtherBufferSizesShareAmongThemselves() throws Exception {
        listen(16, server -> server.childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 256));
        Bootstrap sharing = client().option(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true);
        Channel small = connect(sharing.clone().option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 256)
                .handler(new Recorder()));
        Recorder smallEnd = server();
        // One queue at the server's loop, one at the clients'.
        assertThat(RdmaMetrics.sharedReceives()).isEqualTo(16 + FIRST_RECEIVES);
        Channel large = connect(sharing.clone().option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 1 << 20)
                .handler(new Recorder()));
        Recorder largeEnd = server();
        assertThat(RdmaMetrics.sharedReceives()).isEqualTo(16 + 2 * FIRST_RECEIVES);
        for (int i = 0; i < 100; i++) {
            smallEnd.channel().writeAndFlush(number(smallEnd.channel(), i));
            ByteBuf bytes = largeEnd.channel().alloc().buffer(1 << 20, 1 << 20).writeInt(i).writeZero((1 << 20) - 4);
            MessagePair.write(largeEnd.channel(), bytes);
            RdmaReceive message = ((Recorder) large.pipeline().last()).message();
            assertThat(message.length()).isEqualTo(1 << 20);
            assertThat(message.content().readInt()).isEqualTo(i);
            message.release();
        }
        assertNumbers((Recorder) small.pipeline().last(), 0, 100);
        TestTimeouts.sync(large.close());
        TestTimeouts.awaitTrue(() -> RdmaMetrics.sharedReceives() == 16 + FIRST_RECEIVES);
    }

    @Test
    void loopThatEndsGivesThemBack() throws Exception {
        listen(FIRST_RECEIVES, server -> { });
        Channel client = connect();
        Recorder server = server();
        MessagePair.write(client, text("x"));
        assertThat(server.text()).isEqualTo("x");
        TestTimeouts.shutdown(group);
        TestTimeouts.sync(client.closeFuture());
        assertThat(RdmaMetrics.sharedReceives()).isZero();
    }

    @Test
    void queuePairHasNoReceivesOfItsOwn() throws Exception {
        listen(16, server -> { });
        connect();
        RdmaMessageChannel server = (RdmaMessageChannel) server().channel();
        assertThat(TestTimeouts.sync(server.info()).getNow().maxReceiveRequests()).isZero();
    }
}
