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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Queue pairs that are connected by hand, as with an exchange of numbers out of band.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class ManualConnectionTest {
    @Test
    void queuePairsGoThroughTheirStatesByHand() throws Exception {
        ByteBuffer buffer = NativeMemory.allocate(128);
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE);
             QueuePair left = domain.createQueuePair(new QueuePairInitAttributes(queue, queue).signalAll(true));
             QueuePair right = domain.createQueuePair(new QueuePairInitAttributes(queue, queue))) {
            QueuePair[] both = { left, right };
            for (QueuePair queuePair : both) {
                ManualConnection.init(queuePair);
                assertThat(queuePair.state()).isEqualTo(QueuePairState.INIT);
            }
            for (QueuePair queuePair : both) {
                ManualConnection.readyToReceive(device, queuePair, (queuePair == left ? right : left).number());
                assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
            }
            for (QueuePair queuePair : both) {
                ManualConnection.readyToSend(queuePair);
                assertThat(queuePair.state()).isEqualTo(QueuePairState.RTS);
            }

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
}
