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
package io.netty.channel.rdma.peers;

import io.netty.channel.ChannelFuture;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.peers.GeneratedStream.Received;
import io.netty.channel.rdma.peers.GeneratedStream.WriteFailed;
import io.netty.channel.rdma.support.Generated;
import io.netty.channel.socket.DuplexChannel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Streams of bytes between a channel and a C program on librdmacm's rsockets: both directions at once, slow readers,
 * buffers and queues of every size, and each way in which such a program can end its side.
 */
@Tag("iwarp")
@Tag("platforms")
class RdmaRsocketStreamTest {
    private static final int LENGTH = 3_000_000;
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled("/usr/bin/rstream", "rdmacm-utils");
    }

    /**
     * The peer's options are those of {@code rsetsockopt(2)}: 2048 and 16 are the least sizes that rsockets accept, of
     * the receive buffer it is 2 bytes, in two halves.
     */
    @ParameterizedTest
    @CsvSource({
            "false, '', 3000000", "true, '', 3000000",
            "false, rcvbuf=2048 sndbuf=2048 sqsize=16 rqsize=16 inline=0, 300000",
            "true, rcvbuf=2048 sndbuf=2048 sqsize=16 rqsize=16 inline=0, 300000",
            "false, rcvbuf=2 rqsize=16, 1000", "true, rcvbuf=2 rqsize=10000, 1000",
            "false, rcvbuf=67108864 sndbuf=67108864 sqsize=2000 rqsize=16, 12000000",
            "true, rcvbuf=67108864 sndbuf=67108864 sqsize=16 rqsize=4000 inline=400, 12000000",
            "false, rcvbuf=1000000 sndbuf=5000 rqsize=17 iomap=8 keepalive=1, 1000000",
            "true, rcvbuf=1000000 sndbuf=5000 sqsize=17 iomap=128 keepalive=1, 1000000",
    })
    void bothDirectionsAtOnce(boolean client, String options, int length) throws Exception {
        GeneratedStream stream = new GeneratedStream(length, length, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, options,
                "exchange " + length + " close", true, stream)) {
            String sum = Generated.sum(length);
            assertThat(new Object[] { stream.nextEvent(), stream.nextEvent() }).containsExactlyInAnyOrder(
                    new Received(sum), GeneratedStream.SENT);
            connection.peer().assertNextLine("exchange " + sum);
            connection.peer().assertExit(0);
            assertOrderlyEnd(stream);
        }
    }

    /**
     * A peer's buffer takes more at a time than a device may carry in a message (soft-RoCE: 8 MiB), and the write is
     * longer than both.
     */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void oneWriteIsSplitIntoMessagesThatTheDeviceCarries(boolean client) throws Exception {
        int length = 40_000_000;
        GeneratedStream stream = new GeneratedStream(0, 1, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "rcvbuf=67108864",
                "send 1 receive " + length + " close", true, stream)) {
            assertThat(stream.nextEvent()).isInstanceOf(Received.class);
            ChannelFuture write = stream.channel().writeAndFlush(
                    Generated.bytes(stream.channel().alloc(), 0, length));
            TestTimeouts.sync(write);
            connection.peer().assertNextLine("send 1");
            connection.peer().assertNextLine("receive " + Generated.sum(length));
            connection.peer().assertExit(0);
            assertOrderlyEnd(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void slowReaderIsNotOverrun(boolean client) throws Exception {
        GeneratedStream stream = new GeneratedStream(LENGTH, 1, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "delay=1000 read=10000",
                "receive " + LENGTH + " close", true, stream)) {
            assertThat(stream.nextEvent()).isSameAs(GeneratedStream.SENT);
            connection.peer().assertNextLine("receive " + Generated.sum(LENGTH));
            connection.peer().assertExit(0);
            assertThat(stream.wasHeldBack()).isTrue();
            assertOrderlyEnd(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void slowHandlerHoldsThePeerBack(boolean client) throws Exception {
        GeneratedStream stream = new GeneratedStream(0, LENGTH, true);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "", "send " + LENGTH +
                " wait close", false, stream)) {
            assertThat(stream.nextEvent()).isEqualTo(new Received(Generated.sum(LENGTH)));
            connection.peer().assertNextLine("send " + LENGTH);
            connection.peer().assertNextLine("waiting");
            connection.peer().resume();
            connection.peer().assertExit(0);
            assertOrderlyEnd(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void peerEndsItsOutputAndReadsOn(boolean client) throws Exception {
        GeneratedStream stream = new GeneratedStream(0, 100_000, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "",
                "send 100000 shutdown drain close", true, stream)) {
            assertThat(stream.nextEvent()).isEqualTo(new Received(Generated.sum(100_000)));
            assertThat(stream.nextEvent()).isSameAs(GeneratedStream.INPUT_SHUT);
            assertThat(stream.channel().isActive()).isTrue();
            ChannelFuture write = stream.channel().writeAndFlush(
                    Generated.bytes(stream.channel().alloc(), 0, 1_000_000));
            TestTimeouts.sync(write);
            TestTimeouts.sync(stream.channel().close());
            connection.peer().assertNextLine("send 100000");
            connection.peer().assertNextLine("drain " + Generated.sum(1_000_000) + " end");
            connection.peer().assertExit(0);
            assertOrderlyEnd(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void channelEndsItsOutputAndReadsOn(boolean client) throws Exception {
        GeneratedStream stream = new GeneratedStream(1_000_000, 100_000, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "",
                "drain send 100000 close", true, stream)) {
            assertThat(stream.nextEvent()).isSameAs(GeneratedStream.SENT);
            TestTimeouts.sync(((DuplexChannel) stream.channel()).shutdownOutput());
            connection.peer().assertNextLine("drain " + Generated.sum(1_000_000) + " end");
            assertThat(stream.nextEvent()).isEqualTo(new Received(Generated.sum(100_000)));
            connection.peer().assertExit(0);
            assertOrderlyEnd(stream);
        }
    }

    /** A process that ends without {@code rclose()}, and one that is killed: the peer is not told. */
    @ParameterizedTest
    @CsvSource({ "false, wait exit", "true, wait exit", "false, wait kill", "true, wait kill" })
    void processThatIsGoneIsAReset(boolean client, String end) throws Exception {
        GeneratedStream stream = new GeneratedStream(0, 1000, false);
        String steps = "send 1000 wait" + (end.endsWith("exit") ? " exit" : "");
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "", steps, true, stream)) {
            assertThat(stream.nextEvent()).isInstanceOf(Received.class);
            connection.peer().assertNextLine("send 1000");
            end(connection.peer(), end);
            assertThat(stream.nextEvent()).asString().contains("Connection reset by peer");
            // With half closure a reset that is read ends the input alone, as with epoll (RdmaConnectionEndTest).
            assertThat(stream.nextEvent()).isSameAs(GeneratedStream.INPUT_SHUT);
            TestTimeouts.sync(stream.channel().close());
            assertThat(stream.nextEvent()).isSameAs(GeneratedStream.INACTIVE);
        }
    }

    /** As above, and {@code rclose()} with more to read: what was being sent fails. */
    @ParameterizedTest
    @CsvSource({
            "false, wait exit", "true, wait exit", "false, wait kill", "true, wait kill",
            "false, wait close", "true, wait close",
    })
    void writesFailWhenThePeerStopsReading(boolean client, String end) throws Exception {
        GeneratedStream stream = new GeneratedStream(Long.MAX_VALUE, 1, false);
        String steps = "receive 100000 " + (end.endsWith("kill") ? "wait" : end);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "", steps, true, stream)) {
            connection.peer().assertNextLine("receive " + Generated.sum(100_000));
            end(connection.peer(), end);
            boolean failed = false;
            Object event;
            while ((event = stream.nextEvent()) != GeneratedStream.INACTIVE) {
                if (event instanceof WriteFailed) {
                    assertThat(((WriteFailed) event).cause()).isInstanceOf(IOException.class);
                    failed = true;
                } else if (event != GeneratedStream.INPUT_SHUT) {
                    assertThat(event).asString().contains("Connection reset by peer");
                }
            }
            assertThat(failed).as("a write failed").isTrue();
        }
    }

    private static void end(RsocketProcess peer, String how) throws InterruptedException {
        peer.assertNextLine("waiting");
        if (how.endsWith("kill")) {
            peer.kill();
        } else {
            peer.resume();
            peer.assertExit(0);
        }
    }

    /** The peer has said goodbye: the input ends, and the channel is closed without an exception. */
    private static void assertOrderlyEnd(GeneratedStream stream) throws InterruptedException {
        Object event = stream.nextEvent();
        if (event == GeneratedStream.INPUT_SHUT) {
            TestTimeouts.sync(stream.channel().close());
            event = stream.nextEvent();
        }
        assertThat(event).isSameAs(GeneratedStream.INACTIVE);
    }
}
