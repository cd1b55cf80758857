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
package io.netty.channel.rdma.stream;

import io.netty.channel.rdma.HalfTheTries;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties for any order of events and any size of queues: bytes arrive once and in order, memory that the
 * application holds is not written to, nothing is written outside of what was advertised, no queue overflows, nobody
 * waits for ever.
 */
@Tag("platforms")
@Tag("quick")
@AddLifecycleHook(HalfTheTries.class)
class StreamPropertyTest {

    @Property(tries = 2000)
    void twoMachines(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int creditsA,
                     @ForAll @IntRange(min = 1, max = 40) int creditsB, @ForAll @IntRange(min = 3, max = 30) int depth,
                     @ForAll @IntRange(min = 2, max = 9) int entries, @ForAll @IntRange(min = 1, max = 9) int segments,
                     @ForAll @IntRange(min = 1, max = 300) int segmentLength,
                     @ForAll @IntRange(max = 5000) int toSendA, @ForAll @IntRange(max = 5000) int toSendB,
                     @ForAll @IntRange(min = 1, max = 700) int maxWrite, @ForAll boolean disconnects)
            throws StreamProtocolException {
        StreamConfig configA = new StreamConfig(creditsA, depth, 2, entries, Math.min(depth, 7));
        StreamConfig configB = new StreamConfig(creditsB, 33 - depth, 2, 11 - entries, Math.min(33 - depth, 5));
        MachineEndpoint a = new MachineEndpoint(configA, segments, segmentLength, toSendA, toSendB, disconnects);
        MachineEndpoint b = new MachineEndpoint(configB, 10 - segments, 301 - segmentLength, toSendB, toSendA, false);

        new Simulation(a, b, seed, maxWrite, true).run(2000);

        assertThat(a.connection().state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(b.connection().state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(a.connection().isDrained()).isTrue();
        assertThat(b.connection().isDrained()).isTrue();
        assertThat(a.queuePair().mostDataUnderWay()).isLessThanOrEqualTo(creditsA);
        assertThat(b.queuePair().mostDataUnderWay()).isLessThanOrEqualTo(creditsB);
    }

    @Property(tries = 2000)
    void machineAndLibrdmacm(@ForAll long seed, @ForAll @IntRange(min = 1, max = 40) int credits,
                             @ForAll @IntRange(min = 3, max = 30) int depth,
                             @ForAll @IntRange(min = 2, max = 9) int entries,
                             @ForAll @IntRange(min = 1, max = 9) int segments,
                             @ForAll @IntRange(min = 1, max = 300) int segmentLength,
                             @ForAll @IntRange(min = 16, max = 40) int rsocketQueue,
                             @ForAll @IntRange(min = 2, max = 600) int rsocketBuffer,
                             @ForAll @IntRange(max = 5000) int toSend, @ForAll @IntRange(max = 5000) int toReceive,
                             @ForAll @IntRange(min = 1, max = 5000) int maxWrite, @ForAll boolean disconnects,
                             @ForAll boolean peerDisconnects, @ForAll boolean bigEndian)
            throws StreamProtocolException {
        StreamConfig config = new StreamConfig(credits, depth, 2, entries, Math.min(depth, 7));
        MachineEndpoint a = new MachineEndpoint(config, segments, segmentLength, toSend, toReceive,
                disconnects && !peerDisconnects);
        RsocketEndpoint b = new RsocketEndpoint(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN,
                rsocketQueue, rsocketBuffer & ~1, toReceive, toSend, peerDisconnects);

        new Simulation(a, b, seed, maxWrite, true).run(2000);

        assertThat(a.connection().state()).isEqualTo(StreamState.DISCONNECTED);
        assertThat(a.connection().isDrained()).isTrue();
        assertThat(a.queuePair().mostDataUnderWay()).isLessThanOrEqualTo(credits);
        assertThat(b.queuePair().mostDataUnderWay()).isLessThanOrEqualTo(rsocketQueue);
    }

    @Test
    void creditNumbersWrap() throws StreamProtocolException {
        StreamConfig config = new StreamConfig(16, 64, 4, 4, 16);
        MachineEndpoint a = new MachineEndpoint(config, 4, 512, 300_000, 300_000, false);
        MachineEndpoint b = new MachineEndpoint(config, 4, 512, 300_000, 300_000, false);
        new Simulation(a, b, 1, 1, false).run(2_000_000);
    }

    @Test
    void creditNumbersWrapAgainstLibrdmacm() throws StreamProtocolException {
        StreamConfig config = new StreamConfig(16, 64, 4, 4, 16);
        MachineEndpoint a = new MachineEndpoint(config, 4, 512, 300_000, 300_000, false);
        RsocketEndpoint b = new RsocketEndpoint(ByteOrder.nativeOrder(), 32, 4096, 300_000, 300_000, false);
        new Simulation(a, b, 2, 1, false).run(2_000_000);
    }

    @Test
    void longestQueuesWrap() throws StreamProtocolException {
        StreamConfig config = new StreamConfig(StreamConfig.MAX_CREDITS, 65535, 4, 4, 64);
        MachineEndpoint a = new MachineEndpoint(config, 4, 65536, 300_000, 300_000, false);
        RsocketEndpoint b = new RsocketEndpoint(ByteOrder.nativeOrder(), 0xFFFE, 1 << 18, 300_000, 300_000, false);
        new Simulation(a, b, 3, 1, false).run(1_000_000);
    }

    @Test
    void librdmacmDefaults() throws StreamProtocolException {
        MachineEndpoint a = new MachineEndpoint(StreamConfig.DEFAULT, 4, 65536, 20_000_000, 20_000_000, false);
        RsocketEndpoint b = new RsocketEndpoint(ByteOrder.nativeOrder(), 384, 1 << 17, 20_000_000, 20_000_000, false);
        new Simulation(a, b, 4, 1 << 20, false).run(10_000);
    }
}
