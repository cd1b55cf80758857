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

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class StreamAllocationTest {
    private static final int MESSAGES = 100_000;
    private static final int SEGMENT_LENGTH = 1000;

    private final SimulatedQueuePair.ArraySgl sgl = new SimulatedQueuePair.ArraySgl(4, ByteOrder.nativeOrder());
    private final ReceiveArea area = new ReceiveArea(0x10000, 77, 4, SEGMENT_LENGTH);
    private final StreamConnection sender = newConnection(new ReceiveArea(0x20000, 78, 4, SEGMENT_LENGTH), sgl);
    private final StreamConnection receiver = newConnection(area,
            new SimulatedQueuePair.ArraySgl(4, ByteOrder.nativeOrder()));

    @Test
    void nothingIsAllocatedPerMessage() throws StreamProtocolException {
        ConnectionData fromSender = sender.localData(0x7000, 8);
        sender.establish(receiver.localData(0x8000, 9));
        receiver.establish(fromSender);
        exchange();

        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        assertThat(before).as("the JVM measures").isPositive();
        exchange();
        long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;

        // One object of 16 bytes for each would be 160 times as much.
        assertThat(allocated).isLessThan(10_000);
    }

    private void exchange() throws StreamProtocolException {
        for (int i = 0; i < MESSAGES; i++) {
            int bytes = Math.min(sender.writable(), 100);
            StreamWorkRequest request = sender.write(bytes);
            if (request.signalled()) {
                sender.sendQueue().completed(request.sequence());
            }
            receiver.receive(request.immediate(), bytes);
            if (receiver.arrival().filled()) {
                area.release(receiver.arrival().segment());
            }
            while ((request = receiver.nextControl()) != null) {
                if (request.kind() == StreamWorkRequest.Kind.ADVERTISE) {
                    int entry = (int) (request.remoteAddress() - 0x7000) / TargetSgl.ENTRY_SIZE;
                    sgl.set(entry, request.entryHead(), area.key(), SEGMENT_LENGTH);
                }
                sender.receive(request.immediate(), request.length());
                if (request.signalled()) {
                    receiver.sendQueue().completed(request.sequence());
                }
            }
        }
    }

    private static StreamConnection newConnection(ReceiveArea area, TargetSgl sgl) {
        return new StreamConnection(new StreamConfig(64, 64, 4, 4, 16), area, sgl);
    }
}
