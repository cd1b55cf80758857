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
package io.netty.channel.rdma.valkey;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The wire, seen by a peer on raw verbs: in place of a client and of a server of Valkey, byte by byte, and then in
 * place of peers that break the protocol. Other connections of the same event loop go on.
 */
@Tag("quick")
@Tag("rxe-quick")
class RdmaValkeyPeerTest {
    private static final int RECEIVE_BUFFER = 8192;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    private final ConnectedPair.Recorder events = new ConnectedPair.Recorder();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private Channel channel;

    /** A peer that has connected to a server's channel. */
    private RawPeer client() throws Exception {
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaValkeyServerSocketChannel.class)
                .childOption(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER)
                .childHandler(events).bind(TestAddress.anyPort())).channel();
        open.push(() -> TestTimeouts.await(listener.close()));
        RawPeer peer = RawPeer.connect((InetSocketAddress) listener.localAddress());
        open.push(peer);
        assertThat(events.next()).isEqualTo("active");
        channel = events.channel();
        return peer;
    }

    /** A peer that a client's channel has connected to. */
    private RawPeer server() throws Exception {
        RawPeer peer = RawPeer.listen(TestAddress.anyPort());
        open.push(peer);
        ChannelFuture connecting = new Bootstrap().group(LOOPS.group()).channel(RdmaValkeySocketChannel.class)
                .option(ChannelOption.SO_RCVBUF, RECEIVE_BUFFER).handler(events).connect(peer.localAddress());
        peer.accept();
        channel = TestTimeouts.sync(connecting).channel();
        assertThat(events.next()).isEqualTo("active");
        return peer;
    }

    private RawPeer peer(String role) throws Exception {
        return role.equals("client") ? client() : server();
    }

    @AfterEach
    void closeAll() throws Exception {
        if (channel != null) {
            TestTimeouts.await(channel.close());
        }
        while (!open.isEmpty()) {
            open.pop().close();
        }
        events.release();
        // The loop serves another connection.
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { }, b -> { })) {
            TestTimeouts.sync(pair.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {1})));
            assertThat(pair.serverEvents.read(1)).containsExactly(1);
        }
    }

    private static byte[] message(String hex) {
        return HexFormat.of().parseHex(hex + "00".repeat(32 - hex.length() / 2));
    }

    private static byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31);
        }
        return bytes;
    }

    /** The fields of the struct ValkeyRdmaMemory of src/rdma.c. */
    private record Memory(long address, int length, int key) {
        static Memory of(RawPeer.Arrived arrived) {
            assertThat(arrived.message()).hasSize(32);
            ByteBuffer fields = ByteBuffer.wrap(arrived.message());
            assertThat(fields.getShort(0)).isEqualTo((short) 3);
            for (int i = 2; i < 16; i++) {
                assertThat(fields.get(i)).as("reserved byte %d", i).isZero();
            }
            return new Memory(fields.getLong(16), fields.getInt(24), fields.getInt(28));
        }
    }

    // ---- conformance

    @Test
    void serverSpeaksAsValkeyDoesToItsTestClient() throws Exception {
        RawPeer peer = client();
        Memory first = Memory.of(peer.next());
        assertThat(first.length).isEqualTo(RECEIVE_BUFFER / 2);
        assertThat(peer.register()).isEqualTo(WorkCompletionStatus.SUCCESS);

        // As in the examples of topics/RDMA.md: one notice for all, and one for each.
        byte[] bytes = bytes(first.length);
        assertThat(peer.write(first.address, first.key, bytes(128))).isEqualTo(WorkCompletionStatus.SUCCESS);
        peer.writeWithImmediate(first.address + 128, first.key, HexFormat.of().parseHex("0102"), 130);
        assertThat(events.read(128)).isEqualTo(bytes(128));
        assertThat(events.read(2)).containsExactly(1, 2);
        int rest = first.length - 130;
        peer.writeWithImmediate(first.address + 130, first.key, bytes(rest), rest);
        assertThat(events.read(rest)).isEqualTo(bytes(rest));

        Memory second = Memory.of(peer.next());
        assertThat(second.length).as("a client allocates as much, whenever it changes").isEqualTo(first.length);
        assertThat(second.address).isNotEqualTo(first.address);
        peer.writeWithImmediate(second.address, second.key, bytes, bytes.length);
        assertThat(events.read(bytes.length)).isEqualTo(bytes);
        assertThat(Memory.of(peer.next())).as("whichever the application has given back first").isIn(first, second);

        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(1000)));
        RawPeer.Arrived answer = peer.next();
        assertThat(answer.message()).isNull();
        assertThat(answer.immediate()).isEqualTo(1000);
        assertThat(answer.written()).isEqualTo(1000);
        assertThat(peer.received(0, 1000)).isEqualTo(bytes(1000));
    }

    @Test
    void serverAnswersTheQuestionForFeatures() throws Exception {
        RawPeer peer = client();
        Memory.of(peer.next());
        peer.send(message("00000107"));
        assertThat(peer.next().message()).isEqualTo(message("00000107"));
        peer.send(message("0001"));
        peer.send(message("0002"));
        peer.send(message("0000"));
        assertThat(peer.next().message()).isEqualTo(message(""));
    }

    @Test
    void clientSpeaksAsValkeyUnderstandsIt() throws Exception {
        RawPeer peer = server();
        assertThat(peer.next().message()).as("GetServerFeature").isEqualTo(message(""));
        Memory memory = Memory.of(peer.next());
        assertThat(memory.length).isEqualTo(RECEIVE_BUFFER / 2);
        peer.send(message("0000"));
        assertThat(peer.next().message()).as("SetClientFeature").isEqualTo(message("0001"));
        peer.register();
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(700)));
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(50)));
        assertThat(peer.next().immediate()).isEqualTo(700);
        assertThat(peer.next().immediate()).isEqualTo(50);
        assertThat(peer.received(0, 700)).isEqualTo(bytes(700));
        assertThat(peer.received(700, 50)).isEqualTo(bytes(50));
        peer.writeWithImmediate(memory.address, memory.key, bytes(5), 5);
        assertThat(events.read(5)).isEqualTo(bytes(5));
    }

    @Test
    void clientAsksWhetherItsMessagesWereTaken() throws Exception {
        RawPeer peer = server();
        peer.send(message("0000"));
        peer.next(1);
        peer.register();
        for (int i = 0; i < ValkeyStream.ASK_AFTER; i++) {
            TestTimeouts.sync(channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1])));
        }
        assertThat(peer.next(0).message()).isEqualTo(message(""));
    }

    /** Valkey has 1024 receives, and asks for no retries: a message that finds none would end the connection. */
    @Test
    void clientWaitsForAServerThatIsBusy() throws Exception {
        int count = 3000;
        RawPeer peer = server();
        peer.send(message("0000"));
        peer.next(1);
        peer.register();
        for (int i = 0; i < count; i++) {
            TestTimeouts.sync(channel.eventLoop().submit(
                    () -> channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]), channel.voidPromise())));
        }
        for (int received = 0; received < count;) {
            RawPeer.Arrived arrived = peer.next();
            if (arrived.message() == null) {
                received += arrived.immediate();
            } else {
                peer.send(message("0000"));
            }
        }
        assertThat(channel.isActive()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void keepAliveMessagesAreSent(String role) throws Exception {
        RawPeer peer = peer(role);
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 20);
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
        for (int i = 0; i < 3; i++) {
            assertThat(peer.next(2).message()).isEqualTo(message("0002"));
        }
        assertThat(channel.isActive()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void disconnectIsTheEnd(String role) throws Exception {
        RawPeer peer = peer(role);
        peer.disconnect();
        assertThat(events.next()).isEqualTo("inactive");
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void closeDisconnects(String role) throws Exception {
        RawPeer peer = peer(role);
        TestTimeouts.sync(channel.close());
        peer.awaitDisconnected();
    }

    // ---- hostile peers

    private void assertProtocolError(String why) throws InterruptedException {
        assertThat(events.next()).isInstanceOf(StreamProtocolException.class).asString().contains(why);
        assertThat(events.next()).isEqualTo("inactive");
    }

    private void assertBroken() throws InterruptedException {
        Object event = events.next();
        assertThat(event).isInstanceOf(IOException.class);
        assertThat(events.next()).isEqualTo("inactive");
    }

    @ParameterizedTest
    @CsvSource({
            // role, message, part of the reason
            "client, 0004, unknown number 4",
            "server, ffff, unknown number 65535",
            "client, 0003, empty receive buffer",
            "server, 0003, empty receive buffer",
            "client, 00010000000000000000000000000000000000000000000000000000000001, none of which were offered",
            "server, 0001, a message of clients",
            "server, 00000001, selector 1",
            "client, 00030000000000000000000000000000ffffffffffffffff00000002, past the end of the address space",
    })
    void messageThatCanNotBe(String role, String hex, String why) throws Exception {
        RawPeer peer = peer(role);
        peer.send(message(hex));
        assertProtocolError(why);
        peer.awaitDisconnected();
    }

    @ParameterizedTest
    @CsvSource({"client, 0", "client, 31", "server, 2", "client, 33", "server, 64"})
    void messageOfAnotherLength(String role, int length) throws Exception {
        peer(role).send(new byte[length]);
        assertBroken();
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void messageWithImmediateData(String role) throws Exception {
        RawPeer peer = peer(role);
        // The completion looks like that of 32 bytes that were written.
        peer.sendWithImmediate(message("0002"), 32);
        assertProtocolError("not a message of the protocol");
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void moreBytesThanAreLeft(String role) throws Exception {
        RawPeer peer = peer(role);
        Memory memory = Memory.of(peer.next(3));
        peer.writeWithImmediate(memory.address, memory.key, new byte[1], memory.length + 1);
        assertProtocolError("where 4096 were left");
    }

    @Test
    void fewerBytesThanWereWritten() throws Exception {
        RawPeer peer = client();
        Memory memory = Memory.of(peer.next());
        peer.writeWithImmediate(memory.address, memory.key, new byte[8], 7);
        assertProtocolError("wrote 8 bytes but announced 7");
    }

    /** Memory where nothing was written has nothing of another connection, nor of this process. */
    @Test
    void bytesThatWereNotWrittenAreZero() throws Exception {
        RawPeer peer = client();
        Memory memory = Memory.of(peer.next());
        peer.writeWithImmediate(memory.address, memory.key, new byte[0], memory.length);
        assertThat(events.read(memory.length)).isEqualTo(new byte[memory.length]);
    }

    @Test
    void writesOutsideOfTheReceiveMemoryAreRefused() throws Exception {
        RawPeer peer = client();
        Memory memory = Memory.of(peer.next());
        assertThat(peer.writeWithImmediate(memory.address - (1L << 32), memory.key, new byte[8], 8))
                .isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        peer.disconnect();
        assertThat(events.next()).satisfiesAnyOf(event -> assertThat(event).isInstanceOf(IOException.class),
                event -> assertThat(event).isEqualTo("inactive"));
    }

    @ParameterizedTest
    @CsvSource({"client", "server"})
    void memoryThatIsNotThePeers(String role) throws Exception {
        RawPeer peer = peer(role);
        peer.register(peer.receiveAddress(), 4096, peer.key() ^ 0x55AA55);
        ChannelFuture write = channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(2000)));
        assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                .hasMessageContaining("the peer refused access to its memory");
        TestTimeouts.await(channel.closeFuture());
    }

    @Test
    void memoryBeforeTheLastOneIsFull() throws Exception {
        RawPeer peer = server();
        peer.register();
        peer.register();
        assertProtocolError("while " + RawPeer.RECEIVE_LENGTH + " bytes were left");
    }

    @Test
    void serverThatRegistersNoMemoryIsGivenUpByTheUserTimeout() throws Exception {
        server();
        channel.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 100);
        ChannelFuture write = channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]));
        assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                .hasMessageContaining("timed out");
        TestTimeouts.await(channel.closeFuture());
    }

    @Test
    void writesWaitForAServerThatRegistersItsMemoryLate() throws Exception {
        RawPeer peer = server();
        ChannelFuture write = channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(3000)));
        peer.next(3);
        peer.send(message("0002"));
        assertThat(write.isDone()).isFalse();
        peer.register();
        TestTimeouts.sync(write);
        assertThat(peer.nextBytes().immediate()).isEqualTo(3000);
        assertThat(peer.received(0, 3000)).isEqualTo(bytes(3000));
    }

    @Test
    void memoryOfOneByteAtATimeIsUsedUp() throws Exception {
        RawPeer peer = server();
        ChannelFuture write = channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(100)));
        peer.next(3);
        for (int i = 0; i < 100; i++) {
            peer.register(peer.receiveAddress() + i, 1, peer.key());
            RawPeer.Arrived one = peer.nextBytes();
            assertThat(one.immediate()).isEqualTo(1);
        }
        TestTimeouts.sync(write);
        assertThat(peer.received(0, 100)).isEqualTo(bytes(100));
    }
}
