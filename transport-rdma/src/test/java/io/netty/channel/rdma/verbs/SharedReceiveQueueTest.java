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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.nio.ByteBuffer;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Receives that several queue pairs take from one queue. All is on one device, so that its events are all of this test.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class SharedReceiveQueueTest {
    private static final int PAIRS = 3;
    private static final int ROOM = 16;
    private static final int SIZE = 64;

    private final ByteBuffer buffer = NativeMemory.allocate((1 + ROOM) * SIZE);
    private final QueuePair[] senders = new QueuePair[PAIRS];
    private final QueuePair[] receivers = new QueuePair[PAIRS];
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue sent;
    private CompletionQueue received;
    private MemoryRegion region;
    private SharedReceiveQueue shared;

    @BeforeEach
    void open() throws Exception {
        device = Device.open(Device.names().get(0));
        domain = device.allocateProtectionDomain();
        sent = device.createCompletionQueue(4 * ROOM, null);
        received = device.createCompletionQueue(4 * ROOM, null);
        region = domain.register(buffer, AccessFlags.LOCAL_WRITE);
        shared = domain.createSharedReceiveQueue(ROOM, 1);
        for (int i = 0; i < PAIRS; i++) {
            senders[i] = domain.createQueuePair(new QueuePairInitAttributes(sent, sent).signalAll(true)
                    .maxSendRequests(ROOM));
            receivers[i] = domain.createQueuePair(new QueuePairInitAttributes(received, received)
                    .sharedReceiveQueue(shared));
            ManualConnection.connect(device, senders[i], receivers[i]);
        }
    }

    @AfterEach
    void close() {
        for (int i = 0; i < PAIRS; i++) {
            senders[i].close();
            receivers[i].close();
        }
        shared.close();
        region.close();
        received.close();
        sent.close();
        domain.close();
        device.close();
    }

    /** Receives {@code first} and so on, each into its own part of the buffer. */
    private ReceiveWorkRequests receives(int first, int count) {
        ReceiveWorkRequests requests = new ReceiveWorkRequests(count, count);
        for (int i = first; i < first + count; i++) {
            requests.receive(i).addSge(region.memoryAddress() + (1 + i % ROOM) * SIZE, SIZE, region.lkey());
        }
        return requests;
    }

    private void post(int first, int count) {
        assertThat(shared.postReceive(receives(first, count))).isEqualTo(count);
    }

    private void send(int pair, long value) {
        buffer.putLong(0, value);
        assertThat(senders[pair].postSend(new SendWorkRequests(1, 1).send(value, 0)
                .addSge(region.memoryAddress(), Long.BYTES, region.lkey()))).isEqualTo(1);
    }

    /** One message, until both ends have its completion. */
    private Completion pass(int pair, long value) throws Exception {
        send(pair, value);
        completion(sent, WorkCompletionStatus.SUCCESS);
        Completion completion = completion(received, WorkCompletionStatus.SUCCESS);
        assertThat(completion.queuePairNumber()).isEqualTo(receivers[pair].number());
        assertThat(buffer.getLong((int) (1 + completion.id() % ROOM) * SIZE)).isEqualTo(value);
        return completion;
    }

    private boolean isSoftRoce() {
        return device.name().startsWith("rxe");
    }

    private AsyncEvent nextEvent() throws Exception {
        return TestSupport.await("asynchronous event", device::nextAsyncEvent);
    }

    @Test
    void eachMessageTakesTheOldestReceive() throws Exception {
        assertThat(shared.maxRequests()).isGreaterThanOrEqualTo(ROOM);
        assertThat(shared.maxSges()).isGreaterThanOrEqualTo(1);
        for (int round = 0; round < 3; round++) {
            post(round * ROOM, ROOM);
            for (int i = 0; i < ROOM; i++) {
                int id = round * ROOM + i;
                assertThat(pass(id * 5 % PAIRS, 1000 + id).id()).isEqualTo(id);
            }
        }
    }

    @Test
    void sendersWaitForAReceive() throws Exception {
        for (int i = 0; i < PAIRS; i++) {
            send(i, 7);
        }
        for (int i = 0; i < PAIRS; i++) {
            assertThat(received.poll(new WorkCompletions(1))).isZero();
            post(i, 1);
            assertThat(completion(received, WorkCompletionStatus.SUCCESS).id()).isEqualTo(i);
            completion(sent, WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    void theLimitIsReportedOnceForEachArming() throws Exception {
        assertThat(shared.limit()).isZero();
        post(0, 4);
        shared.arm(3);
        assertThat(shared.limit()).isEqualTo(3);
        pass(0, 1);
        pass(1, 2);
        AsyncEvent event = nextEvent();
        assertThat(event.isSharedReceiveLimitReached()).isTrue();
        assertThat(event.concerns(shared)).isTrue();
        assertThat(event.concerns(received)).isFalse();
        assertThat(shared.limit()).isZero();
        pass(2, 3);
        // The queue was not armed.
        assertThat(device.nextAsyncEvent()).isNull();
        shared.arm(1);
        pass(0, 4);
        assertThat(nextEvent().isSharedReceiveLimitReached()).isTrue();
    }

    @Test
    void aQueuePairInErrorLeavesTheReceivesToTheOthers() throws Exception {
        post(0, 3);
        receivers[1].toError();
        if (!isSoftRoce()) {
            // soft-RoCE of Linux 6.1 does not have it.
            AsyncEvent event = nextEvent();
            assertThat(event.isLastReceiveReached()).as(event.toString()).isTrue();
            assertThat(event.concerns(receivers[1])).isTrue();
        }
        assertThat(received.poll(new WorkCompletions(1))).isZero();
        assertThat(pass(0, 1).id()).isZero();
        assertThat(pass(2, 2).id()).isEqualTo(1);
    }

    @Test
    void aFullQueueTellsHowManyWerePosted() {
        int room = shared.maxRequests();
        int posted = shared.postReceive(receives(0, 4 * room));
        assertThat(posted).isBetween(room, 4 * room - 1);
        assertThat(shared.postErrno()).isEqualTo(Errno.ENOMEM);
        assertThat(shared.postException()).hasMessageContaining("errno 12");
        assertThat(shared.postReceive(new ReceiveWorkRequests(1, 0))).isZero();
    }

    @Test
    void aQueuePairThatSharesTakesNoReceivesOfItsOwn() {
        assertThat(receivers[0].maxReceiveRequests()).isZero();
        assertThat(receivers[0].postReceive(receives(0, 1))).isZero();
        assertThat(receivers[0].postErrno()).isEqualTo(Errno.EINVAL);
    }

    @Test
    void itCannotBeClosedBeforeItsQueuePairs() {
        assertThatThrownBy(() -> shared.close()).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("still used by " + PAIRS);
        assertThat(shared.isOpen()).isTrue();
    }

    @Test
    void theLimitsOfTheDeviceHold() throws Exception {
        DeviceAttributes attributes = device.attributes();
        assertThat(attributes.maxSharedReceiveQueues()).isPositive();
        int requests = attributes.maxSharedReceiveRequests();
        int sges = attributes.maxSharedReceiveSges();
        domain.createSharedReceiveQueue(1, sges).close();
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(requests + 1, 1)).isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_srq");
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(1, sges + 1)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> domain.createSharedReceiveQueue(0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> shared.arm(requests + 1)).isInstanceOf(VerbsException.class);
        assertThatThrownBy(() -> shared.arm(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aClosedOneRefusesEverything() throws Exception {
        SharedReceiveQueue other = domain.createSharedReceiveQueue(1, 1);
        other.close();
        other.close();
        assertThatThrownBy(() -> other.postReceive(receives(0, 1))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.arm(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> other.limit()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> domain.createQueuePair(new QueuePairInitAttributes(sent, sent)
                .sharedReceiveQueue(other))).isInstanceOf(IllegalStateException.class);
    }

    /** With queue pairs of the connection manager. */
    @Test
    void connectionsShareReceives() throws Exception {
        EventChannel events = EventChannel.create();
        ConnectionId listener = ConnectionId.create(events, PortSpace.TCP);
        listener.bind(TestSupport.address(0));
        listener.listen(1);
        ConnectionId client = ConnectionId.create(events, PortSpace.TCP);
        client.resolveAddress(null, listener.localAddress(), TestSupport.RESOLVE_MILLIS);
        event(events, ConnectionEventType.ADDRESS_RESOLVED);
        client.resolveRoute(TestSupport.RESOLVE_MILLIS);
        event(events, ConnectionEventType.ROUTE_RESOLVED);
        try (Endpoint end = new Endpoint(client)) {
            client.connect(ConnectedPair.DEFAULTS);
            try (ConnectionId server = event(events, ConnectionEventType.CONNECT_REQUEST).id();
                 ProtectionDomain serverDomain = server.device().allocateProtectionDomain();
                 CompletionQueue queue = server.device().createCompletionQueue(ROOM, null);
                 MemoryRegion memory = serverDomain.register(buffer, AccessFlags.LOCAL_WRITE);
                 SharedReceiveQueue receives = serverDomain.createSharedReceiveQueue(ROOM, 1)) {
                QueuePair queuePair = server.createQueuePair(serverDomain,
                        new QueuePairInitAttributes(queue, queue).sharedReceiveQueue(receives));
                server.accept(ConnectedPair.DEFAULTS);
                event(events, ConnectionEventType.ESTABLISHED);
                event(events, ConnectionEventType.ESTABLISHED);
                assertThat(receives.postReceive(new ReceiveWorkRequests(1, 1).receive(5)
                        .addSge(memory.memoryAddress(), SIZE, memory.lkey()))).isEqualTo(1);
                end.send(6, 0, 8);
                Completion completion = completion(queue, WorkCompletionStatus.SUCCESS);
                assertThat(completion.id()).isEqualTo(5);
                assertThat(completion.queuePairNumber()).isEqualTo(queuePair.number());
                completion(end.queue, WorkCompletionStatus.SUCCESS);
                queuePair.close();
            }
        } finally {
            listener.close();
            events.close();
        }
    }
}
