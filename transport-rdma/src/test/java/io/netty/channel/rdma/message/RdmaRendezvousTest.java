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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Messages of any length, by {@link RdmaRendezvousHandler} at both ends; and what it does with a peer that does not
 * follow its protocol.
 */
@Tag("quick")
class RdmaRendezvousTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);
    private static final int LONG = 3_000_001;
    private static final RdmaRendezvousLimits LIMITS = new RdmaRendezvousLimits(20 << 20, 40 << 20, 60 << 20);

    private Recorder clientEvents = new Recorder();
    private Recorder serverEvents = new Recorder();
    private Channel listener;
    private Channel client;
    private Channel server;

    /** @param clientHandler returns {@code null} for a peer that writes frames by itself. */
    private void connect(Supplier<RdmaRendezvousHandler> clientHandler, Supplier<RdmaRendezvousHandler> serverHandler)
            throws Exception {
        clientEvents = new Recorder();
        serverEvents = new Recorder();
        listener = TestTimeouts.sync(MessagePair.listening(loops.group(), serverEvents)
                .childHandler(initializer(serverHandler, serverEvents)).bind(TestAddress.anyPort())).channel();
        client = TestTimeouts.sync(MessagePair.connecting(loops.group(), clientEvents)
                .handler(initializer(clientHandler, clientEvents)).connect(listener.localAddress())).channel();
        assertThat(clientEvents.next()).isEqualTo("active");
        assertThat(serverEvents.next()).isEqualTo("active");
        server = serverEvents.channel();
    }

    private void connect() throws Exception {
        connect(() -> new RdmaRendezvousHandler(LIMITS), () -> new RdmaRendezvousHandler(LIMITS));
    }

    private static ChannelInitializer<Channel> initializer(Supplier<RdmaRendezvousHandler> handler, Recorder events) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel ch) {
                RdmaRendezvousHandler own = handler.get();
                if (own != null) {
                    ch.pipeline().addLast(own);
                }
                ch.pipeline().addLast(events);
            }
        };
    }

    @AfterEach
    void close() throws Exception {
        for (Channel channel : new Channel[] { client, server, listener }) {
            if (channel != null) {
                TestTimeouts.sync(channel.close());
            }
        }
        clientEvents.release();
        serverEvents.release();
        TestTimeouts.awaitTrue(() -> LIMITS.usedBytes() == 0);
    }

    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 512, 513, 4080, 4081, 1 << 20, (1 << 20) + 1, LONG, 17 << 20 })
    void messageOfAnyLengthArrivesWherever(int length) throws Exception {
        connect();
        List<ByteBuf> messages = new ArrayList<>(List.of(random(client.alloc().directBuffer(length), length),
                random(Unpooled.buffer(length), length),
                random(UnpooledByteBufAllocator.DEFAULT.directBuffer(length), length)));
        CompositeByteBuf composite = Unpooled.compositeBuffer(20);
        ByteBuf whole = random(UnpooledByteBufAllocator.DEFAULT.directBuffer(length), length);
        for (int i = 0; i < 5; i++) {
            int from = (int) ((long) length * i / 5);
            composite.addComponent(true, whole.retainedSlice(from, (int) ((long) length * (i + 1) / 5) - from));
        }
        whole.release();
        messages.add(composite);
        for (ByteBuf message : messages) {
            ChannelFuture write = client.writeAndFlush(message);
            RdmaReceive received = serverEvents.message();
            assertThat(received.length()).isEqualTo(length);
            assertRandom(received.content(), length);
            received.release();
            TestTimeouts.sync(write);
            assertThat(message.refCnt()).isZero();
        }
        assertThat(LIMITS.usedBytes()).isZero();
    }

    @Test
    void messagesArriveInTheOrderOfTheirWritesWhateverTheirLengths() throws Exception {
        connect();
        Random random = new Random(1);
        int[] lengths = random.ints(150, 0, 40).map(i -> i < 20 ? i : i * i * i * 10).toArray();
        List<ChannelFuture> writes = new ArrayList<>();
        for (int length : lengths) {
            writes.add(client.write(random(Unpooled.directBuffer(Math.max(1, length)), length)));
            // The other way at the same time.
            writes.add(server.writeAndFlush(random(Unpooled.directBuffer(Math.max(1, length)), length)));
        }
        client.flush();
        for (Recorder events : List.of(serverEvents, clientEvents)) {
            for (int length : lengths) {
                RdmaReceive received = events.message();
                assertThat(received.length()).isEqualTo(length);
                assertRandom(received.content(), length);
                received.release();
            }
        }
        for (ChannelFuture write : writes) {
            TestTimeouts.sync(write);
        }
        TestTimeouts.awaitTrue(client::isWritable);
    }

    @Test
    void channelIsNotWritableWhileMessagesCantBeAnnounced() throws Exception {
        connect();
        server.config().setAutoRead(false);
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            writes.add(client.writeAndFlush(random(Unpooled.directBuffer(10_000), 10_000)));
        }
        TestTimeouts.awaitTrue(() -> !client.isWritable());
        server.config().setAutoRead(true);
        for (int i = 0; i < 40; i++) {
            serverEvents.message().release();
        }
        for (ChannelFuture write : writes) {
            TestTimeouts.sync(write);
        }
        TestTimeouts.awaitTrue(client::isWritable);
    }

    @Test
    void eachReadOfAChannelWithoutAutoReadGetsMessagesAndAnswersComeBesides() throws Exception {
        connect();
        server.config().setAutoRead(false);
        client.config().setAutoRead(false);
        for (int i = 0; i < 3; i++) {
            ChannelFuture write = client.writeAndFlush(random(Unpooled.directBuffer(LONG), LONG));
            server.read();
            RdmaReceive received = serverEvents.message();
            assertRandom(received.content(), LONG);
            received.release();
            // Nobody reads the client.
            TestTimeouts.sync(write);
        }
        assertThat(serverEvents.messages()).isZero();
    }

    @Test
    void receiverChoosesTheMemoryAndTheSenderNamesIts() throws Exception {
        try (RegisteredMemory from = RegisteredMemory.of(ByteBuffer.allocateDirect(LONG + 100), ALL);
             RegisteredMemory to = RegisteredMemory.of(ByteBuffer.allocateDirect(LONG + 200), ALL)) {
            List<RegisteredSlice> chosen = List.of(to.slice(10, 100), to.slice(110, 0), to.slice(150, LONG));
            connect(() -> new RdmaRendezvousHandler(LIMITS), () -> new RdmaRendezvousHandler(LIMITS) {
                @Override
                protected List<RegisteredSlice> memory(int length) {
                    return chosen;
                }
            });
            random(from.buf().setIndex(7, 7), LONG);
            TestTimeouts.sync(client.writeAndFlush(new RdmaSend(List.of(from.slice(7, 1), from.slice(8, LONG - 1)))));
            RdmaReceive received = serverEvents.message();
            assertThat(received.memory()).isEqualTo(chosen);
            assertThat(received.length()).isEqualTo(LONG);
            assertThat(received.content().isReadable()).isFalse();
            received.release();
            ByteBuf arrived = Unpooled.wrappedBuffer(to.buf().retainedSlice(10, 100),
                    to.buf().retainedSlice(150, LONG - 100));
            assertRandom(arrived, LONG);
            arrived.release();
            // Slices are announced however few bytes they have.
            TestTimeouts.sync(client.writeAndFlush(new RdmaSend(from.slice(7, 100)).length(5)));
            assertThat(serverEvents.message().length()).isEqualTo(5);
            assertThat(from.refCnt()).isEqualTo(1);
            assertThat(to.refCnt()).isEqualTo(1);
        }
        try (RegisteredMemory closed = RegisteredMemory.allocate(10, EnumSet.of(RdmaPermission.LOCAL_WRITE))) {
            assertThat(MessagePair.failure(client, new RdmaSend(closed.slice(0, 10))))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("REMOTE_READ");
        }
    }

    @Test
    void otherOperationsAndImmediateDataPassThrough() throws Exception {
        connect();
        try (RegisteredMemory memory = RegisteredMemory.allocate(10, ALL)) {
            RemoteMemory remote = ((RdmaMessageChannel) server).export(memory);
            MessagePair.write(client, new RdmaWriteImm(Unpooled.copyInt(1), remote, 0, 7));
            RdmaReceive received = serverEvents.message();
            assertThat(received.immediate()).isEqualTo(7);
            received.release();
            MessagePair.write(client, new RdmaSendImm(Unpooled.copyInt(2), 8));
            received = serverEvents.message();
            assertThat(received.content().readInt()).isEqualTo(2);
            received.release();
            ByteBuf bytes = Unpooled.copyInt(3);
            assertThat(MessagePair.failure(client, new RdmaSendInv(bytes, remote)))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(bytes.refCnt()).isZero();
        }
    }

    @Test
    void messageThatIsTooLongForTheReceiverIsRefusedAndTheConnectionGoesOn() throws Exception {
        connect(() -> new RdmaRendezvousHandler(LIMITS),
                () -> new RdmaRendezvousHandler(new RdmaRendezvousLimits(100_000, 100_000, 100_000)));
        ByteBuf tooLong = random(Unpooled.directBuffer(100_001), 100_001);
        assertThat(MessagePair.failure(client, tooLong)).isInstanceOf(IOException.class)
                .hasMessageContaining("refused a message of 100001 bytes");
        assertThat(tooLong.refCnt()).isZero();
        assertThat(serverEvents.next()).asString().contains("100001 bytes").contains("at most 100000");
        for (int i = 0; i < 5; i++) {
            client.writeAndFlush(random(Unpooled.directBuffer(100_000), 100_000));
        }
        for (int i = 0; i < 5; i++) {
            RdmaReceive received = serverEvents.message();
            assertRandom(received.content(), 100_000);
            received.release();
        }
    }

    @Test
    void receiverWithoutMemoryRefuses() throws Exception {
        connect(() -> new RdmaRendezvousHandler(LIMITS), () -> new RdmaRendezvousHandler(LIMITS) {
            @Override
            protected List<RegisteredSlice> memory(int length) throws IOException {
                throw new IOException("none of mine");
            }
        });
        assertThat(MessagePair.failure(client, random(Unpooled.directBuffer(LONG), LONG)))
                .isInstanceOf(IOException.class).hasMessageContaining("refused");
        assertThat(serverEvents.next()).asString().contains("none of mine");
        assertThat(LIMITS.usedBytes()).isZero();
        MessagePair.write(client, Unpooled.copyInt(1));
        serverEvents.message().release();
    }

    @Test
    void limitOfAllChannelsMakesTheOthersWait() throws Exception {
        RdmaRendezvousLimits shared = new RdmaRendezvousLimits(LONG, LONG, LONG);
        connect(() -> new RdmaRendezvousHandler(shared), () -> new RdmaRendezvousHandler(shared));
        // Something else uses it up.
        assertThat(shared.reserve(LONG, () -> { })).isTrue();
        ChannelFuture write = client.writeAndFlush(random(Unpooled.directBuffer(LONG), LONG));
        ChannelFuture behind = client.writeAndFlush(Unpooled.copyInt(1));
        TestTimeouts.sync(behind);
        TestTimeouts.sync(server.eventLoop().submit(() -> { }));
        assertThat(serverEvents.messages()).as("the short one waits for the long one").isZero();
        assertThat(write.isDone()).isFalse();
        shared.release(LONG);
        for (int length : new int[] { LONG, 4 }) {
            RdmaReceive received = serverEvents.message();
            assertThat(received.length()).isEqualTo(length);
            received.release();
        }
        TestTimeouts.sync(write);
        assertThat(shared.usedBytes()).isZero();
    }

    @Test
    void cancelledWriteIsWithdrawn() throws Exception {
        RdmaRendezvousLimits own = new RdmaRendezvousLimits(LONG, LONG, LONG);
        connect(() -> new RdmaRendezvousHandler(own), () -> new RdmaRendezvousHandler(own));
        assertThat(own.reserve(LONG, () -> { })).isTrue();
        ByteBuf cancelled = random(Unpooled.directBuffer(LONG), LONG);
        ChannelFuture write = client.writeAndFlush(cancelled);
        TestTimeouts.sync(client.writeAndFlush(Unpooled.copyInt(1)));
        assertThat(write.cancel(false)).isTrue();
        assertThat(TestTimeouts.await(write).cause()).isInstanceOf(CancellationException.class);
        // The next message arrives, and the memory is given back.
        RdmaReceive received = serverEvents.message();
        assertThat(received.length()).isEqualTo(4);
        received.release();
        TestTimeouts.awaitTrue(() -> cancelled.refCnt() == 0);
        own.release(LONG);
        assertThat(own.usedBytes()).isZero();
    }

    @Test
    void messagesAreCancelledAtAnyMoment() throws Exception {
        connect();
        Random random = new Random(2);
        List<ByteBuf> buffers = new ArrayList<>();
        int arrived = 0;
        for (int i = 0; i < 60; i++) {
            ByteBuf buffer = random(Unpooled.directBuffer(500_000), 500_000);
            buffers.add(buffer);
            ChannelFuture write = client.writeAndFlush(buffer);
            for (int spin = random.nextInt(20); spin > 0; spin--) {
                Thread.yield();
            }
            arrived += write.cancel(false) ? 0 : 1;
        }
        assertThat(arrived).as("not cancelled").isLessThan(buffers.size());
        TestTimeouts.sync(client.writeAndFlush(new RdmaSendImm(Unpooled.EMPTY_BUFFER, 99)));
        MessagePair.write(client, random(Unpooled.directBuffer(5000), 5000));
        RdmaReceive received = serverEvents.message();
        for (; received.length() != 5000; received = serverEvents.message()) {
            if (!received.hasImmediate()) {
                assertRandom(received.content(), 500_000);
                arrived--;
            }
            received.release();
        }
        received.release();
        // A cancellation may have come too late for the peer.
        assertThat(arrived).isNotPositive();
        TestTimeouts.awaitTrue(() -> buffers.stream().allMatch(buffer -> buffer.refCnt() == 0));
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void endInTheMiddleFailsTheWritesAndGivesBackAllMemory(boolean senderCloses) throws Exception {
        AtomicInteger calls = new AtomicInteger();
        connect(() -> new RdmaRendezvousHandler(LIMITS), () -> new RdmaRendezvousHandler(LIMITS) {
            @Override
            protected List<RegisteredSlice> memory(int length) throws IOException {
                if (calls.incrementAndGet() == 5) {
                    (senderCloses ? client : server).close();
                } else if (calls.get() > 5) {
                    throw new IOException("enough");
                }
                return null;
            }
        });
        (senderCloses ? client : server).config().setOption(ChannelOption.SO_LINGER, 0);
        List<ByteBuf> buffers = new ArrayList<>();
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            ByteBuf buffer = random(Unpooled.directBuffer(LONG), LONG);
            buffers.add(buffer);
            writes.add(client.writeAndFlush(buffer));
        }
        TestTimeouts.sync(client.closeFuture());
        for (ChannelFuture write : writes) {
            TestTimeouts.await(write);
        }
        assertThat(writes.get(29).cause()).isInstanceOf(IOException.class);
        TestTimeouts.awaitTrue(() -> buffers.stream().allMatch(buffer -> buffer.refCnt() == 0));
        TestTimeouts.sync(server.closeFuture());
        serverEvents.release();
        TestTimeouts.awaitTrue(() -> LIMITS.usedBytes() == 0);
        assertThat(MessagePair.failure(client, random(Unpooled.directBuffer(LONG), LONG)))
                .isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void handlerNeedsAChannelOfMessagesAndReceivesForItsFrames() {
        RdmaMessageChannel channel = new RdmaMessageChannel();
        channel.config().setOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 399);
        channel.pipeline().addLast(new RdmaRendezvousHandler(), clientEvents);
        loops.group().register(channel).awaitUninterruptibly();
        assertThat(channel.pipeline().get(RdmaRendezvousHandler.class)).isNull();
        channel.close().awaitUninterruptibly();
        assertThatThrownBy(() -> new RdmaRendezvousLimits(10, 9, 10)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxPeerBytes: 9");
    }

    // ---- a peer that does what it likes

    private void assertViolation(ByteBuf frame, String why) throws Exception {
        client.writeAndFlush(frame);
        assertThat(serverEvents.next()).isInstanceOf(IOException.class).asString().contains("protocol").contains(why);
        assertThat(serverEvents.next()).isEqualTo("inactive");
        close();
    }

    private void connectHostile() throws Exception {
        connect(() -> null, () -> new RdmaRendezvousHandler(LIMITS));
    }

    @ParameterizedTest
    @ValueSource(strings = {
            "|0 bytes", "01010000|4 bytes", "02010000000000000000000000000000|version 2",
            "01090000000000000000000000000000|type 9", "01010001000000000000000000000000|1 pieces in a frame of type 1",
            "01010000000000000000000000000001|a message of 0 bytes", "01010000000000010000000000000000|as number 1",
            "01020000000000010000000000000000|0 pieces", "01020011000000010000000000000000|17 pieces",
            "01020001000000010000000000000010|0 bytes in a frame of type 2 with 1 pieces",
            // Sums of lengths: not as announced, none, negative, and beyond 2^63.
            "01020001000000010000000000000011000000000000100000000000000000100000000500000000|not of 17 bytes",
            "01020001000000010000000000000000000000000000100000000000000000000000000500000000|length: 0 ",
            "0102000100000001ffffffffffffffff0000000000001000ffffffffffffffff0000000500000000|length: 184467440737095",
            "010200010000000100000000000000107ffffffffffffff800000000000000100000000500000000|length: 16",
            "01020001000000010000000000000010000000000000100000000000000000100000000500000001|reserved",
            "01020002000000017ffffffffffffffe" + "0000000000000001" + "7ffffffffffffffe" + "0000000500000000" +
                    "0000000000000001" + "7ffffffffffffffe" + "0000000500000000|not of 9223372036854775806 bytes",
            "01030000000000070000000000000000|an answer to number 7", "01030000000000010000000000000003|answer 3",
            "0103000000000001ffffffffffffffff|answer -1", "01040000000000010000000000000001|a cancellation with 1",
            "0104000000000001000000000000000000|1 bytes in a frame of type 4"
    })
    void frameThatIsNotAsTheProtocolSaysEndsTheConnection(String hexAndWhy) throws Exception {
        connectHostile();
        String[] parts = hexAndWhy.split("\\|");
        assertViolation(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(parts[0])), parts[1]);
    }

    @Test
    void peerThatAnnouncesTooMuchOrTheSameTwiceLosesTheConnection() throws Exception {
        RdmaRendezvousLimits full = new RdmaRendezvousLimits(1000, 1000, 1000);
        full.reserve(1000, () -> { });
        for (int count : new int[] { 2, 17 }) {
            connect(() -> null, () -> new RdmaRendezvousHandler(full));
            RemoteMemory any = new RemoteMemory(4096, 10, 5, EnumSet.of(RdmaPermission.REMOTE_READ));
            for (int i = 1; i < count; i++) {
                MessagePair.write(client, announcement(i, any));
            }
            assertViolation(announcement(count == 2 ? 1 : 17, any), count == 2 ? "announced twice" : "more than 16");
            assertThat(full.usedBytes()).isEqualTo(1000);
        }
    }

    @Test
    void peerThatSendsTooMuchBehindAnAnnouncementLosesTheConnection() throws Exception {
        RdmaRendezvousLimits full = new RdmaRendezvousLimits(1000, 1000, 1000);
        full.reserve(1000, () -> { });
        connect(() -> null, () -> new RdmaRendezvousHandler(full));
        RemoteMemory any = new RemoteMemory(4096, 10, 5, EnumSet.of(RdmaPermission.REMOTE_READ));
        MessagePair.write(client, announcement(1, any));
        for (int i = 0; i < 64; i++) {
            MessagePair.write(client, shortMessage());
        }
        // Immediate data do not count, and are not held up.
        MessagePair.write(client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, 5));
        RdmaReceive passed = serverEvents.message();
        assertThat(passed.immediate()).isEqualTo(5);
        passed.release();
        assertViolation(shortMessage(), "more than 64 messages behind");
    }

    @Test
    void senderKeepsThatBound() throws Exception {
        RdmaRendezvousLimits own = new RdmaRendezvousLimits(LONG, LONG, LONG);
        connect(() -> new RdmaRendezvousHandler(own), () -> new RdmaRendezvousHandler(own));
        own.reserve(LONG, () -> { });
        client.write(random(Unpooled.directBuffer(LONG), LONG));
        List<ChannelFuture> writes = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            writes.add(client.write(Unpooled.copyInt(i)));
        }
        client.flush();
        TestTimeouts.sync(writes.get(63));
        TestTimeouts.awaitTrue(() -> !client.isWritable());
        assertThat(writes.get(64).isDone()).isFalse();
        own.release(LONG);
        assertThat(serverEvents.message().release()).isTrue();
        for (int i = 0; i < 100; i++) {
            RdmaReceive received = serverEvents.message();
            assertThat(received.content().readInt()).isEqualTo(i);
            received.release();
        }
        TestTimeouts.sync(writes.get(99));
    }

    @Test
    void keyThatOpensNothingEndsTheConnectionAndGivesBackTheMemory() throws Exception {
        connectHostile();
        client.writeAndFlush(announcement(1, new RemoteMemory(4096, LONG, 5, EnumSet.of(RdmaPermission.REMOTE_READ))));
        assertThat(serverEvents.next()).isInstanceOf(RdmaOperationException.class);
        Object end = serverEvents.next();
        assertThat(end instanceof Throwable ? serverEvents.next() : end).isEqualTo("inactive");
        TestTimeouts.awaitTrue(() -> LIMITS.usedBytes() == 0);
    }

    @Test
    void cancellationOfWhatIsNotAnnouncedIsNoViolation() throws Exception {
        connectHostile();
        ByteBuf frame = Unpooled.buffer();
        RendezvousFrame.writeHeader(frame, RendezvousFrame.CANCELLATION, 5, 0);
        MessagePair.write(client, frame);
        MessagePair.write(client, shortMessage());
        assertThat(serverEvents.text()).isEqualTo("x");
    }

    private static ByteBuf shortMessage() {
        ByteBuf message = Unpooled.buffer();
        RendezvousFrame.writeHeader(message, RendezvousFrame.MESSAGE, 0, 1);
        return message.writeByte('x');
    }

    private static ByteBuf announcement(int id, RemoteMemory... pieces) {
        ByteBuf frame = Unpooled.buffer();
        RendezvousFrame.writeAnnouncement(frame, id, List.of(pieces));
        return frame;
    }

    private static ByteBuf random(ByteBuf buf, int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return buf.writeBytes(bytes);
    }

    private static void assertRandom(ByteBuf buf, int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        assertThat(buf.equals(Unpooled.wrappedBuffer(bytes))).as("the bytes that were sent").isTrue();
    }
}
