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
package io.netty.channel.rdma.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queue pairs that are connected by hand, as with an exchange of numbers out of band.
 */
@Timeout(60)
@ExtendWith(LiveObjectsExtension.class)
class ManualConnectionTest {
    private static final int PORT = 1;
    private static final int MTU = 1024;

    @Test
    void queuePairsGoThroughTheirStatesByHand() throws Exception {
        ByteBuffer buffer = NativeMemory.allocate(128);
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE);
             QueuePair left = domain.createQueuePair(new QueuePairInitAttributes(queue, queue).signalAll(true));
             QueuePair right = domain.createQueuePair(new QueuePairInitAttributes(queue, queue))) {
            init(left);
            init(right);
            readyToReceive(device, left, right);
            readyToReceive(device, right, left);
            readyToSend(left);
            readyToSend(right);

            assertThat(right.postReceive(new ReceiveWorkRequests(1, 1).receive(1)
                    .addSge(region.memoryAddress() + 64, 64, region.lkey()))).isEqualTo(1);
            buffer.putLong(0, 0x0123456789ABCDEFL);
            // Not signalled, but of a queue pair that signals all.
            assertThat(left.postSend(new SendWorkRequests(1, 1).send(2, 0)
                    .addSge(region.memoryAddress(), 8, region.lkey()))).isEqualTo(1);

            TestSupport.completions(queue, 2).forEach(completion -> {
                assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(completion.queuePairNumber())
                        .isEqualTo(completion.id() == 1 ? right.number() : left.number());
            });
            assertThat(buffer.getLong(64)).isEqualTo(0x0123456789ABCDEFL);

            left.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            assertThat(left.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    private static void init(QueuePair queuePair) throws VerbsException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0).port(PORT)
                .accessFlags(0));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
    }

    private static void readyToReceive(Device device, QueuePair queuePair, QueuePair peer) throws VerbsException {
        PortAttributes port = device.portAttributes(PORT);
        QueuePairAttributes attributes = new QueuePairAttributes().state(QueuePairState.RTR).pathMtu(MTU)
                .destinationQueuePair(peer.number()).receivePsn(0).responderResources(1).minRnrTimer(12);
        if (port.isEthernet()) {
            attributes.globalPath(PORT, 0, device.gid(PORT, 0), 1);
        } else {
            attributes.path(PORT, port.lid(), 0);
        }
        queuePair.modify(attributes);
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
    }

    private static void readyToSend(QueuePair queuePair) throws VerbsException {
        queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(0).initiatorDepth(1)
                .timeoutExponent(14).retryCount(7).rnrRetryCount(7));
        assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
    }
}
