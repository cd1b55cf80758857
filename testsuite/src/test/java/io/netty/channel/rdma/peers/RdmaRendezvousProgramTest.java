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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaRendezvousHandler;
import io.netty.channel.rdma.message.RdmaRendezvousLimits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Messages of any length with a C program at the other end, {@code src/test/c/rendezvous_peer.c}, which knows what
 * docs/rendezvous.md says.
 */
@Tag("quick")
class RdmaRendezvousProgramTest {
    private static final int[] LENGTHS = { 0, 5, 4080, 4081, 100_000, 5_000_001 };
    private static final int MOST = 6_000_000;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void messagesOfAnyLengthGoBothWays(boolean client) throws Exception {
        StringBuilder steps = new StringBuilder();
        for (int length : LENGTHS) {
            steps.append("receive send ").append(length).append(' ');
        }
        steps.append("refuse send ").append(MOST + 1).append(" receive cancel ").append(MOST).append(" send 5000");
        try (ProgramConnection peer = ProgramConnection.open(LOOPS.group(), client,
                address -> command(client, address, steps.toString()))) {
            peer.channel().pipeline().addFirst(new RdmaRendezvousHandler(new RdmaRendezvousLimits(MOST, MOST, MOST)));
            for (int length : LENGTHS) {
                peer.write(message(length));
                peer.program().assertNextLine("received " + length);
                assertBytes(peer.nextMessage(), length);
                peer.program().assertNextLine("sent " + length);
            }
            ChannelFuture refused = TestTimeouts.await(peer.channel().writeAndFlush(message(5000)));
            assertThat(refused.cause()).isInstanceOf(IOException.class).hasMessageContaining("refused");
            peer.program().assertNextLine("refused 5000");
            peer.program().assertNextLine("refused " + (MOST + 1));
            peer.write(message(3));
            peer.program().assertNextLine("received 3");
            // The cancellation may come too late.
            byte[] next = peer.nextMessage();
            boolean read = next.length == MOST;
            peer.program().assertNextLine((read ? "sent " : "cancelled ") + MOST);
            assertBytes(read ? peer.nextMessage() : next, 5000);
            peer.program().assertNextLine("sent 5000");
            peer.program().assertExit(0);
        }
    }

    private static ByteBuf message(int length) {
        ByteBuf message = Unpooled.directBuffer(Math.max(1, length));
        for (int i = 0; i < length; i++) {
            message.writeByte(i * 31 + length);
        }
        return message;
    }

    private static void assertBytes(byte[] message, int length) {
        assertThat(message).hasSize(length);
        for (int i = 0; i < length; i++) {
            if (message[i] != (byte) (i * 31 + length)) {
                assertThat(message[i]).as("byte %d of %d", i, length).isEqualTo((byte) (i * 31 + length));
            }
        }
    }

    private static List<String> command(boolean client, InetSocketAddress address, String steps) {
        List<String> command = new ArrayList<>(List.of(RsocketProcess.built("rendezvous_peer"),
                client ? "connect" : "listen", RsocketProcess.host(address), Integer.toString(address.getPort())));
        command.addAll(List.of(steps.split(" ")));
        return command;
    }
}
