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

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.connection.Bind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.verbs.TestSupport.address;
import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.event;
import static io.netty.channel.rdma.verbs.WorkCompletions.GLOBAL_HEADER_LENGTH;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Unreliable datagrams: addresses from the connection manager, and multicast groups.
 */
@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class DatagramTest {
    private static final int HALF = Endpoint.BUFFER_SIZE / 2;

    private EventChannel clientEvents;
    private EventChannel serverEvents;
    private ConnectionId listener;

    @BeforeEach
    void listen() throws Exception {
        clientEvents = EventChannel.create();
        serverEvents = EventChannel.create();
        listener = bound(serverEvents);
        listener.listen(16);
    }

    @AfterEach
    void close() {
        listener.close();
        clientEvents.close();
        serverEvents.close();
    }

    private static ConnectionId bound(EventChannel events) throws VerbsException {
        ConnectionId id = ConnectionId.create(events, PortSpace.UDP);
        id.bind(address(0));
        return id;
    }

    private ConnectionId asking(int port, String data) throws Exception {
        ConnectionId id = ConnectionId.create(clientEvents, PortSpace.UDP);
        id.resolveAddress(null, address(port), TestSupport.RESOLVE_MILLIS);
        event(clientEvents, ConnectionEventType.ADDRESS_RESOLVED);
        id.resolveRoute(TestSupport.RESOLVE_MILLIS);
        event(clientEvents, ConnectionEventType.ROUTE_RESOLVED);
        id.connect(new ConnectionParameters().privateData(data.getBytes(StandardCharsets.US_ASCII)));
        return id;
    }

    private int port() {
        return listener.localAddress().getPort();
    }

    private static SendWorkRequests datagram(Endpoint from, AddressHandle to, int queuePair, int queueKey, int length) {
        return new SendWorkRequests(1, 1).send(1, SendFlags.SIGNALED).to(to, queuePair, queueKey)
                .addSge(from.at(0), length, from.region.lkey());
    }

    private static void sendTo(Endpoint from, AddressHandle to, int queuePair, int queueKey, int length)
            throws Exception {
        from.post(datagram(from, to, queuePair, queueKey, length));
        completion(from.queue, WorkCompletionStatus.SUCCESS);
    }

    /** Sends a datagram until one arrives, since it may be lost: the receiver was busy, for example. */
    private static WorkCompletions sendUntilReceived(Endpoint from, AddressHandle to, int queuePair, int queueKey,
                                                     int length, Endpoint at) throws Exception {
        WorkCompletions batch = new WorkCompletions(1);
        TestSupport.await("a datagram", () -> {
            sendTo(from, to, queuePair, queueKey, length);
            long again = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
            while (at.queue.poll(batch) == 0) {
                if (System.nanoTime() - again > 0) {
                    return null;
                }
                Thread.onSpinWait();
            }
            return batch;
        });
        assertThat(batch.describe(0)).isEqualTo(batch.isSuccess(0) ? batch.describe(0) : "success");
        assertThat(batch.opcode(0)).isEqualTo(WorkCompletionOpcode.RECEIVE);
        return batch;
    }

    private static String text(byte[] data) {
        return new String(data, StandardCharsets.US_ASCII).trim();
    }

    @Test
    void anAcceptedRequestTellsWhereToSend() throws Exception {
        ConnectionId asking = asking(port(), "question");
        ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
        assertThat(request.listener()).isSameAs(listener);
        assertThat(request.id().portSpace()).isEqualTo(PortSpace.UDP);
        assertThat(text(request.privateData())).isEqualTo("question");
        assertThat(request.addressVector()).isNull();
        try (Endpoint server = new Endpoint(request.id()); Endpoint client = new Endpoint(asking)) {
            server.receive(7, 0, 1024);
            server.id.accept(new ConnectionParameters().privateData("answer".getBytes(StandardCharsets.US_ASCII)));

            ConnectionEvent established = event(clientEvents, ConnectionEventType.ESTABLISHED);
            assertThat(text(established.privateData())).isEqualTo("answer");
            assertThat(established.queuePairNumber()).isEqualTo(server.queuePair.number());
            assertThat(established.addressVector().isMulticast()).isFalse();
            assertThat(established.multicastGroup()).isNull();
            client.fill(3, 500);
            client.receive(8, HALF, 1024);
            WorkCompletions got;
            try (AddressHandle handle = client.domain.createAddressHandle(established.addressVector())) {
                got = sendUntilReceived(client, handle, established.queuePairNumber(), established.queueKey(), 500,
                        server);
            }
            assertThat(got.workRequestId(0)).isEqualTo(7);
            assertThat(got.byteLength(0)).isEqualTo(GLOBAL_HEADER_LENGTH + 500);
            assertThat(got.sourceQueuePairNumber(0)).isEqualTo(client.queuePair.number());
            for (int i = 0; i < 500; i++) {
                assertThat(server.buffer.get(GLOBAL_HEADER_LENGTH + i)).isEqualTo(client.buffer.get(i));
            }

            try (AddressHandle back = server.domain.createAddressHandle(got, 0, server.at(0), 1)) {
                WorkCompletions answer = sendUntilReceived(server, back, got.sourceQueuePairNumber(0),
                        established.queueKey(), 20, client);
                assertThat(answer.byteLength(0)).isEqualTo(GLOBAL_HEADER_LENGTH + 20);
            }
            assertThat(serverEvents.nextEvent()).isNull();
        }
    }

    @Test
    void aRejectionSaysWhoRejected() throws Exception {
        try (ConnectionId asking = asking(port(), "?")) {
            ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
            try (ConnectionId id = request.id()) {
                id.reject("no".getBytes(StandardCharsets.US_ASCII));
            }
            ConnectionEvent event = event(clientEvents, ConnectionEventType.UNREACHABLE);
            assertThat(event.id()).isSameAs(asking);
            assertThat(event.isRejectedByApplication()).isTrue();
            assertThat(event.isNobodyListening()).isFalse();
            assertThat(event.describe()).isEqualTo("rejected by the application");
            assertThat(text(event.privateData())).isEqualTo("no");
        }
    }

    @Test
    void nobodyListens() throws Exception {
        int port = port();
        listener.close();
        try (ConnectionId asking = asking(port, "?")) {
            ConnectionEvent event = event(clientEvents, ConnectionEventType.UNREACHABLE);
            assertThat(event.id()).isSameAs(asking);
            assertThat(event.isNobodyListening()).isTrue();
            assertThat(event.describe()).isEqualTo("rejected: nobody listens");
        }
    }

    @Test
    void datagramsOfAnotherQueueKeyAndTooLongOnesAreDropped() throws Exception {
        try (Endpoint receiver = new Endpoint(bound(serverEvents)); Endpoint sender = new Endpoint(bound(clientEvents));
             AddressHandle handle = sender.domain.createAddressHandle(ownVector(sender))) {
            int to = receiver.queuePair.number();
            int key = defaultQueueKey();
            receiver.receive(1, 0, GLOBAL_HEADER_LENGTH + 100);
            sendTo(sender, handle, to, key + 1, 10);
            if (!sender.isSoftRoce()) { // it completes the receive with an error
                sendTo(sender, handle, to, key, 101);
            }
            assertThat(sendUntilReceived(sender, handle, to, key, 99, receiver).byteLength(0))
                    .isEqualTo(GLOBAL_HEADER_LENGTH + 99);

            int mtu = sender.id.device().portAttributes(1).activeMtu();
            sender.post(datagram(sender, handle, to, key, mtu + 1));
            completion(sender.queue, sender.isSoftRoce() ? WorkCompletionStatus.SUCCESS :
                    WorkCompletionStatus.LOCAL_LENGTH_ERROR);
        }
    }

    @Test
    void membersOfAGroupReceive() throws Exception {
        InetAddress group = TestAddress.anyGroup();
        try (Endpoint member = new Endpoint(bound(serverEvents)); Endpoint other = new Endpoint(bound(clientEvents))) {
            member.receive(1, 0, 1024);
            member.id.joinMulticast(group, false);
            ConnectionEvent joined = event(serverEvents, ConnectionEventType.MULTICAST_JOIN);
            assertThat(joined.id()).isSameAs(member.id);
            assertThat(joined.multicastGroup()).isEqualTo(group);
            assertThat(joined.queuePairNumber()).isEqualTo(SendWorkRequests.MULTICAST_QUEUE_PAIR);
            assertThat(joined.privateData()).isEmpty();
            assertThatThrownBy(() -> member.id.joinMulticast(group, false)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(group.getHostAddress());

            other.id.joinMulticast(group, !other.isSoftRoce());
            joined = event(clientEvents, ConnectionEventType.MULTICAST_JOIN);
            try (AddressHandle handle = other.domain.createAddressHandle(joined.addressVector())) {
                WorkCompletions got = sendUntilReceived(other, handle, joined.queuePairNumber(), joined.queueKey(),
                        77, member);
                assertThat(got.byteLength(0)).isEqualTo(GLOBAL_HEADER_LENGTH + 77);
                assertThat(got.hasGlobalHeader(0)).isTrue();
                assertThat(got.sourceQueuePairNumber(0)).isEqualTo(other.queuePair.number());
            }
            other.id.leaveMulticast(group);
            member.id.leaveMulticast(group);
            assertThatThrownBy(() -> member.id.leaveMulticast(group)).isInstanceOfSatisfying(VerbsException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EADDRNOTAVAIL));
            member.id.joinMulticast(group, false); // once more
            assertThat(event(serverEvents, ConnectionEventType.MULTICAST_JOIN).multicastGroup()).isEqualTo(group);
            member.id.leaveMulticast(group);
        }
    }

    /** The embedded provider says this where other users hold the names. */
    @Test
    void aBindThatGetsNoQueuePairSaysWhy() {
        VerbsException cause = new VerbsException("rdma_create_qp", Errno.EADDRNOTAVAIL, "create a queue pair");
        InetSocketAddress address = address(0);
        assertThat(Bind.exception(VerbsApi.preferred(), cause, address)).hasMessageContaining(address.toString())
                .hasMessageContaining("other users hold the names of queue pairs");
    }

    @Test
    void aQueuePairIsClosedAfterItsIdHasLeftItsGroups() throws Exception {
        InetAddress group = InetAddress.getByName("239.195.4.4");
        // The close also closes the protection domain, which would be in use if the native queue pair still existed.
        try (Endpoint member = new Endpoint(bound(serverEvents))) {
            member.id.joinMulticast(group, false);
            event(serverEvents, ConnectionEventType.MULTICAST_JOIN);
            assertThatThrownBy(member.queuePair::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("still in use");
            assertThat(member.queuePair.isOpen()).isTrue();
            member.id.close();
            assertThat(member.queuePair.isOpen()).isFalse();
        }
    }

    @Test
    void onlyBoundIdsForDatagramsJoinGroups() throws Exception {
        InetAddress group = InetAddress.getByName("239.195.4.3");
        try (ConnectionId unbound = ConnectionId.create(clientEvents, PortSpace.UDP);
             ConnectionId connections = ConnectionId.create(clientEvents, PortSpace.TCP)) {
            connections.bind(address(0));
            for (ConnectionId id : new ConnectionId[] { unbound, connections }) {
                assertThatThrownBy(() -> id.joinMulticast(group, false)).isInstanceOfSatisfying(VerbsException.class,
                        e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("239.195.4.3");
            }
        }
    }

    @Test
    void queuePairsWithoutTheConnectionManagerSendDatagrams() throws Exception {
        int key = 0x12345;
        ByteBuffer buffer = NativeMemory.allocate(256);
        byte[] gid = new byte[16];
        gid[0] = (byte) 0xFF;
        gid[1] = 0x12;
        gid[15] = 9;
        AddressVector group = AddressVector.global(1, 0, gid, 1, 0xC009);
        try (Device device = Device.open(Device.names().get(0));
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(8, null);
             MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE);
             QueuePair left = domain.createQueuePair(new QueuePairInitAttributes(queue, queue).signalAll(true)
                     .type(QueuePairType.UNRELIABLE_DATAGRAM));
             QueuePair right = domain.createQueuePair(new QueuePairInitAttributes(queue, queue)
                     .type(QueuePairType.UNRELIABLE_DATAGRAM))) {
            for (QueuePair queuePair : new QueuePair[] { left, right }) {
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.INIT).partitionKeyIndex(0).port(1)
                        .queueKey(key));
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
                queuePair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
            }
            assertThat(right.postReceive(new ReceiveWorkRequests(1, 1).receive(1)
                    .addSge(region.memoryAddress() + 128, 64, region.lkey()))).isEqualTo(1);
            buffer.putLong(0, 42);
            try (AddressHandle handle = domain.createAddressHandle(vector(device))) {
                assertThat(left.postSend(new SendWorkRequests(1, 1).sendWithImmediate(2, 0, 4711)
                        .to(handle, right.number(), key)
                        .addSge(region.memoryAddress(), 8, region.lkey()))).isEqualTo(1);
                TestSupport.completions(queue, 2).forEach(completion -> {
                    assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    if (completion.id() == 1) {
                        assertThat(completion.immediate()).isEqualTo(4711);
                    }
                });
                assertThat(buffer.getLong(128 + GLOBAL_HEADER_LENGTH)).isEqualTo(42);
                assertThatThrownBy(domain::close).isInstanceOf(IllegalStateException.class);
            }

            right.attachMulticast(group);
            right.detachMulticast(group);
            assertThatThrownBy(() -> right.detachMulticast(group)).isInstanceOfSatisfying(VerbsException.class,
                    e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("ff12::9");
            assertThatThrownBy(() -> right.attachMulticast(vector(device))).isInstanceOf(VerbsException.class);
            assertThatThrownBy(() -> domain.createAddressHandle(AddressVector.local(200, 1, 0)))
                    .isInstanceOfSatisfying(VerbsException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL)).hasMessageContaining("port 200");
        }
    }

    @Test
    void addressesAreChecked() {
        assertThatThrownBy(() -> AddressVector.local(0, 1, 0)).hasMessageContaining("localPort");
        assertThatThrownBy(() -> AddressVector.local(1, 0x10000, 0)).hasMessageContaining("destinationLid");
        assertThatThrownBy(() -> AddressVector.local(1, 1, 16)).hasMessageContaining("serviceLevel");
        assertThatThrownBy(() -> AddressVector.global(1, 0, new byte[4], 1, 0)).hasMessageContaining("expected: 16");
        assertThatThrownBy(() -> AddressVector.global(1, 0, new byte[16], 256, 0)).hasMessageContaining("hopLimit");
        assertThat(AddressVector.local(1, 5, 2)).isEqualTo(AddressVector.local(1, 5, 2))
                .isNotEqualTo(AddressVector.local(1, 6, 2)).hasToString("port 1, lid 5");
        assertThat(AddressVector.local(1, 5, 2).withTrafficClass(8)).as("it has no global header")
                .isEqualTo(AddressVector.local(1, 5, 2));
        assertThat(AddressVector.global(1, 0, new byte[16], 1, 0).withTrafficClass(8))
                .isNotEqualTo(AddressVector.global(1, 0, new byte[16], 1, 0)).asString().endsWith("traffic class 8");
        assertThatThrownBy(() -> AddressVector.local(1, 5, 2).withTrafficClass(256))
                .hasMessageContaining("trafficClass");
        assertThatThrownBy(() -> new SendWorkRequests(1, 1).to(null, 1, 1)).isInstanceOf(IllegalStateException.class);
    }

    /** The queue key of queue pairs in the port space of datagrams: RDMA_UDP_QKEY. */
    private static int defaultQueueKey() {
        return 0x01234567;
    }

    private static AddressVector ownVector(Endpoint endpoint) throws VerbsException {
        return vector(endpoint.id.device());
    }

    private static AddressVector vector(Device device) throws VerbsException {
        return AddressVector.global(1, 0, device.gid(1, 0), 1, device.portAttributes(1).lid());
    }
}
