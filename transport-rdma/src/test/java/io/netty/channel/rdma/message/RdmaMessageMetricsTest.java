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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counters of messages, and their kinds.
 */
@Tag("quick")
class RdmaMessageMetricsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);

    @Test
    void messagesAreCountedAtBothEnds() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            MessagePair.write(pair.client, DatagramEnd.ascii("abc"));
            MessagePair.write(pair.client, new RdmaSendImm(Unpooled.EMPTY_BUFFER, 1));
            for (int i = 0; i < 2; i++) {
                pair.serverEvents.message().release();
            }
            RdmaMessageMetrics client = pair.client.metrics();
            assertThat(client.sends()).isEqualTo(2);
            assertThat(client.bytesSent()).isEqualTo(3);
            assertThat(client.receives()).isZero();
            RdmaMessageMetrics server = pair.server.metrics();
            assertThat(server.receives()).isEqualTo(2);
            assertThat(server.bytesReceived()).isEqualTo(3);
            assertThat(server.sends()).isZero();
        }
    }

    @Test
    void operationsOnThePeersMemoryAreCountedByTheirKind() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8192, ALL);
             RdmaSyncEvent event = new RdmaSyncEvent(0)) {
            RemoteMemory remote = pair.server.export(memory);
            MessagePair.write(pair.client, new RdmaWrite(registered(pair.client, 4096), remote, 0));
            MessagePair.write(pair.client, new RdmaWriteImm(registered(pair.client, 1000), remote, 0, 1));
            ByteBuf read = pair.client.alloc().buffer(100, 100);
            MessagePair.write(pair.client, new RdmaRead(read, remote, 0));
            read.release();
            MessagePair.write(pair.client, new RdmaFetchAndAdd(remote, 0, 1));
            MessagePair.write(pair.client, new RdmaCompareAndSwap(remote, 0, 1, 2));
            MessagePair.write(pair.client, new RdmaSyncEventGet(event.export(pair.server)));
            pair.serverEvents.message().release();
            RdmaMessageMetrics client = pair.client.metrics();
            assertThat(client.writes()).isEqualTo(2);
            assertThat(client.bytesWritten()).isEqualTo(5096);
            assertThat(client.reads()).isEqualTo(2);
            assertThat(client.bytesRead()).isEqualTo(108);
            assertThat(client.atomics()).isEqualTo(2);
            assertThat(client.sends()).isZero();
            assertThat(client.failures()).isZero();
            RdmaMessageMetrics server = pair.server.metrics();
            assertThat(server.receives()).as("the one with immediate data").isEqualTo(1);
            assertThat(server.bytesReceived()).isZero();
        }
    }

    @Test
    void theWayOfTheBytesIsCounted() throws Exception {
        // Less than what the device grants.
        try (MessagePair pair = new MessagePair(loops.group(), server -> { },
                client -> client.option(RdmaChannelOption.MAX_INLINE, 40));
             RegisteredMemory memory = RegisteredMemory.allocate(8192, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            RdmaMessageMetrics client = pair.client.metrics();
            MessagePair.write(pair.client, new RdmaWrite(Unpooled.buffer(40).writeZero(40), remote, 0));
            MessagePair.write(pair.client, new RdmaWrite(registered(pair.client, 41), remote, 0));
            assertThat(client.bytesInline()).isEqualTo(40);
            assertThat(client.bytesInPlace()).isEqualTo(41);
            MessagePair.write(pair.client, new RdmaWrite(registered(pair.client, 4096), remote, 0));
            assertThat(client.bytesInPlace()).isEqualTo(4137);
            assertThat(client.bytesCopied()).isZero();
            MessagePair.write(pair.client, new RdmaWrite(Unpooled.buffer(2000).writeZero(2000), remote, 0));
            assertThat(client.bytesCopied()).isEqualTo(2000);
            ByteBuf half = Unpooled.compositeBuffer().addComponent(true, registered(pair.client, 1000))
                    .addComponent(true, Unpooled.buffer(500).writeZero(500));
            MessagePair.write(pair.client, new RdmaWrite(half, remote, 0));
            assertThat(client.bytesInPlace()).isEqualTo(5137);
            assertThat(client.bytesCopied()).isEqualTo(2500);
            try (RegisteredMemory own = RegisteredMemory.allocate(64, ALL)) {
                MessagePair.write(pair.client, new RdmaRead(own.slice(0, 64), remote, 0));
            }
            assertThat(client.bytesInPlace()).isEqualTo(5201);
            assertThat(client.bytesInline()).isEqualTo(40);
        }
    }

    @Test
    void copiesAreCountedByTheirCause() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8192, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            RdmaMessageMetrics client = pair.client.metrics();
            MessagePair.write(pair.client, new RdmaWrite(Unpooled.buffer(2000).writeZero(2000), remote, 0));
            MessagePair.write(pair.client, new RdmaWrite(Unpooled.directBuffer(3000).writeZero(3000), remote, 0));
            ByteBuf read = Unpooled.buffer(700, 700);
            MessagePair.write(pair.client, new RdmaRead(read, remote, 0));
            read.release();
            CompositeByteBuf many = Unpooled.compositeBuffer(64);
            for (int i = 0; i < 40; i++) {
                many.addComponent(true, registered(pair.client, 100));
            }
            MessagePair.write(pair.client, new RdmaWrite(many, remote, 0));
            assertThat(client.bytesCopied(RdmaMessageMetrics.CopyCause.HEAP)).isEqualTo(2700);
            assertThat(client.bytesCopied(RdmaMessageMetrics.CopyCause.FOREIGN)).isEqualTo(3000);
            assertThat(client.bytesCopied(RdmaMessageMetrics.CopyCause.UNREGISTERED)).isZero();
            assertThat(client.bytesCopied(RdmaMessageMetrics.CopyCause.PIECES)).isEqualTo(4000);
            assertThat(client.bytesCopied()).isEqualTo(9700);
            assertThat(client.bytesInPlace()).isZero();
        }
    }

    @Test
    void copiesOfMessagesThatWaitInSharedReceivesAreCounted() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, true)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16), client -> { })) {
            RdmaMessageMetrics server = pair.server.metrics();
            for (int i = 0; i < 40; i++) {
                MessagePair.write(pair.client, DatagramEnd.ascii("abc"));
            }
            // All but those that fit into its receive queue.
            TestTimeouts.awaitTrue(() -> server.bytesCopied(RdmaMessageMetrics.CopyCause.RECEIVED_HELD) == 24 * 3);
            pair.server.config().setAutoRead(true);
            for (int i = 0; i < 40; i++) {
                pair.serverEvents.message().release();
            }
            assertThat(server.bytesReceived()).isEqualTo(120);
            assertThat(server.bytesCopied(RdmaMessageMetrics.CopyCause.RECEIVED_HELD)).isEqualTo(24 * 3);
            assertThat(server.bytesCopied()).isZero();
        }
    }

    @Test
    void whatIsRefusedIsAFailureAndNothingElse() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(16, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            MessagePair.failure(pair.client, new RdmaWrite(DatagramEnd.ascii("x"), remote, 16));
            RdmaMessageMetrics client = pair.client.metrics();
            assertThat(client.failures()).isEqualTo(1);
            assertThat(client.writes()).isZero();
            assertThat(client.bytesWritten()).isZero();
        }
    }

    @Test
    void datagramsAreCountedAtBothEnds() throws Exception {
        try (DatagramEnd left = new DatagramEnd(loops.group()); DatagramEnd right = new DatagramEnd(loops.group())) {
            left.send("ping", right.address());
            assertThat(right.text()).isEqualTo("ping");
            // A group that was not joined, and too long.
            left.failure(new RdmaDatagram(DatagramEnd.ascii("x"), new InetSocketAddress("239.1.2.3", 0)));
            int tooLong = left.channel.maxPayload() + 1;
            left.failure(new RdmaDatagram(Unpooled.buffer(tooLong).writeZero(tooLong), right.address()));
            assertThat(left.channel.metrics().sends()).isEqualTo(1);
            assertThat(left.channel.metrics().bytesSent()).isEqualTo(4);
            assertThat(left.channel.metrics().failures()).isEqualTo(2);
            assertThat(right.channel.metrics().receives()).isEqualTo(1);
            assertThat(right.channel.metrics().bytesReceived()).isEqualTo(4);
        }
    }

    @Test
    void totalHasOpenAndClosedChannels() throws Exception {
        RdmaMessageMetrics before = RdmaMessageMetrics.total();
        RdmaMessageChannel closed;
        try (MessagePair pair = new MessagePair(loops.group())) {
            closed = pair.client;
            MessagePair.write(pair.client, DatagramEnd.ascii("abc"));
            pair.serverEvents.message().release();
            assertMoreBy(before, 1, 3);
        }
        assertMoreBy(before, 1, 3);
        assertThat(closed.metrics().sends()).isEqualTo(1);
        try (DatagramEnd end = new DatagramEnd(loops.group())) {
            end.send("ping", end.address());
            assertThat(end.text()).isEqualTo("ping");
        }
        assertMoreBy(before, 2, 7);
    }

    private static void assertMoreBy(RdmaMessageMetrics before, long messages, long bytes) {
        RdmaMessageMetrics now = RdmaMessageMetrics.total();
        assertThat(now.sends() - before.sends()).isEqualTo(messages);
        assertThat(now.bytesSent() - before.bytesSent()).isEqualTo(bytes);
        assertThat(now.receives() - before.receives()).isEqualTo(messages);
        assertThat(now.bytesReceived() - before.bytesReceived()).isEqualTo(bytes);
    }

    @Test
    void channelWithoutQueuePairHasCountedNothing() throws Exception {
        RdmaMessageChannel messages = new RdmaMessageChannel();
        RdmaDatagramChannel datagrams = new RdmaDatagramChannel();
        TestTimeouts.sync(loops.group().register(messages));
        TestTimeouts.sync(loops.group().register(datagrams));
        assertThat(messages.metrics().sends()).isZero();
        assertThat(datagrams.metrics().receives()).isZero();
        TestTimeouts.sync(messages.close());
        TestTimeouts.sync(datagrams.close());
    }

    private static ByteBuf registered(RdmaMessageChannel channel, int length) {
        return channel.alloc().buffer(length).writeZero(length);
    }
}
