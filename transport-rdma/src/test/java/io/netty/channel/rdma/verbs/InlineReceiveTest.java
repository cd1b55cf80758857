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

import io.netty.channel.rdma.verbs.TestSupport.Completion;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.nio.ByteBuffer;

import static io.netty.channel.rdma.verbs.TestSupport.completions;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Inline receive as far as it can be told from outside: what is granted, and that messages arrive whatever it is.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class InlineReceiveTest {
    private static final int ASKED = 1000;

    @Test
    void noMoreIsGrantedThanTheDeviceHasAndMessagesArriveInAnyCase() throws Exception {
        ByteBuffer buffer = NativeMemory.allocate(1024);
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE);
             QueuePair sender = domain.createQueuePair(new QueuePairInitAttributes(queue, queue).signalAll(true));
             QueuePair receiver = domain.createQueuePair(new QueuePairInitAttributes(queue, queue)
                     .maxInlineReceive(ASKED))) {
            assertThat(sender.maxInlineReceive()).isZero();
            assertThat(receiver.maxInlineReceive()).isEqualTo(Math.min(ASKED, device.maxInlineReceive()));
            assertThat(device.maxInlineReceive())
                    .isEqualTo(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED ? 64 : 0);
            ManualConnection.connect(device, sender, receiver);
            for (int length = 1; length <= 256; length *= 2) {
                assertThat(receiver.postReceive(new ReceiveWorkRequests(1, 1).receive(length)
                        .addSge(region.memoryAddress() + 512, 256, region.lkey()))).isEqualTo(1);
                for (int i = 0; i < length; i++) {
                    buffer.put(i, (byte) (length + i));
                }
                assertThat(sender.postSend(new SendWorkRequests(1, 1).send(0, 0)
                        .addSge(region.memoryAddress(), length, region.lkey()))).isEqualTo(1);
                for (Completion completion : completions(queue, 2)) {
                    assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    assertThat(completion.opcode() != WorkCompletionOpcode.RECEIVE ||
                            completion.byteLength() == length).isTrue();
                }
                assertThat(buffer.slice(512, length)).isEqualTo(buffer.slice(0, length));
            }
        }
    }
}
