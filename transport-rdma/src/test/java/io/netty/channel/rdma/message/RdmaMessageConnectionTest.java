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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.LoopClock;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.Errno;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.AttributeKey;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.ByteOrder;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Making and ending connections of messages by the connection manager.
 */
@Tag("quick")
class RdmaMessageConnectionTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final AttributeKey<String> USER = AttributeKey.valueOf(RdmaMessageConnectionTest.class, "user");

    /** A connect that waits for the server's application to decide. */
    private static final class Asked {
        final Recorder clientEvents = new Recorder();
        final Recorder serverEvents = new Recorder();
        final Channel listener;
        final ChannelFuture connect;
        final RdmaConnectionRequest request;

        Asked(Consumer<Bootstrap> client) throws Exception {
            serverEvents.takesRequests = true;
            listener = listen(serverEvents);
            Bootstrap bootstrap = MessagePair.connecting(loops.group(), clientEvents);
            client.accept(bootstrap);
            connect = bootstrap.connect(listener.localAddress());
            request = (RdmaConnectionRequest) serverEvents.next();
        }
    }

    @Test
    void dataOfRequestAndAcceptanceReachTheOtherSide() throws Exception {
        Asked asked = new Asked(client -> client.option(RdmaChannelOption.CONNECT_DATA, ascii("who goes there")));
        Recorder serverEvents = asked.serverEvents;
        Channel listener = asked.listener;
        ChannelFuture connect = asked.connect;
        RdmaConnectionRequest request = asked.request;
        assertThat(request.data()).startsWith(ascii("who goes there"));
        assertThat(request.remoteAddress().getAddress())
                .isEqualTo(((RdmaServerMessageChannel) listener).localAddress().getAddress());
        assertThat(request.channel().state()).isEqualTo(RdmaChannelState.STARTING);
        assertThat(request.channel().isActive()).isFalse();
        request.channel().attr(USER).set("friend");
        assertThat(connect.isDone()).as("nobody has decided yet").isFalse();
        ChannelFuture accepted = request.accept(ascii("pass, friend"));

        TestTimeouts.sync(accepted);
        TestTimeouts.sync(connect);
        RdmaMessageChannel client = (RdmaMessageChannel) connect.channel();
        assertThat(client.peerData()).startsWith(ascii("pass, friend"));
        assertThat(request.channel().peerData()).startsWith(ascii("who goes there"));
        assertThat(request.channel().state()).isEqualTo(RdmaChannelState.RUNNING);
        assertThat(client.state()).isEqualTo(RdmaChannelState.RUNNING);
        assertThat(client.remoteAddress()).isEqualTo(listener.localAddress());
        assertThat(request.channel().remoteAddress()).isEqualTo(client.localAddress());
        assertThat(serverEvents.next()).isEqualTo("active");
        assertThat(serverEvents.channel().attr(USER).get()).as("user data of the connection").isEqualTo("friend");
        assertThat(TestTimeouts.await(request.accept()).cause()).isInstanceOf(IllegalStateException.class);
        assertThat(TestTimeouts.await(request.reject(ascii(""))).cause()).isInstanceOf(IllegalStateException.class);

        TestTimeouts.sync(client.close());
        assertThat(serverEvents.next()).isEqualTo("inactive");
        close(asked.listener);
    }

    @Test
    void pipelineIsToldOfEachChangeOfState() throws Exception {
        Recorder client;
        Recorder server;
        try (MessagePair pair = new MessagePair(loops.group())) {
            client = pair.clientEvents;
            server = pair.serverEvents;
            assertThat(client.state()).isEqualTo(RdmaChannelState.STARTING);
            assertThat(client.state()).isEqualTo(RdmaChannelState.RUNNING);
            assertThat(server.state()).isEqualTo(RdmaChannelState.RUNNING);
            TestTimeouts.sync(pair.client.close());
            TestTimeouts.sync(pair.server.closeFuture());
        }
        for (Recorder events : new Recorder[] { client, server }) {
            assertThat(events.state()).isEqualTo(RdmaChannelState.STOPPING);
            assertThat(events.state()).isEqualTo(RdmaChannelState.IDLE);
            assertThat(events.next()).isEqualTo("inactive");
        }
    }

    @Test
    void pipelineIsToldThatARequestCameToNothing() throws Exception {
        Asked asked = new Asked(client -> { });
        TestTimeouts.sync(asked.request.reject(ascii("no")));
        assertThat(asked.serverEvents.state()).isEqualTo(RdmaChannelState.IDLE);
        TestTimeouts.await(asked.connect);
        assertThat(asked.clientEvents.state()).isEqualTo(RdmaChannelState.STARTING);
        assertThat(asked.clientEvents.state()).isEqualTo(RdmaChannelState.IDLE);
        close(asked.listener);
    }

    @Test
    void memoryTravelsInTheDataOfRequestAndAcceptance() throws Exception {
        try (RegisteredMemory clientMemory = RegisteredMemory.allocate(100, EnumSet.allOf(RdmaPermission.class));
             RegisteredMemory serverMemory = RegisteredMemory.allocate(100, EnumSet.allOf(RdmaPermission.class))) {
            byte[] exported = blob(RemoteMemory.of(clientMemory, TestAddress.device()));
            Asked asked = new Asked(client -> client.option(RdmaChannelOption.CONNECT_DATA, exported));
            RdmaMessageChannel server = asked.request.channel();
            RemoteMemory ofClient = RemoteMemory.read(Unpooled.wrappedBuffer(asked.request.data()));
            assertThat(ofClient.address()).isEqualTo(clientMemory.address());
            TestTimeouts.sync(asked.request.accept(blob(server.export(serverMemory))));
            TestTimeouts.sync(asked.connect);
            RdmaMessageChannel client = (RdmaMessageChannel) asked.connect.channel();
            RemoteMemory ofServer = RemoteMemory.read(Unpooled.wrappedBuffer(client.peerData()));

            MessagePair.write(client, new RdmaWrite(Unpooled.copyLong(1, 2), ofServer, 8));
            MessagePair.write(server, new RdmaFetchAndAdd(ofClient, 16, 3));
            ByteBuf destination = client.alloc().buffer(16, 16);
            MessagePair.write(client, new RdmaRead(destination, ofServer, 8));
            assertThat(destination.readLong()).isEqualTo(1);
            assertThat(destination.readLong()).isEqualTo(2);
            destination.release();
            assertThat(clientMemory.buf().nioBuffer(0, 100).order(ByteOrder.nativeOrder()).getLong(16)).isEqualTo(3);
            // The same memory has the same key, whichever way it is asked for.
            assertThat(client.export(clientMemory).key()).isEqualTo(ofClient.key());
            TestTimeouts.sync(client.close());
            TestTimeouts.sync(server.closeFuture());
            close(asked.listener);
        }
    }

    @Test
    void memoryIsExportedOnceTheDeviceIsKnown() throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        TestTimeouts.sync(loops.group().register(channel));
        RegisteredMemory memory = RegisteredMemory.allocate(100, EnumSet.allOf(RdmaPermission.class));
        try {
            assertThatThrownBy(() -> channel.export(memory)).isInstanceOf(NotYetConnectedException.class);
            TestTimeouts.sync(channel.bind(TestAddress.anyPort()));
            assertThat(channel.export(memory).key()).isEqualTo(RemoteMemory.of(memory, TestAddress.device()).key());
            assertThatThrownBy(() -> RemoteMemory.of(memory, "no such device"))
                    .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
        } finally {
            memory.close();
            TestTimeouts.sync(channel.close());
        }
        assertThatThrownBy(() -> channel.export(memory)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> RemoteMemory.of(memory, TestAddress.device()))
                .isInstanceOf(IllegalReferenceCountException.class);
    }

    private static byte[] blob(RemoteMemory memory) {
        ByteBuf blob = Unpooled.buffer(RemoteMemory.BLOB_LENGTH, RemoteMemory.BLOB_LENGTH);
        memory.write(blob);
        return blob.array();
    }

    @Test
    void rejectionTellsItsData() throws Exception {
        Asked asked = new Asked(client -> { });
        ChannelFuture connect = asked.connect;
        RdmaConnectionRequest request = asked.request;
        TestTimeouts.sync(request.reject(ascii("not today")));
        assertThat(request.channel().isOpen()).isFalse();
        assertThat(request.channel().state()).isEqualTo(RdmaChannelState.IDLE);

        TestTimeouts.await(connect);
        Throwable cause = connect.cause() instanceof ConnectionRejectedException ? connect.cause()
                : connect.cause().getCause();
        assertThat(connect.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("not today");
        assertThat(((ConnectionRejectedException) cause).data()).startsWith(ascii("not today")).hasSize(148);
        TestTimeouts.sync(connect.channel().closeFuture());
        close(asked.listener);
    }

    @Test
    void dataThatIsTooLongForAnAnswerLeavesTheRequestToBeAnswered() throws Exception {
        Asked asked = new Asked(client -> { });
        ChannelFuture connect = asked.connect;
        RdmaConnectionRequest request = asked.request;
        assertThatThrownBy(() -> request.reject(new byte[149])).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("reason: 149 bytes (expected: at most 148)");
        assertThatThrownBy(() -> request.accept(new byte[197])).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("answer: 197 bytes (expected: at most 196)");
        byte[] longest = new byte[148];
        Arrays.fill(longest, (byte) 'x');
        ChannelFuture rejected = request.reject(longest);
        longest[0] = 'y';
        TestTimeouts.sync(rejected);
        TestTimeouts.await(connect);
        assertThat(connect.cause()).hasMessageContaining("rejected by the peer: " + "x".repeat(148));
        TestTimeouts.sync(connect.channel().closeFuture());
        close(asked.listener);
    }

    @Test
    void whatIsFlushedBeforeTheAcceptanceIsSentAfterIt() throws Exception {
        Asked asked = new Asked(client -> { });
        RdmaMessageChannel server = asked.request.channel();
        ChannelFuture early = server.writeAndFlush(Unpooled.copiedBuffer(ascii("early")));
        TestTimeouts.sync(server.eventLoop().submit(() -> { }));
        assertThat(early.isDone()).isFalse();
        TestTimeouts.sync(asked.request.accept());
        TestTimeouts.sync(early);
        assertThat(asked.clientEvents.text()).isEqualTo("early");
        TestTimeouts.sync(server.close());
        close(asked.listener);
    }

    @Test
    void longestAnswerReachesTheOtherSide() throws Exception {
        Asked asked = new Asked(client -> { });
        byte[] longest = new byte[196];
        Arrays.fill(longest, (byte) 'x');
        TestTimeouts.sync(asked.request.accept(longest));
        TestTimeouts.sync(asked.connect);
        assertThat(((RdmaMessageChannel) asked.connect.channel()).peerData()).isEqualTo(longest);
        TestTimeouts.sync(asked.connect.channel().close());
        close(asked.listener);
    }

    @Test
    void requestThatNobodyDecidesEndsTheConnectInTime() throws Exception {
        int millis = (int) (10 * TestTimeouts.SECONDS);
        Asked asked = new Asked(client -> client.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis));
        ChannelFuture connect = asked.connect;
        RdmaConnectionRequest request = asked.request;
        TestTimeouts.await(connect);
        assertThat(connect.cause()).isInstanceOf(ConnectTimeoutException.class)
                .hasMessageContaining("after " + millis + " ms");
        // The request of a peer that has gone can't be accepted any more.
        TestTimeouts.await(request.accept());
        TestTimeouts.sync(request.channel().closeFuture());
        close(asked.listener);
    }

    @Test
    void defaultTimeoutIsFiveSeconds() {
        assertThat(new RdmaMessageChannel().config().getConnectTimeoutMillis()).isEqualTo(5000);
    }

    @Test
    void nobodyListening() throws Exception {
        Channel listener = listen(new Recorder());
        close(listener);
        ChannelFuture connect = MessagePair.connecting(loops.group(), new Recorder()).connect(listener.localAddress());
        TestTimeouts.await(connect);
        assertThat(connect.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("Connection refused");
        TestTimeouts.sync(connect.channel().closeFuture());
    }

    @Test
    void childThatCannotBeConfiguredIsRejectedWithTheReason() throws Exception {
        Channel listener = TestTimeouts.sync(MessagePair.listening(loops.group(), new Recorder())
                .childOption(RdmaChannelOption.SEND_QUEUE_DEPTH, 1).bind(TestAddress.anyPort())).channel();
        ChannelFuture connect = MessagePair.connecting(loops.group(), new Recorder()).connect(listener.localAddress());
        assertThat(TestTimeouts.await(connect).cause()).isInstanceOf(ConnectException.class)
                .hasMessageContaining("the server can't accept: ").hasMessageContaining("SEND_QUEUE_DEPTH: 1");
        close(listener);
    }

    @Test
    void channelThatFailedToConnectIsIdleAndMayTryAgain() throws Exception {
        Channel gone = listen(new Recorder());
        close(gone);
        Recorder serverEvents = new Recorder();
        Channel listener = listen(serverEvents);
        RdmaMessageChannel channel = new RdmaMessageChannel();
        assertThat(channel.state()).isEqualTo(RdmaChannelState.IDLE);
        channel.pipeline().addLast(new Recorder());
        TestTimeouts.sync(loops.group().register(channel));
        assertThat(TestTimeouts.await(channel.connect(gone.localAddress())).cause())
                .isInstanceOf(ConnectException.class);
        assertThat(channel.isOpen()).isTrue();
        assertThat(channel.state()).isEqualTo(RdmaChannelState.IDLE);
        channel.config().setOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 100);
        TestTimeouts.sync(channel.connect(listener.localAddress()));
        assertThat(channel.state()).isEqualTo(RdmaChannelState.RUNNING);
        assertThat(TestTimeouts.result(channel.info()).maxReceiveRequests()).as("options count anew")
                .isGreaterThanOrEqualTo(100);
        assertThat(TestTimeouts.await(channel.connect(listener.localAddress())).cause())
                .isInstanceOf(AlreadyConnectedException.class);
        TestTimeouts.sync(channel.close());
        assertThat(channel.state()).isEqualTo(RdmaChannelState.IDLE);
        assertThat(serverEvents.next()).isEqualTo("active");
        assertThat(serverEvents.next()).isEqualTo("inactive");
        close(listener);
        RdmaMessageChannel idle = MessagePair.bound(loops.group(), new Recorder(), config -> { });
        assertThat(idle.state()).isEqualTo(RdmaChannelState.IDLE);
        TestTimeouts.sync(idle.close());
        assertThat(idle.state()).isEqualTo(RdmaChannelState.IDLE);
    }

    @Test
    void afterADisconnectAnotherChannelConnectsAgain() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            TestTimeouts.sync(pair.server.disconnect());
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            TestTimeouts.sync(pair.client.closeFuture());
            assertThat(TestTimeouts.await(pair.client.connect(pair.listener.localAddress())).cause())
                    .isInstanceOf(ClosedChannelException.class);

            Recorder events = new Recorder();
            Channel second = TestTimeouts.sync(MessagePair.connecting(loops.group(), events)
                    .connect(pair.listener.localAddress())).channel();
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.next()).isEqualTo("active");
            MessagePair.write(second, Unpooled.copiedBuffer("again", StandardCharsets.US_ASCII));
            assertThat(pair.serverEvents.text()).isEqualTo("again");
            TestTimeouts.sync(second.close());
            TestTimeouts.sync(pair.serverEvents.channel().closeFuture());
        }
    }

    @Test
    void listenerThatDoesNotReadLeavesRequestsWaiting() throws Exception {
        Recorder serverEvents = new Recorder();
        Channel listener = TestTimeouts.sync(MessagePair.listening(loops.group(), serverEvents)
                .option(ChannelOption.AUTO_READ, false).bind(TestAddress.anyPort())).channel();
        ChannelFuture connect = MessagePair.connecting(loops.group(), new Recorder()).connect(listener.localAddress());
        assertThat(connect.await(200)).isFalse();
        listener.read();
        TestTimeouts.sync(connect);
        assertThat(serverEvents.next()).isEqualTo("active");
        TestTimeouts.sync(connect.channel().close());
        assertThat(serverEvents.next()).isEqualTo("inactive");
        close(listener);
    }

    @Test
    void listenerThatIsClosedRejectsWhatWaits() throws Exception {
        Channel listener = TestTimeouts.sync(MessagePair.listening(loops.group(), new Recorder())
                .option(ChannelOption.AUTO_READ, false).bind(TestAddress.anyPort())).channel();
        ChannelFuture connect = MessagePair.connecting(loops.group(), new Recorder()).connect(listener.localAddress());
        assertThat(connect.await(200)).isFalse();
        close(listener);
        TestTimeouts.await(connect);
        assertThat(connect.cause()).isInstanceOf(ConnectException.class)
                .isNotInstanceOf(ConnectTimeoutException.class);
    }

    @Test
    void closeSendsWhatWasFlushedBefore() throws Exception {
        // By default a close waits for 3 seconds, which a slow machine may take for what follows.
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.SO_LINGER, (int) TestTimeouts.SECONDS))) {
            // More than the send queue holds, let alone the server's receives, and none that asks for a completion.
            int count = 600;
            ChannelFuture last = null;
            for (int i = 0; i < count; i++) {
                last = pair.client.write(new RdmaSend(number(pair.client, i)).unsignalled());
            }
            pair.client.flush();
            ChannelFuture close = pair.client.close();
            TestTimeouts.awaitTrue(() -> pair.client.state() == RdmaChannelState.STOPPING);
            assertThat(pair.client.isActive()).as("until all is sent").isTrue();
            assertThat(TestTimeouts.await(pair.client.writeAndFlush(Unpooled.EMPTY_BUFFER)).cause())
                    .isInstanceOf(ClosedChannelException.class);
            pair.server.config().setAutoRead(true);
            TestTimeouts.sync(last);
            TestTimeouts.sync(close);
            for (int i = 0; i < count; i++) {
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.content().readInt()).isEqualTo(i);
                message.release();
            }
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    private static MessagePair pairWhoseServerDoesNotRead(Consumer<Bootstrap> clientOptions) throws Exception {
        return pairWhoseServerDoesNotRead(loops.group(), clientOptions);
    }

    private static MessagePair pairWhoseServerDoesNotRead(EventLoopGroup group, Consumer<Bootstrap> clientOptions)
            throws Exception {
        return new MessagePair(group, server -> server.childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16), clientOptions);
    }

    private static void sendNumbers(RdmaMessageChannel channel, int count) {
        for (int i = 0; i < count; i++) {
            channel.write(new RdmaSend(number(channel, i)));
        }
        channel.flush();
    }

    /** A handler may write whenever there is room, and each write fails at once. */
    @Test
    void channelHasNoRoomWhileItsCloseWaits() throws Exception {
        try (MessagePair pair = pairWhoseServerDoesNotRead(
                client -> client.option(ChannelOption.SO_LINGER, (int) TestTimeouts.SECONDS))) {
            sendNumbers(pair.client, 40);
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> { }));
            assertThat(pair.client.isWritable()).isTrue();
            ChannelFuture close = pair.client.close();
            TestTimeouts.awaitTrue(() -> pair.client.state() == RdmaChannelState.STOPPING);
            assertThat(pair.client.isWritable()).isFalse();
            assertThat(pair.client.bytesBeforeUnwritable()).isZero();
            pair.server.config().setAutoRead(true);
            TestTimeouts.sync(close);
        }
    }

    @Test
    void closeDoesNotWaitForCancelledWrites() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            CancelledWrites.closeAtOnce(pair.client, () -> Unpooled.copiedBuffer(ascii("no")));
        }
    }

    @Test
    void cancelledWritesGoWithThoseAround() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            CancelledWrites.goWithThoseAround(pair.client, () -> Unpooled.copiedBuffer(ascii("yes")));
            assertThat(pair.serverEvents.text()).isEqualTo("yes");
            assertThat(pair.serverEvents.text()).isEqualTo("yes");
        }
    }

    /** In flight, behind that, and with a close that waits for them. */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void whatIsPendingWhenThePeerDisconnectsFailsWithThat(boolean closing) throws Exception {
        try (MessagePair pair = pairWhoseServerDoesNotRead(
                client -> client.option(RdmaChannelOption.SEND_QUEUE_DEPTH, 16).option(ChannelOption.SO_LINGER, 60))) {
            List<ChannelFuture> sends = new ArrayList<>();
            for (int i = 0; i < 64; i++) {
                sends.add(pair.client.write(number(pair.client, i)));
            }
            pair.client.flush();
            TestTimeouts.sync(sends.get(0));
            if (closing) {
                pair.client.close();
                TestTimeouts.awaitTrue(() -> pair.client.state() == RdmaChannelState.STOPPING);
            }
            pair.server.close();
            for (ChannelFuture send : sends.subList(16, 64)) {
                // The peer has no receive for these.
                Throwable cause = TestTimeouts.await(send).cause();
                if (cause instanceof RdmaOperationException) {
                    assertThat(((RdmaOperationException) cause).status())
                            .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
                    cause = cause.getCause();
                }
                assertThat(cause).isExactlyInstanceOf(IOException.class)
                        .hasMessageContaining("Connection reset by peer");
            }
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    /** Otherwise there is no {@code channelInactive}. */
    @Test
    void aCloseThatWaitsComesBeforeADeregistration() throws Exception {
        try (MessagePair pair = pairWhoseServerDoesNotRead(
                client -> client.option(ChannelOption.SO_LINGER, (int) TestTimeouts.SECONDS))) {
            sendNumbers(pair.client, 40);
            ChannelFuture close = pair.client.close();
            ChannelFuture deregistered = pair.client.deregister();
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> { }));
            assertThat(deregistered.isDone()).isFalse();
            pair.server.config().setAutoRead(true);
            TestTimeouts.sync(close);
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            TestTimeouts.sync(deregistered);
        }
    }

    @Test
    void closeWaitsAsLongAsItMayForAPeerThatDoesNotRead() throws Exception {
        LoopClock clock = new LoopClock(2);
        try (MessagePair pair = pairWhoseServerDoesNotRead(clock.group(),
                client -> client.option(ChannelOption.SO_LINGER, 10_000))) {
            ChannelFuture last = null;
            for (int i = 0; i < 40; i++) {
                last = pair.client.write(new RdmaSend(number(pair.client, i)));
            }
            pair.client.flush();
            ChannelFuture close = pair.client.close();
            TestTimeouts.awaitTrue(() -> pair.client.state() == RdmaChannelState.STOPPING);
            clock.advance(9_000, TimeUnit.SECONDS);
            // Tasks of earlier times run before this one.
            TestTimeouts.sync(pair.client.eventLoop().schedule(() -> { }, 1, TimeUnit.MILLISECONDS));
            assertThat(close.isDone()).isFalse();
            clock.advance(1_000, TimeUnit.SECONDS);
            TestTimeouts.sync(close);
            assertThat(TestTimeouts.await(last).cause()).isInstanceOf(ClosedChannelException.class);
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    @Test
    void whatArrivedIsReadBeforeTheEndEvenIfNobodyAsked() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(ChannelOption.AUTO_READ, false), client -> { })) {
            for (int i = 0; i < 20; i++) {
                MessagePair.write(pair.client, number(pair.client, i));
            }
            TestTimeouts.sync(pair.client.close());
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.messages()).isEqualTo(20);
        }
    }

    @Test
    void depthsOfReadsAreThoseOfBothEndsAndOtherOptionsThoseOfOne() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(RdmaChannelOption.REMOTE_PERMISSIONS, EnumSet.of(RdmaPermission.REMOTE_READ))
                .childOption(RdmaChannelOption.MIN_RNR_TIMER, 13), client -> client
                .option(RdmaChannelOption.INITIATOR_DEPTH, 4).option(RdmaChannelOption.RESPONDER_RESOURCES, 2))) {
            // Powers of two, as soft-RoCE rounds up to them (rxe_qp_from_attr() in rxe_qp.c).
            QueuePairInfo client = TestTimeouts.sync(pair.client.info()).getNow();
            QueuePairInfo server = TestTimeouts.sync(pair.server.info()).getNow();
            assertThat(client.initiatorDepth()).isEqualTo(4);
            assertThat(client.responderResources()).isEqualTo(2);
            assertThat(server.initiatorDepth()).isEqualTo(2);
            assertThat(server.responderResources()).isEqualTo(4);
            int remote = RdmaPermission.accessFlags(EnumSet.allOf(RdmaPermission.class)) & ~AccessFlags.LOCAL_WRITE;
            assertThat(server.accessFlags() & remote).isEqualTo(AccessFlags.REMOTE_READ);
            assertThat(client.accessFlags() & remote).as("the default").isEqualTo(remote);
            assertThat(server.minRnrTimer()).isEqualTo(13);
            assertThat(client.minRnrTimer()).as("the default of message channels").isEqualTo(12);
            assertThat(server.peerNumber()).isEqualTo(client.number());
            assertThat(client.toString()).contains("4 reads here and 2 of the peer");
        }
    }

    /** A device may hold back such a read for ever. */
    @Test
    void readsAndAtomicsFailWhereOneEndHasNoResourcesForThem() throws Exception {
        for (boolean atServer : new boolean[] {true, false}) {
            try (MessagePair pair = new MessagePair(loops.group(), server -> {
                if (atServer) {
                    server.childOption(RdmaChannelOption.RESPONDER_RESOURCES, 0);
                }
            }, client -> {
                if (!atServer) {
                    client.option(RdmaChannelOption.INITIATOR_DEPTH, 0);
                }
            }); RegisteredMemory memory = RegisteredMemory.allocate(8, EnumSet.allOf(RdmaPermission.class))) {
                RemoteMemory remote = pair.server.export(memory);
                ByteBuf destination = Unpooled.buffer(8, 8);
                RdmaRead read = new RdmaRead(destination, remote, 0);
                destination.release();
                for (RdmaOperation operation : List.of(read, new RdmaFetchAndAdd(remote, 0, 1))) {
                    assertThat(MessagePair.failure(pair.client, operation))
                            .isInstanceOfSatisfying(RdmaOperationException.class, e -> assertThat(e.status())
                                    .isEqualTo(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR))
                            .hasMessageContaining("RESPONDER_RESOURCES of the peer is 0");
                }
                MessagePair.write(pair.client, new RdmaWrite(Unpooled.copyLong(42), remote, 0));
                assertThat(memory.buf().getLong(0)).isEqualTo(42);
            }
        }
    }

    /** Neither end tries again if the peer has no receive. */
    @Test
    void messagesOfEndsThatHaveJustConnectedFindReceives() throws Exception {
        BlockingQueue<ChannelFuture> greetings = new LinkedBlockingQueue<>();
        try (MessagePair pair = new MessagePair(loops.group(),
                server -> server.childOption(RdmaChannelOption.RNR_RETRY_COUNT, 0)
                        .childHandler(greeting(server.config().childHandler(), greetings)),
                client -> client.option(RdmaChannelOption.RNR_RETRY_COUNT, 0)
                        .handler(greeting(client.config().handler(), greetings)))) {
            for (Recorder events : new Recorder[] { pair.clientEvents, pair.serverEvents }) {
                TestTimeouts.sync(TestTimeouts.take(greetings, "a message that is sent"));
                RdmaReceive message = events.message();
                assertThat(message.content().readInt()).isEqualTo(1);
                message.release();
            }
        }
        // The server's loop does nothing more than to accept.
        Asked asked = new Asked(client -> { });
        RdmaMessageChannel server = asked.request.channel();
        server.config().setOption(RdmaChannelOption.RNR_RETRY_COUNT, 0);
        Channel client = asked.connect.channel();
        assertThat(client.eventLoop()).isNotSameAs(server.eventLoop());
        CountDownLatch sent = new CountDownLatch(1);
        server.eventLoop().submit(() -> {
            asked.request.accept();
            return sent.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        });
        try {
            TestTimeouts.sync(asked.connect);
            MessagePair.write(client, number(client, 1));
        } finally {
            sent.countDown();
        }
        asked.serverEvents.message().release();
        TestTimeouts.sync(client.close());
        TestTimeouts.sync(server.closeFuture());
        close(asked.listener);
    }

    /** Sends a message as soon as the channel is active. */
    private static ChannelHandler greeting(ChannelHandler events, Queue<ChannelFuture> greetings) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        greetings.add(ctx.writeAndFlush(number(channel, 1)));
                        ctx.fireChannelActive();
                    }
                }, events);
            }
        };
    }

    @Test
    void senderGivesUpWhenTheReadersPatienceIsOver() throws Exception {
        // More than by default.
        int depth = 70;
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth)
                .childOption(RdmaChannelOption.RNR_RETRY_COUNT, 0), client -> { })) {
            for (int i = 0; i < depth; i++) {
                MessagePair.write(pair.client, number(pair.client, i));
            }
            assertThat(MessagePair.failure(pair.client, number(pair.client, depth)))
                    .isInstanceOfSatisfying(RdmaOperationException.class, e ->
                            assertThat(e.status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR));
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void deviceCountsMessagesThatFindNoReceive() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false).childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16)
                .childOption(RdmaChannelOption.MIN_RNR_TIMER, 12), client -> { })) {
            String name = TestTimeouts.result(pair.client.info()).deviceName();
            RdmaDeviceMetrics device = RdmaDeviceMetrics.all().stream().filter(each -> each.name().equals(name))
                    .findFirst().get();
            boolean embedded = device.provider().equals("embedded");
            String counter = embedded ? "rnr_nak_retry_err" : "rcvd_rnr_err";
            assumeTrue(embedded || device.portCounters(1).containsKey(counter));
            assertThat(device.portCounters(1)).containsKey(counter);
            for (int i = 0; i < 16; i++) {
                MessagePair.write(pair.client, number(pair.client, i));
            }
            long before = device.portCounters(1).get(counter);
            ChannelFuture waiting = pair.client.writeAndFlush(number(pair.client, 16));
            TestTimeouts.awaitTrue(() -> device.portCounters(1).get(counter) > before);
            pair.server.config().setAutoRead(true);
            TestTimeouts.sync(waiting);
            for (int i = 0; i <= 16; i++) {
                pair.serverEvents.message().release();
            }
            assertThat(device.portCounters(2)).isEmpty();
        }
    }

    @Test
    void optionBeyondTheDeviceFailsTheConnectAndIsToldToThePeerAndTheListener() throws Exception {
        Channel listener = listen(new Recorder());
        Bootstrap client = MessagePair.connecting(loops.group(), new Recorder());
        for (Map.Entry<ChannelOption<Integer>, String> option : Map.of(RdmaChannelOption.MAX_SEND_SGES, "max_sge",
                RdmaChannelOption.INITIATOR_DEPTH, "max_qp_init_rd_atom",
                RdmaChannelOption.RESPONDER_RESOURCES, "max_qp_rd_atom").entrySet()) {
            ChannelFuture connect = TestTimeouts.await(client.clone().option(option.getKey(), 255)
                    .connect(listener.localAddress()));
            assertThat(connect.cause()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(option.getKey().name().replaceFirst(".*#", "") + ": 255 (expected: at most ")
                    .hasMessageContaining("its " + option.getValue());
        }
        close(listener);

        BlockingQueue<Throwable> atListener = new LinkedBlockingQueue<>();
        Channel greedy = TestTimeouts.sync(MessagePair.listening(loops.group(), new Recorder())
                .childOption(RdmaChannelOption.MAX_SEND_SGES, 256).handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        atListener.add(cause);
                    }
                }).bind(TestAddress.anyPort())).channel();
        ChannelFuture connect = TestTimeouts.await(MessagePair.connecting(loops.group(), new Recorder())
                .connect(greedy.localAddress()));
        assertThat(connect.cause()).isInstanceOf(ConnectException.class)
                .hasMessageContaining("the server can't accept").hasMessageContaining("MAX_SEND_SGES");
        assertThat(TestTimeouts.take(atListener, "an exception")).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("MAX_SEND_SGES: 256 (expected: at most ");
        close(greedy);
    }

    @Test
    void optionsAreCheckedWhenTheyAreSet() {
        ChannelConfig config = new RdmaMessageChannel().config();
        assertThatThrownBy(() -> config.setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, -1))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("RECEIVE_BUFFER_SIZE: -1");
        assertThatThrownBy(() -> config.setOption(RdmaChannelOption.CONNECT_DATA, new byte[57]))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("at most 56");
        assertThatThrownBy(() -> config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS,
                EnumSet.of(RdmaPermission.LOCAL_WRITE))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> config.setOption(RdmaChannelOption.INITIATOR_DEPTH, 256))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("0 to 255");
        assertThat(config.setOption(RdmaChannelOption.INITIATOR_DEPTH, 7)).isTrue();
        assertThat(config.getOption(RdmaChannelOption.INITIATOR_DEPTH)).isEqualTo(7);
        assertThat(config.getOptions()).containsKeys(RdmaChannelOption.RECEIVE_BUFFER_SIZE,
                RdmaChannelOption.SEND_QUEUE_DEPTH, ChannelOption.SO_LINGER);
    }

    @Test
    void channelConnectsOnlyWhileItHasAnEventLoop() throws Exception {
        Channel listener = listen(new Recorder());
        Channel channel = new RdmaMessageChannel();
        channel.pipeline().addLast(new Recorder());
        TestTimeouts.sync(loops.group().register(channel));
        TestTimeouts.sync(channel.deregister());
        assertThat(TestTimeouts.await(channel.connect(listener.localAddress())).cause())
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("not registered");
        TestTimeouts.sync(loops.group().register(channel));
        TestTimeouts.sync(channel.connect(listener.localAddress()));
        close(channel);
        close(listener);
    }

    @Test
    void beforeTheConnectionNothingCanBeWritten() throws Exception {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        TestTimeouts.sync(loops.group().register(channel));
        assertThat(TestTimeouts.await(channel.writeAndFlush(new RdmaSend(Unpooled.EMPTY_BUFFER))).cause())
                .isInstanceOf(NotYetConnectedException.class);
        assertThat(TestTimeouts.await(channel.info()).cause()).isInstanceOf(NotYetConnectedException.class);
        TestTimeouts.sync(channel.close());
    }

    private static Channel listen(Recorder events) throws Exception {
        return TestTimeouts.sync(MessagePair.listening(loops.group(), events).bind(TestAddress.anyPort())).channel();
    }

    private static void close(Channel channel) throws Exception {
        TestTimeouts.sync(channel.close());
    }

    private static ByteBuf number(Channel channel, int number) {
        return channel.alloc().buffer(4).writeInt(number);
    }

    private static byte[] ascii(String text) {
        return Arrays.copyOf(text.getBytes(StandardCharsets.US_ASCII), text.length());
    }
}
