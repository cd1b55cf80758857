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
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairAttributes;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.channel.rdma.verbs.QueuePairType;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code IP_TOS} where the connection manager has no part in the way to the peer.
 */
@Tag("quick")
class RdmaTrafficClassTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(1);

    /** DSCP 24, which has lossless queues on many networks; the lowest two bits are those of ECN. */
    private static final int TRAFFIC_CLASS = 24 << 2;
    private static final int HEADER = 40;
    private static final int RECEIVE = HEADER + 64;

    @Test
    void connectionOfEndpointsHasTheTrafficClassOfItsChannel() throws Exception {
        MessagePair.Recorder events = new MessagePair.Recorder();
        RdmaMessageChannel left = MessagePair.bound(loops.group(), events,
                config -> {
                    config.setOption(ChannelOption.IP_TOS, TRAFFIC_CLASS);
                    config.setOption(RdmaChannelOption.GLOBAL_HEADER, true);
                });
        RdmaMessageChannel right = MessagePair.bound(loops.group(), new MessagePair.Recorder(), config -> { });
        try {
            RdmaEndpoint leftEnd = TestTimeouts.sync(left.exportEndpoint()).getNow();
            TestTimeouts.sync(left.connect(TestTimeouts.sync(right.exportEndpoint()).getNow()));
            TestTimeouts.sync(right.connect(leftEnd));
            assertThat(TestTimeouts.sync(left.info()).getNow().trafficClass()).isEqualTo(TRAFFIC_CLASS);
            QueuePairInfo other = TestTimeouts.sync(right.info()).getNow();
            assertThat(other.trafficClass()).isEqualTo(other.gidIndex() < 0 ? -1 : 0);
            MessagePair.write(right, DatagramEnd.ascii("hello"));
            assertThat(events.next()).isEqualTo("active");
            assertThat(events.text()).isEqualTo("hello");
        } finally {
            TestTimeouts.sync(left.close());
            TestTimeouts.sync(right.close());
        }
    }

    @Test
    void datagramToAnAddressThatWasToldHasTheTrafficClassOfItsChannel() throws Exception {
        assertThat(trafficClassOfDatagram(TRAFFIC_CLASS)).isEqualTo(TRAFFIC_CLASS);
        assertThat(trafficClassOfDatagram(0)).isZero();
    }

    private static int trafficClassOfDatagram(int option) throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                bootstrap -> bootstrap.option(ChannelOption.IP_TOS, option));
             Device device = Device.open(end.channel.capabilities().deviceName());
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             QueuePair receiver = domain.createQueuePair(new QueuePairInitAttributes(queue, queue)
                     .type(QueuePairType.UNRELIABLE_DATAGRAM))) {
            receiver.modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0).port(1)
                    .queueKey(RdmaDatagramAddress.DEFAULT_QUEUE_KEY));
            receiver.modify(new QueuePairAttributes().state(QueuePairState.RTR));
            ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(RECEIVE).writeZero(RECEIVE);
            try (MemoryRegion region = domain.register(buffer.nioBuffer(0, RECEIVE), AccessFlags.LOCAL_WRITE)) {
                assertThat(receiver.postReceive(new ReceiveWorkRequests(1, 1).receive(1)
                        .addSge(region.memoryAddress(), RECEIVE, region.lkey()))).isEqualTo(1);
                RdmaDatagramAddress own = end.channel.datagramAddress();
                end.send("hello", new RdmaDatagramAddress(own.gid(), own.lid(), receiver.number(), own.queueKey()));
                WorkCompletions completions = new WorkCompletions(1);
                TestTimeouts.awaitTrue(() -> isDone(queue, completions));
                assertThat(completions.status(0)).isEqualTo(WorkCompletionStatus.SUCCESS);
                return trafficClass(buffer);
            } finally {
                buffer.release();
            }
        }
    }

    private static boolean isDone(CompletionQueue queue, WorkCompletions completions) {
        try {
            return queue.poll(completions) > 0;
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
    }

    /** Traffic class of an IPv6 header (RFC 8200), or of the IPv4 header (RFC 791) in the last half of its place. */
    private static int trafficClass(ByteBuf header) {
        return header.getUnsignedByte(0) >>> 4 == 6 ? header.getUnsignedShort(0) >>> 4 & 0xFF
                : header.getUnsignedByte(HEADER / 2 + 1);
    }
}
