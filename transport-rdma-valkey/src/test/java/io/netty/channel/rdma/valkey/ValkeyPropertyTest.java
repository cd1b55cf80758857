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

import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamState;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties for any order of events and any sizes: bytes arrive once and in order, nothing is written outside of what
 * was registered, memory that the application holds is not written to, no message of a client finds a server of Valkey
 * without a receive, and nobody waits for ever.
 */
@Tag("quick")
class ValkeyPropertyTest {
    private static StreamConfig config(int credits, int depth) {
        return new StreamConfig(credits, depth, 2, 2, Math.max(1, depth / 4));
    }

    @Property(tries = 500)
    void twoMachines(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int creditsA,
                     @ForAll @IntRange(min = 1, max = 40) int creditsB, @ForAll @IntRange(min = 3, max = 40) int depthA,
                     @ForAll @IntRange(min = 3, max = 40) int depthB, @ForAll @IntRange(min = 1, max = 3) int segments,
                     @ForAll @IntRange(min = 1, max = 300) int segmentLength,
                     @ForAll @IntRange(max = 3000) int toSendA, @ForAll @IntRange(max = 3000) int toSendB,
                     @ForAll @IntRange(min = 1, max = 700) int maxWrite) throws Exception {
        MachineEnd a = new MachineEnd(ValkeyProtocol.CLIENT, config(creditsA, depthA), segments, segmentLength, toSendA,
                toSendB);
        MachineEnd b = new MachineEnd(ValkeyProtocol.SERVER, config(creditsB, depthB), 4 - segments,
                301 - segmentLength, toSendB, toSendA);

        SimulatedEnd.run(a, b, seed, maxWrite, 1500);

        assertEnds(a, b);
        assertEnds(b, a);
    }

    /** The server's receives are few, so the client has to wait for it: with a thousand bytes, one in each message. */
    @Property(tries = 300)
    void clientAndServerOfValkey(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int credits,
                                 @ForAll @IntRange(min = 3, max = 1200) int depth,
                                 @ForAll @IntRange(min = 1, max = 3000) int segmentLength,
                                 @ForAll @IntRange(min = 1, max = 3000) int serverMemory,
                                 @ForAll @IntRange(min = 520, max = 1024) int serverReceives,
                                 @ForAll @IntRange(max = 5000) int toSend, @ForAll @IntRange(max = 5000) int toReceive,
                                 @ForAll @IntRange(min = 1, max = 40) int maxWrite) throws Exception {
        MachineEnd client = new MachineEnd(ValkeyProtocol.CLIENT, config(credits, depth), 2, segmentLength, toSend,
                toReceive);
        ReferenceEnd server = new ReferenceEnd(true, serverMemory, serverReceives, toReceive, toSend);

        SimulatedEnd.run(client, server, seed, maxWrite, 1500);

        assertThat(server.registrations()).isEqualTo(1 + toReceive / segmentLength);
        assertEnds(client, server);
    }

    @Property(tries = 300)
    void clientOfValkeyAndServer(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int credits,
                                 @ForAll @IntRange(min = 3, max = 40) int depth,
                                 @ForAll @IntRange(min = 1, max = 3000) int segmentLength,
                                 @ForAll @IntRange(min = 1, max = 3000) int clientMemory,
                                 @ForAll @IntRange(min = 1, max = 40) int clientReceives,
                                 @ForAll @IntRange(max = 5000) int toSend, @ForAll @IntRange(max = 5000) int toReceive,
                                 @ForAll @IntRange(min = 1, max = 700) int maxWrite) throws Exception {
        MachineEnd server = new MachineEnd(ValkeyProtocol.SERVER, config(credits, depth), 2, segmentLength, toSend,
                toReceive);
        ReferenceEnd client = new ReferenceEnd(false, clientMemory, clientReceives, toReceive, toSend);

        SimulatedEnd.run(server, client, seed, maxWrite, 1500);

        assertThat(client.registrations()).isEqualTo(1 + toReceive / segmentLength);
        assertEnds(server, client);
    }

    /** The end of a machine is complete when all that it has written is. */
    private static void assertEnds(MachineEnd end, SimulatedEnd peer) throws Exception {
        ValkeyStream stream = end.stream();
        assertThat(stream.isDrained()).isFalse();
        stream.disconnect();
        assertThat(stream.state()).isEqualTo(StreamState.CLOSING);
        end.control();
        assertThat(stream.state()).isEqualTo(StreamState.DISCONNECTED);
        while (end.deliver()) {
            continue;
        }
        end.poll(Integer.MAX_VALUE);
        assertThat(stream.isDrained()).isTrue();
        assertThat(end.isCompleted()).isTrue();
        assertThat(peer.completions.stream().filter(SimulatedEnd.Completion::receive)).as("messages of the end")
                .isEmpty();
    }
}
