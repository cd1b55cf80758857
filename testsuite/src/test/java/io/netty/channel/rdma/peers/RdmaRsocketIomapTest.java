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

import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.peers.GeneratedStream.Received;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.Generated;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Programs that want to write into mapped memory of their peer ({@code riomap(3)}, {@code riowrite(3)}), or have theirs
 * written. Our channels offer no place for a mapping, so that such a program is told before anything is sent, and what
 * it does without is a stream as any other.
 */
@Tag("iwarp")
class RdmaRsocketIomapTest {
    private static final String RIOSTREAM = "/usr/bin/riostream";
    /** {@code perror("riomap")} with ENOMEM: of the peer's table of no entries, none is free. */
    private static final String REFUSED = "riomap: Cannot allocate memory";

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @BeforeAll
    static void assumeInstalled() {
        RsocketProcess.assumeInstalled(RIOSTREAM, "rdmacm-utils");
    }

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void mappingFailsAndTheStreamGoesOn(boolean client) throws Exception {
        GeneratedStream stream = new GeneratedStream(100_000, 100_000, false);
        try (RsocketConnection connection = RsocketConnection.open(LOOPS.group(), client, "iomap=8",
                "map 4096 exchange 100000 close", true, stream)) {
            assertThat(new Object[] { stream.nextEvent(), stream.nextEvent() }).containsExactlyInAnyOrder(
                    new Received(Generated.sum(100_000)), GeneratedStream.SENT);
            connection.peer().assertNextLine("map ENOMEM");
            connection.peer().assertNextLine("exchange " + Generated.sum(100_000));
            connection.peer().assertExit(0);
        }
    }

    @Test
    void riostreamClientIsRefusedAndHangsUp() throws Exception {
        try (EchoServer server = new EchoServer(LOOPS.group());
             RsocketProcess client = riostream("-s", server.address())) {
            EchoServer.Connection connection = server.nextConnection();
            client.assertExit(255);
            assertThat(client.log()).contains(REFUSED);
            assertThat(connection.nextEvent()).as("an orderly end").isSameAs(EchoServer.INACTIVE);
            EchoClient.check(LOOPS.group(), server.address());
        }
    }

    @Test
    void riostreamServerIsRefusedAndHangsUp() throws Exception {
        InetSocketAddress address = RsocketProcess.someAddress();
        GeneratedStream stream = new GeneratedStream(0, 1, false);
        try (RsocketProcess server = riostream("-b", address)) {
            server.connect(LOOPS.group(), address, () -> stream);
            server.assertExit(255);
            assertThat(server.log()).contains(REFUSED);
            assertThat(stream.nextEvent()).as("an orderly end").isSameAs(GeneratedStream.INACTIVE);
        }
    }

    private static RsocketProcess riostream(String role, InetSocketAddress address) throws Exception {
        return RsocketProcess.start(List.of(RIOSTREAM, "-S", "64", "-C", "10", "-I", "1", role,
                RsocketProcess.host(address), "-p", Integer.toString(address.getPort())));
    }
}
