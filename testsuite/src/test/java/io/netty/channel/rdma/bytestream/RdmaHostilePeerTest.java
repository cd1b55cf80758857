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
package io.netty.channel.rdma.bytestream;

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A peer on raw verbs that connects properly and then breaks the protocol: its connection is closed with a cause that
 * says how, and the other connections of the same event loop go on.
 */
@Tag("quick")
@Tag("rxe-quick")
class RdmaHostilePeerTest {
    // The names in rsocket.c of librdmacm: RS_OP_DATA, RS_OP_CTRL, RS_CTRL_SHUTDOWN.
    private static final int DATA = 0;
    private static final int CONTROL = 7;
    private static final int SHUTDOWN = 2;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    private EchoServer server;

    @BeforeEach
    void startServer() throws InterruptedException {
        server = new EchoServer(LOOPS.group());
    }

    @AfterEach
    void echoAndStop() throws InterruptedException {
        EchoClient.check(LOOPS.group(), server.address());
        server.close();
    }

    @Test
    void moreBytesThanAdvertised() throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            ConnectionData data = peer.peer();
            int length = (int) data.bufferLength() + 1;
            EchoServer.Connection connection = server.nextConnection();
            // The device may let it pass, as the next buffer is registered too; or refuse it, which ends the
            // connection.
            int status = peer.writeWithImmediate(immediate(DATA, length), data.bufferAddress(),
                    data.bufferKey(), length);
            if (status == WorkCompletionStatus.SUCCESS) {
                assertProtocolError(connection, "announced " + length + " bytes");
            }
            assertInactive(connection);
        }
    }

    @ParameterizedTest
    @CsvSource({
            // type, value, bytes written with it, part of the message
            "0, 0, 0, no bytes",
            "0, 100, 99, announced 100 bytes but wrote 99",
            "0, 536870911, 0, announced 536870911 bytes",
            "1, 1, 0, reserved type 1",
            "4, 70000, 0, credit update 70000",
            "4, 1, 0, credit update 1",
            "6, 0, 0, iomap",
            "7, 9, 0, control message 9",
    })
    void badMessage(int type, int value, int length, String message) throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            peer.writeWithImmediate(immediate(type, value), peer.peer().bufferAddress(), peer.peer().bufferKey(),
                    length);
            assertProtocolError(connection, message);
            assertInactive(connection);
            peer.awaitDisconnected();
        }
    }

    @Test
    void dataAfterShutdown() throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            // Without half closure the server's channel would be closed by the end of its input.
            connection.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
            peer.writeWithImmediate(immediate(CONTROL, SHUTDOWN), 0, 0, 0);
            peer.writeWithImmediate(immediate(DATA, 5), peer.peer().bufferAddress(),
                    peer.peer().bufferKey(), 5);
            assertProtocolError(connection, "after it had ended its output");
            assertInactive(connection);
        }
    }

    @Test
    void sendInsteadOfWrite() throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            peer.send(0);
            assertThat(connection.nextEvent()).isInstanceOf(IOException.class);
            assertInactive(connection);
        }
    }

    @Test
    void writeOutsideOfTheReceiveMemory() throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            int status = peer.writeWithImmediate(immediate(DATA, 8),
                    peer.peer().bufferAddress() - (1L << 32), peer.peer().bufferKey(), 8);
            assertThat(status).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            peer.disconnect();
            assertInactive(connection);
        }
    }

    @Test
    void wrongKey() throws Exception {
        try (VerbsPeer peer = VerbsPeer.connected(server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            int status = peer.writeWithImmediate(immediate(DATA, 8), peer.peer().bufferAddress(),
                    peer.peer().bufferKey() ^ 0x55AA55, 8);
            assertThat(status).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            peer.disconnect();
            assertInactive(connection);
        }
    }

    @Test
    void buffersThatAreNotThePeers() throws Exception {
        try (VerbsPeer peer = VerbsPeer.resolve(server.address())) {
            // The key is wrong, so the server's echo is refused by the device of this side.
            byte[] data = peer.connectionData();
            ByteBuffer.wrap(data).putInt(32, ByteBuffer.wrap(data).getInt(32) ^ 0x55AA55);
            ConnectionData answer = ConnectionData.read(ByteBuffer.wrap(peer.connect(data).privateData()));
            EchoServer.Connection connection = server.nextConnection();
            assertThat(peer.writeWithImmediate(immediate(DATA, 8), answer.bufferAddress(),
                    answer.bufferKey(), 8)).isEqualTo(WorkCompletionStatus.SUCCESS);
            // The echo was complete when its bytes were copied, as with a socket.
            assertThat(connection.nextEvent()).isInstanceOf(IOException.class).asString()
                    .contains("the peer refused access to its memory");
            assertThat(connection.nextEvent()).isSameAs(EchoServer.INACTIVE);
        }
    }

    private static void assertProtocolError(EchoServer.Connection connection, String message)
            throws InterruptedException {
        assertThat(connection.nextEvent()).isInstanceOf(StreamProtocolException.class).asString().contains(message);
    }

    private static void assertInactive(EchoServer.Connection connection) throws InterruptedException {
        Object event;
        do {
            event = connection.nextEvent();
        } while (event instanceof IOException);
        assertThat(event).isSameAs(EchoServer.INACTIVE);
        assertThat(connection.channel().isOpen()).isFalse();
    }

    /** As rs_msg_set of rsocket.c. */
    private static int immediate(int type, int value) {
        return type << 29 | value;
    }
}
