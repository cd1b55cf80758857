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
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The distribution's own {@code rping}, {@code rdma_client} and {@code rdma_server}, on verbs and the connection
 * manager, at the other end of an {@link io.netty.channel.rdma.message.RdmaMessageChannel}.
 */
class RdmaMessageProgramsTest {
    private static final String RPING = "/usr/bin/rping";
    private static final String RDMA_CLIENT = "/usr/bin/rdma_client";
    private static final String RDMA_SERVER = "/usr/bin/rdma_server";
    private static final int COUNT = 10;
    /** Each message of any of them. */
    private static final int MESSAGE_LENGTH = 16;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    /** {@code -S}: bytes; {@code -q}: its queue pair is not the connection manager's; {@code -V}: it compares. */
    @ParameterizedTest
    @ValueSource(strings = { "-S 64", "-S 65535", "-q -S 4096" })
    void rpingAsClient(String options) throws Exception {
        int size = size(options);
        try (ProgramConnection rping = ProgramConnection.open(LOOPS.group(), true,
                address -> rping(address, "-c -V -C " + COUNT + ' ' + options));
             RegisteredMemory memory = RegisteredMemory.allocate(size, EnumSet.of(RdmaPermission.LOCAL_WRITE))) {
            for (int i = 0; i < COUNT; i++) {
                memory.buf().setZero(0, size);
                rping.write(new RdmaRead(memory.slice(0, size), announced(rping, size, RdmaPermission.REMOTE_READ),
                        0));
                assertThat(memory.buf().toString(0, size, StandardCharsets.US_ASCII))
                        .startsWith("rdma-ping-" + i + ": ").endsWith("\0");
                goAhead(rping);
                RemoteMemory sink = announced(rping, size, RdmaPermission.REMOTE_WRITE);
                rping.write(new RdmaWrite(memory.slice(0, size), sink, 0));
                goAhead(rping);
            }
            rping.program().assertExit(0);
            rping.assertEnd();
            assertThat(rping.program().log()).doesNotContain("mismatch");
        }
    }

    /** The answer differs from rping's data, so rping would detect wrong data above. */
    @Test
    void rpingDetectsWrongData() throws Exception {
        try (ProgramConnection rping = ProgramConnection.open(LOOPS.group(), true,
                address -> rping(address, "-c -V -C 1 -S 64"))) {
            announced(rping, 64, RdmaPermission.REMOTE_READ);
            goAhead(rping);
            RemoteMemory sink = announced(rping, 64, RdmaPermission.REMOTE_WRITE);
            rping.write(new RdmaWrite(Unpooled.buffer(64).writeZero(64), sink, 0));
            goAhead(rping);
            rping.assertEnd();
            rping.program().assertExit(255);
            assertThat(rping.program().log()).contains("data mismatch!");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = { "-S 64", "-S 65535", "-q -S 4096" })
    void rpingAsServer(String options) throws Exception {
        try (ProgramConnection rping = ProgramConnection.open(LOOPS.group(), false,
                address -> rping(address, "-s -v " + options))) {
            pings(rping, size(options));
            rping.disconnect();
            rping.program().assertExit(0);
            assertThat(rping.program().log().lines().filter(line -> line.startsWith("server ping data: ping ")))
                    .hasSize(COUNT);
        }
    }

    /** {@code -P}: it serves one after the other, until it is killed. */
    @Test
    void rpingAsPersistentServer() throws Exception {
        InetSocketAddress address = RsocketProcess.someAddress();
        try (RsocketProcess server = RsocketProcess.start(rping(address, "-s -P -S 100"))) {
            for (int i = 0; i < 3; i++) {
                ProgramConnection rping = ProgramConnection.connect(LOOPS.group(), server, address);
                pings(rping, 100);
                rping.disconnect();
            }
        }
    }

    @Test
    void rdmaClient() throws Exception {
        try (ProgramConnection client = ProgramConnection.open(LOOPS.group(), true,
                address -> command(RDMA_CLIENT, address, "-s", "-p"))) {
            assertThat(client.nextMessage()).isEqualTo(new byte[MESSAGE_LENGTH]);
            goAhead(client);
            client.program().assertExit(0);
            client.assertEnd();
            assertThat(client.program().log()).contains("rdma_client: end 0");
        }
    }

    @Test
    void rdmaServer() throws Exception {
        try (ProgramConnection server = ProgramConnection.open(LOOPS.group(), false,
                address -> command(RDMA_SERVER, address, "-s", "-p"))) {
            goAhead(server);
            assertThat(server.nextMessage()).isEqualTo(new byte[MESSAGE_LENGTH]);
            server.assertEnd();
            server.program().assertExit(0);
            assertThat(server.program().log()).contains("rdma_server: end 0");
        }
    }

    /** Plays rping's client: its server reads the text, and writes it to the given place. */
    private static void pings(ProgramConnection rping, int size) throws Exception {
        try (RegisteredMemory source = RegisteredMemory.allocate(size, EnumSet.of(RdmaPermission.REMOTE_READ));
             RegisteredMemory sink = RegisteredMemory.allocate(size,
                     EnumSet.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE))) {
            for (int i = 0; i < COUNT; i++) {
                String text = "ping " + i + ' ';
                // rping takes the bytes that it has read for a string.
                text = (text + String.valueOf((char) ('A' + i)).repeat(size - text.length() - 1)) + '\0';
                source.buf().setCharSequence(0, text, StandardCharsets.US_ASCII);
                sink.buf().setZero(0, size);
                announce(rping, source);
                assertThat(rping.nextMessage()).hasSize(MESSAGE_LENGTH);
                announce(rping, sink);
                assertThat(rping.nextMessage()).hasSize(MESSAGE_LENGTH);
                assertThat(sink.buf().toString(0, size, StandardCharsets.US_ASCII)).isEqualTo(text);
            }
        }
    }

    /** {@code struct rping_rdma_info} in network order: address, key, length. */
    private static void announce(ProgramConnection rping, RegisteredMemory memory) throws Exception {
        RemoteMemory remote = rping.channel().export(memory);
        rping.write(new RdmaSend(Unpooled.buffer(MESSAGE_LENGTH).writeLong(remote.address()).writeInt(remote.key())
                .writeInt((int) remote.length())));
    }

    private static RemoteMemory announced(ProgramConnection rping, int size, RdmaPermission permission)
            throws Exception {
        ByteBuf message = Unpooled.wrappedBuffer(rping.nextMessage());
        assertThat(message.readableBytes()).isEqualTo(MESSAGE_LENGTH);
        long address = message.readLong();
        int key = message.readInt();
        assertThat(message.readInt()).isEqualTo(size);
        return new RemoteMemory(address, size, key, EnumSet.of(permission));
    }

    /** A message of the right length; none of them looks at what is in it. */
    private static void goAhead(ProgramConnection connection) throws Exception {
        connection.write(new RdmaSend(Unpooled.buffer(MESSAGE_LENGTH).writeZero(MESSAGE_LENGTH)));
    }

    private static int size(String options) {
        return Integer.parseInt(options.substring(options.indexOf("-S ") + 3));
    }

    private static List<String> rping(InetSocketAddress address, String options) {
        List<String> command = command(RPING, address, "-a", "-p");
        command.addAll(List.of(options.split(" ")));
        return command;
    }

    private static List<String> command(String program, InetSocketAddress address, String host, String port) {
        RsocketProcess.assumeInstalled(program, "rdmacm-utils");
        return new ArrayList<>(List.of(program, host, RsocketProcess.host(address), port,
                Integer.toString(address.getPort())));
    }
}
