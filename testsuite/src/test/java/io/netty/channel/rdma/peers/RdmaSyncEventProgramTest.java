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
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaFetchAndAdd;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.channel.rdma.message.RdmaSyncEventGet;
import io.netty.channel.rdma.message.RemoteMemory;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sync events with a C program at the other end, {@code src/test/c/sync_event_peer.c}, which knows of them only what
 * their Javadoc says: 8 bytes that peers read, write and add to.
 */
class RdmaSyncEventProgramTest {
    private static final int RALLY = 100;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void eachUsesTheEventOfTheOther(boolean client) throws Exception {
        try (RdmaSyncEvent event = new RdmaSyncEvent(0);
             ProgramConnection peer = ProgramConnection.open(LOOPS.group(), client, address -> command(client, address,
                     "rally " + RALLY + " get set 1000 add 5 await 5000 wait"))) {
            peer.write(new RdmaSend(blob(event.export(peer.channel()))));
            RemoteMemory remote = RemoteMemory.read(Unpooled.wrappedBuffer(peer.nextMessage()));

            for (int i = 0; i < RALLY; i++) {
                assertThat(await(event, i + 1, peer)).isEqualTo(i + 1);
                RdmaFetchAndAdd add = peer.write(RdmaSyncEvent.add(remote, 1));
                assertThat(add.oldValue()).isEqualTo(i);
            }
            peer.program().assertNextLine("rally " + RALLY);
            peer.program().assertNextLine("get " + RALLY);
            peer.program().assertNextLine("set 1000");
            peer.program().assertNextLine("add 5 1000");
            assertThat(await(event, 1005, peer)).isEqualTo(1005);

            peer.write(RdmaSyncEvent.set(remote, 4000));
            assertThat(peer.write(RdmaSyncEvent.add(remote, 1000)).oldValue()).isEqualTo(4000);
            peer.program().assertNextLine("await 5000");
            peer.program().assertNextLine("waiting");
            assertThat(peer.write(new RdmaSyncEventGet(remote)).value()).isEqualTo(5000);
            peer.program().resume();
            peer.program().assertExit(0);
            peer.assertEnd();
        }
    }

    private static long await(RdmaSyncEvent event, long least, ProgramConnection peer) throws Exception {
        return TestTimeouts.sync(event.waitUntil(least, peer.channel().eventLoop())).getNow();
    }

    private static ByteBuf blob(RemoteMemory memory) {
        ByteBuf blob = Unpooled.buffer(RemoteMemory.BLOB_LENGTH);
        memory.write(blob);
        return blob;
    }

    private static List<String> command(boolean client, InetSocketAddress address, String steps) {
        List<String> command = new ArrayList<>(List.of(RsocketProcess.built("sync_event_peer"),
                client ? "connect" : "listen", RsocketProcess.host(address), Integer.toString(address.getPort())));
        command.addAll(List.of(steps.split(" ")));
        return command;
    }
}
