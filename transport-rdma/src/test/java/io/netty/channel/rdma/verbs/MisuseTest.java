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

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Mistakes of the caller are exceptions and not crashes.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class MisuseTest {
    @Test
    void aClosedConnectionRefusesEverything() throws Exception {
        ConnectedPair pair = new ConnectedPair();
        pair.close();
        Endpoint end = pair.client;
        WorkCompletions batch = new WorkCompletions(1);
        SendWorkRequests sends = new SendWorkRequests(1, 0).send(1, 0);
        ReceiveWorkRequests receives = new ReceiveWorkRequests(1, 0).receive(1);

        assertThatThrownBy(() -> end.queue.poll(batch)).isInstanceOf(IllegalStateException.class)
                .hasMessage("completion queue is closed");
        assertThatThrownBy(() -> end.queue.pollOrArm(batch)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.channel.consumeEvents(8)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.channel.fd()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.queuePair.postSend(sends)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.queuePair.postReceive(receives)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.queuePair.postEmptyReceives(1, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.queuePair.state()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.queuePair.toError()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.id.disconnect()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.id.connect(ConnectedPair.DEFAULTS)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.id.localAddress()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.id.device()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> end.domain.register(end.buffer, 0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> pair.clientEvents.nextEvent()).isInstanceOf(IllegalStateException.class);
        assertThat(end.queuePair.number()).isNotZero();
        assertThat(end.id.toString()).contains("closed");
        pair.close();
    }

    @Test
    void anObjectInUseCannotBeClosed() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThatThrownBy(() -> pair.client.domain.close()).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("still used by 2");
            assertThatThrownBy(() -> pair.client.queue.close()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> pair.client.channel.close()).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> pair.clientEvents.close()).isInstanceOf(IllegalStateException.class);
            // The objects were not harmed.
            pair.server.receive(1, 0, 8);
            pair.client.send(2, 0, 8);
            TestSupport.completion(pair.client.queue, WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void aFailedCreationReleasesItsParents() throws Exception {
        try (Device device = Device.open(Device.names().get(0))) {
            assertThatThrownBy(() -> device.createCompletionQueue(Integer.MAX_VALUE, null))
                    .isInstanceOf(VerbsException.class).hasMessageContaining("2147483647 entries");
            try (ProtectionDomain domain = device.allocateProtectionDomain();
                 CompletionQueue queue = device.createCompletionQueue(1, null)) {
                assertThatThrownBy(() -> domain.createQueuePair(
                        new QueuePairInitAttributes(queue, queue).maxSendRequests(Integer.MAX_VALUE)))
                        .isInstanceOf(VerbsException.class);
            }
        }
        assertThatThrownBy(() -> Device.open("no such device")).isInstanceOf(VerbsException.class)
                .hasMessageContaining("no such device");
    }

    @Test
    void aRefusalNamesWhatRefuses() {
        assertThat(new VerbsException("ibv_open_device", Errno.EACCES, "open a device"))
                .hasMessageContaining("permissions of /dev/infiniband");
        assertThat(new VerbsException("rdma_bind_addr", Errno.EACCES, "bind"))
                .hasMessageContaining("CAP_NET_BIND_SERVICE").hasMessageNotContaining("permissions");
        assertThat(new VerbsException("ibv_attach_mcast", Errno.EACCES, "join a group"))
                .hasMessageContaining("another user").hasMessageNotContaining("permissions");
    }

    @Test
    void badMemoryIsNotRegistered() throws Exception {
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain()) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(16);
            assertThatThrownBy(() -> domain.register(ByteBuffer.allocate(16), 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> domain.register(ByteBuffer.allocateDirect(0), 0))
                    .isInstanceOf(IllegalArgumentException.class);
            // Remote write requires local write (ibv_reg_mr(3)).
            assertThatThrownBy(() -> domain.register(buffer, AccessFlags.REMOTE_WRITE))
                    .isInstanceOfSatisfying(VerbsException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            try (MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE)) {
                assertThat(region.length()).isEqualTo(16);
                assertThat(region.memoryAddress()).isEqualTo(NativeMemory.address(buffer));
            }
        }
    }

    @Test
    void postingInTheWrongStateIsRefused() throws Exception {
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             QueuePair queuePair = domain.createQueuePair(new QueuePairInitAttributes(queue, queue))) {
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
            assertThat(queuePair.postSend(new SendWorkRequests(1, 0).send(1, 0))).isZero();
            assertThat(queuePair.postErrno()).isEqualTo(Errno.EINVAL);
            assertThat(queuePair.postSend(new SendWorkRequests(1, 0))).isZero();
            assertThat(queuePair.postErrno()).isZero();
            assertThatThrownBy(() -> queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS)))
                    .isInstanceOfSatisfying(VerbsException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void valuesOutOfTheirRangeAreNamed() throws Exception {
        assertThatThrownBy(() -> new WorkCompletions(0)).hasMessageContaining("capacity");
        assertThatThrownBy(() -> new SendWorkRequests(0, 1)).hasMessageContaining("maxRequests");
        assertThatThrownBy(() -> new ConnectionParameters().retryCount(8)).hasMessageContaining("count");
        assertThatThrownBy(() -> new ConnectionParameters().privateData(new byte[256]))
                .hasMessageContaining("private data");
        assertThatThrownBy(() -> new QueuePairAttributes().pathMtu(1000)).hasMessageContaining("1000");
        try (EventChannel events = EventChannel.create();
             ConnectionId id = ConnectionId.create(events, PortSpace.TCP)) {
            assertThatThrownBy(() -> id.bind(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("nowhere.invalid");
            assertThatThrownBy(() -> id.resolveRoute(0)).hasMessageContaining("timeoutMillis");
            assertThatThrownBy(() -> id.connect(ConnectedPair.DEFAULTS)).isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> id.accept(ConnectedPair.DEFAULTS)).isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> id.reject(new byte[0])).isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> id.disconnect()).isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> id.listen(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> id.resolveRoute(1000)).isInstanceOf(VerbsException.class);
            assertThat(id.localAddress()).isNull();
            assertThat(id.remoteAddress()).isNull();
        }
    }

    @Test
    void anIdHasOneQueuePairAtATime() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThatThrownBy(() -> pair.client.id.createQueuePair(pair.client.domain,
                    new QueuePairInitAttributes(pair.client.queue, pair.client.queue)))
                    .isInstanceOf(IllegalStateException.class);
        }
    }
}
