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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.GidEntry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The distribution's own {@code ibv_rc_pingpong}, which connects its queue pair without the connection manager: each
 * end tells the other over TCP where its queue pair is.
 */
class RdmaRcPingpongTest {
    private static final String PROGRAM = "/usr/bin/ibv_rc_pingpong";
    private static final int COUNT = 100;
    private static final int SIZE = 4096;
    /** Byte of the client's messages. */
    private static final int FILL = 0x7b;
    /** LID, queue pair number, packet sequence number and GID as text, and a zero byte. */
    private static final int ADDRESS_LENGTH = "0000:000000:000000:".length() + 32 + 1;
    private static final byte[] DONE = "done\0".getBytes(StandardCharsets.US_ASCII);
    /** In the blob of {@link RdmaEndpoint}. */
    private static final int MTU = 6;
    private static final int QUEUE_PAIR_NUMBER = 8;
    private static final int PACKET_SEQUENCE = 12;
    private static final int LID = 16;
    private static final int GID = 20;
    /** The default of {@code -m}, as enum ibv_mtu. */
    private static final int MTU_1024 = 3;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled(PROGRAM, "ibverbs-utils");
    }

    @Test
    void asServer() throws Exception {
        try (ProgramConnection pingpong = ProgramConnection.byHand(LOOPS.group(), channel -> {
            ByteBuf own = own(channel);
            int port = RsocketProcess.someAddress().getPort();
            RsocketProcess program = start(own, port);
            try (Socket socket = connect(program, port)) {
                socket.getOutputStream().write(text(own));
                RdmaEndpoint peer = peer(own, socket.getInputStream().readNBytes(ADDRESS_LENGTH));
                TestTimeouts.sync(channel.connect(peer));
                // The program waits for this message.
                socket.getOutputStream().write(DONE);
            }
            return program;
        })) {
            for (int i = 0; i < COUNT; i++) {
                byte[] ping = data(i);
                pingpong.write(new RdmaSend(Unpooled.wrappedBuffer(ping)));
                assertThat(pingpong.nextMessage()).as("its only buffer").isEqualTo(ping);
            }
            assertSuccess(pingpong);
        }
    }

    @Test
    void asClient() throws Exception {
        try (ProgramConnection pingpong = ProgramConnection.byHand(LOOPS.group(), channel -> {
            ByteBuf own = own(channel);
            try (ServerSocket listener = new ServerSocket()) {
                listener.bind(new InetSocketAddress("127.0.0.1", 0));
                listener.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
                RsocketProcess program = start(own, listener.getLocalPort(), "127.0.0.1");
                try (Socket socket = listener.accept()) {
                    socket.setSoTimeout(listener.getSoTimeout());
                    RdmaEndpoint peer = peer(own, socket.getInputStream().readNBytes(ADDRESS_LENGTH));
                    // The program sends as soon as it knows the address.
                    TestTimeouts.sync(channel.connect(peer));
                    socket.getOutputStream().write(text(own));
                    assertThat(socket.getInputStream().readNBytes(DONE.length)).as(program.log()).isEqualTo(DONE);
                }
                return program;
            }
        })) {
            for (int i = 0; i < COUNT; i++) {
                byte[] ping = pingpong.nextMessage();
                assertThat(ping).isEqualTo(data(FILL));
                pingpong.write(new RdmaSend(Unpooled.wrappedBuffer(ping)));
            }
            assertSuccess(pingpong);
        }
    }

    /** {@code -c}: it looks at what it gets. */
    private static RsocketProcess start(ByteBuf own, int port, String... server) throws IOException {
        byte[] gid = ByteBufUtil.getBytes(own, GID, 16);
        String device = TestAddress.device();
        GidEntry found = Device.shared(device).gids(1).stream().filter(entry -> Arrays.equals(entry.bytes(), gid))
                .findFirst().orElseThrow();
        List<String> command = new ArrayList<>(List.of(PROGRAM, "-c", "-d", device, "-g",
                Integer.toString(found.index()), "-n", Integer.toString(COUNT), "-s", Integer.toString(SIZE), "-p",
                Integer.toString(port)));
        command.addAll(List.of(server));
        return RsocketProcess.start(command);
    }

    private static Socket connect(RsocketProcess program, int port) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        for (;;) {
            Socket socket = new Socket();
            try {
                socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
                socket.connect(new InetSocketAddress("127.0.0.1", port));
                return socket;
            } catch (ConnectException e) {
                // The program does not listen yet.
                socket.close();
                assertThat(System.nanoTime() < deadline).as("%s: %s", program.log(), e).isTrue();
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }
    }

    private static ByteBuf own(RdmaMessageChannel channel) throws Exception {
        ByteBuf blob = Unpooled.buffer(RdmaEndpoint.BLOB_LENGTH);
        TestTimeouts.result(channel.exportEndpoint()).write(blob);
        return blob;
    }

    private static byte[] text(ByteBuf blob) {
        return String.format("%04x:%06x:%06x:%s\0", blob.getUnsignedShort(LID), blob.getInt(QUEUE_PAIR_NUMBER),
                blob.getInt(PACKET_SEQUENCE), ByteBufUtil.hexDump(blob, GID, 16)).getBytes(StandardCharsets.US_ASCII);
    }

    /** Endpoint of the program; attributes that it does not tell are those of this end. */
    private static RdmaEndpoint peer(ByteBuf own, byte[] text) {
        assertThat(text).hasSize(ADDRESS_LENGTH);
        String[] words = new String(text, 0, ADDRESS_LENGTH - 1, StandardCharsets.US_ASCII).split(":");
        ByteBuf blob = own.copy();
        blob.setByte(MTU, MTU_1024);
        blob.setShort(LID, Integer.parseInt(words[0], 16));
        blob.setInt(QUEUE_PAIR_NUMBER, Integer.parseInt(words[1], 16));
        blob.setInt(PACKET_SEQUENCE, Integer.parseInt(words[2], 16));
        blob.setBytes(GID, ByteBufUtil.decodeHexDump(words[3]));
        return RdmaEndpoint.read(blob);
    }

    /** Data for the program, which checks the first byte of each page. */
    private static byte[] data(int fill) {
        byte[] data = new byte[SIZE];
        Arrays.fill(data, 1, SIZE, (byte) fill);
        return data;
    }

    private static void assertSuccess(ProgramConnection pingpong) throws Exception {
        pingpong.program().assertExit(0);
        assertThat(pingpong.program().log()).contains(COUNT + " iters in ").doesNotContain("invalid data");
    }
}
