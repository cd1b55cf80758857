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

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.unix.FileDescriptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

import static io.netty.channel.rdma.verbs.TestSupport.address;
import static io.netty.channel.rdma.verbs.TestSupport.event;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("aarch64")
@Tag("quick")
@Tag("rxe-quick")
@ExtendWith(LiveObjectsExtension.class)
class ConnectionTest {
    private EventChannel clientEvents;
    private EventChannel serverEvents;
    private ConnectionId listener;

    @BeforeEach
    void listen() throws Exception {
        clientEvents = EventChannel.create();
        serverEvents = EventChannel.create();
        listener = ConnectionId.create(serverEvents, PortSpace.TCP);
        listener.bind(address(0));
        listener.listen(16);
    }

    @AfterEach
    void close() {
        listener.close();
        clientEvents.close();
        serverEvents.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static void assertStartsWith(byte[] actual, byte[] expected) {
        assertThat(actual.length).isGreaterThanOrEqualTo(expected.length);
        assertThat(Arrays.copyOf(actual, expected.length)).isEqualTo(expected);
        for (int i = expected.length; i < actual.length; i++) {
            assertThat(actual[i]).as("padding").isZero();
        }
    }

    @Test
    void anEventChannelWithoutEventsDoesNotBlock() throws Exception {
        assertThat(clientEvents.nextEvent()).isNull();
        assertThat(clientEvents.fd()).isNotNegative().isNotEqualTo(serverEvents.fd());
    }

    @Test
    void aListenerOnPortZeroKnowsItsPort() {
        assertThat(listener.localAddress().getPort()).isPositive();
        assertThat(listener.localAddress().getAddress()).isEqualTo(address(0).getAddress());
    }

    @Test
    void aPortInUseIsRefused() throws Exception {
        InetSocketAddress taken = listener.localAddress();
        try (ConnectionId second = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            assertThatThrownBy(() -> second.bind(taken)).isInstanceOfSatisfying(VerbsException.class, e -> {
                assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE);
                assertThat(e.call()).isEqualTo("rdma_bind_addr");
                assertThat(e).hasMessageContaining(taken.toString());
            });
        }
    }

    /** The connection manager of the peer asks again. */
    @Test
    void aRequestBeyondTheBacklogWaitsUntilThereIsRoom() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED,
                "requests to two listeners may come in another order than they were made");
        try (ConnectionId narrow = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            narrow.bind(address(0));
            narrow.listen(1);
            try (Endpoint first = new Endpoint(ConnectedPair.resolved(clientEvents, narrow));
                 Endpoint second = new Endpoint(ConnectedPair.resolved(clientEvents, narrow));
                 Endpoint other = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
                for (Endpoint end : List.of(first, second, other)) {
                    end.id.connect(ConnectedPair.DEFAULTS);
                }
                for (ConnectionId expected : List.of(narrow, listener, narrow)) {
                    ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
                    request.id().close();
                    assertThat(request.listener()).isSameAs(expected);
                }
            }
        }
    }

    @Test
    void thePortOfAClosedIdIsFree() throws Exception {
        InetSocketAddress former = listener.localAddress();
        listener.close();
        try (ConnectionId second = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            second.bind(former);
            second.listen(1);
            assertThat(second.localAddress()).isEqualTo(former);
        }
    }

    @Test
    void optionsCanBeSetBeforeBinding() throws Exception {
        try (ConnectionId id = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            id.setReuseAddress(true);
            id.setIpv6Only(true);
            id.setTypeOfService(0x10);
            id.setAckTimeoutExponent(14);
            id.bind(address(0));
            assertThat(id.localAddress().getPort()).isPositive();
            assertThatThrownBy(() -> id.setTypeOfService(256)).hasMessageContaining("typeOfService");
            assertThatThrownBy(() -> id.setAckTimeoutExponent(0)).hasMessageContaining("exponent");
        }
    }

    @Test
    void anAddressOfNoDeviceIsRefused() throws Exception {
        try (ConnectionId id = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            // RFC 5737: nobody has it.
            InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getByName("192.0.2.1"), 0);
            assertThatThrownBy(() -> id.bind(nowhere)).isInstanceOfSatisfying(VerbsException.class,
                    e -> assertThat(e.errno()).isIn(Errno.EADDRNOTAVAIL, Errno.ENODEV));
        }
    }

    @Test
    void privateDataAndAddressesReachTheOtherSide() throws Exception {
        InetSocketAddress local = anotherAddress();
        ConnectionId id = ConnectedPair.resolved(clientEvents, local, listener.localAddress());
        try (Endpoint client = new Endpoint(id)) {
            client.id.connect(new ConnectionParameters().privateData(bytes("hello, server")).responderResources(3)
                    .initiatorDepth(2));
            ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
            assertThat(request.listener()).isSameAs(listener);
            assertThat(request.id()).isNotSameAs(listener);
            assertStartsWith(request.privateData(), bytes("hello, server"));
            // Each side's resources are the other's depth.
            assertThat(request.responderResources()).isEqualTo(2);
            assertThat(request.initiatorDepth()).isEqualTo(3);
            assertThat(request.id().eventChannel()).isSameAs(serverEvents);
            try (Endpoint server = new Endpoint(request.id())) {
                request.id().accept(new ConnectionParameters().privateData(bytes("hello, client")));
                ConnectionEvent established = event(clientEvents, ConnectionEventType.ESTABLISHED);
                assertThat(established.id()).isSameAs(id);
                assertThat(established.status()).isZero();
                assertStartsWith(established.privateData(), bytes("hello, client"));
                assertThat(event(serverEvents, ConnectionEventType.ESTABLISHED).id()).isSameAs(server.id);

                assertThat(id.remoteAddress()).isEqualTo(listener.localAddress());
                assertThat(server.id.localAddress()).isEqualTo(listener.localAddress());
                assertThat(server.id.remoteAddress()).isEqualTo(id.localAddress());
                assertThat(id.localAddress()).isEqualTo(local);
                assertThat(server.id.device()).isSameAs(id.device());
            }
        }
    }

    /** An address that an id has only if it is told: another port, and another host where there is one. */
    private InetSocketAddress anotherAddress() throws Exception {
        InetSocketAddress free;
        try (ConnectionId id = ConnectionId.create(clientEvents, PortSpace.TCP)) {
            id.bind(address(0));
            free = id.localAddress();
        }
        // All of 127.0.0.0/8 are addresses of the embedded provider.
        byte[] host = free.getAddress().getAddress();
        host[3] += free.getAddress().isLoopbackAddress() ? 1 : 0;
        return new InetSocketAddress(InetAddress.getByAddress(host), free.getPort());
    }

    @Test
    void theLongestPrivateDataArrivesWholeAndLongerIsRefused() throws Exception {
        byte[] longest = new byte[56];
        Arrays.fill(longest, (byte) 0xA5);
        try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
            assertThatThrownBy(() -> client.id.connect(new ConnectionParameters().privateData(new byte[57])))
                    .isInstanceOfSatisfying(VerbsException.class,
                            e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            client.id.connect(new ConnectionParameters().privateData(longest));
            ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
            assertThat(request.privateData()).isEqualTo(longest);
            request.id().close();
        }
    }

    @Test
    void aRejectedConnectionSaysWhy() throws Exception {
        try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
            client.id.connect(ConnectedPair.DEFAULTS);
            try (ConnectionId request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST).id()) {
                request.reject(bytes("too busy"));
            }
            ConnectionEvent rejected = event(clientEvents, ConnectionEventType.REJECTED);
            assertThat(rejected.isRejectedByApplication()).isTrue();
            assertThat(rejected.isNobodyListening()).isFalse();
            assertThat(rejected.describe()).contains("rejected by the application");
            assertStartsWith(rejected.privateData(), bytes("too busy"));
        }
    }

    @Test
    void aRequestThatIsClosedUnansweredIsRejected() throws Exception {
        try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
            client.id.connect(ConnectedPair.DEFAULTS);
            event(serverEvents, ConnectionEventType.CONNECT_REQUEST).id().close();
            assertThat(event(clientEvents, ConnectionEventType.REJECTED).isNobodyListening()).isFalse();
        }
    }

    @Test
    void nobodyListening() throws Exception {
        int port = listener.localAddress().getPort();
        listener.close();
        try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, port))) {
            client.id.connect(ConnectedPair.DEFAULTS);
            ConnectionEvent rejected = event(clientEvents, ConnectionEventType.REJECTED);
            assertThat(rejected.isNobodyListening()).isTrue();
            assertThat(rejected.describe()).isEqualTo("rejected: nobody listens");
        }
    }

    @Test
    void closingTheListenerEndsRequestsThatNobodyRead() throws Exception {
        try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
            client.id.connect(ConnectedPair.DEFAULTS);
            // Read by another object's eyes only: epoll would report the channel readable now.
            listener.close();
            event(clientEvents, ConnectionEventType.REJECTED);
            assertThat(serverEvents.nextEvent()).isNull();
        }
    }

    @Test
    void disconnectReachesBothSidesOnce() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.server.id.disconnect();
            assertThat(event(pair.clientEvents, ConnectionEventType.DISCONNECTED).id()).isSameAs(pair.client.id);
            // The kernel answers the peer no earlier than this.
            pair.client.id.disconnect();
            assertThat(event(pair.serverEvents, ConnectionEventType.DISCONNECTED).id()).isSameAs(pair.server.id);
            pair.client.id.disconnect();
            // Half a second after the first one the kernel tells that the numbers of the connection are free again.
            for (EventChannel events : new EventChannel[] { pair.clientEvents, pair.serverEvents }) {
                for (ConnectionEvent event; (event = events.nextEvent()) != null;) {
                    assertThat(event.type()).isEqualTo(ConnectionEventType.TIMEWAIT_EXIT);
                }
            }
        }
    }

    @Test
    void closingAnIdDisconnectsThePeer() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.server.close();
            event(pair.clientEvents, ConnectionEventType.DISCONNECTED);
        }
    }

    @Test
    void migratedIdsReportToTheirNewChannel() throws Exception {
        try (EventChannel other = EventChannel.create(); ConnectedPair pair = new ConnectedPair()) {
            pair.server.id.migrate(other);
            assertThat(pair.server.id.eventChannel()).isSameAs(other);
            pair.client.id.disconnect();
            assertThat(event(other, ConnectionEventType.DISCONNECTED).id()).isSameAs(pair.server.id);
            assertThat(pair.serverEvents.nextEvent()).isNull();
            pair.server.id.migrate(pair.serverEvents);
            assertThat(pair.server.id.eventChannel()).isSameAs(pair.serverEvents);
        }
    }

    @Test
    void anEventThatWasNotReadMigratesWithItsId() throws Exception {
        try (EventChannel other = EventChannel.create(); ConnectedPair pair = new ConnectedPair()) {
            pair.client.close();
            pair.server.receive(1, 0, 8);
            awaitReadable(pair.serverEvents.fd());
            pair.server.id.migrate(other);
            event(other, ConnectionEventType.DISCONNECTED);
            pair.server.id.migrate(pair.serverEvents);
        }
    }

    private static void awaitReadable(int fd) throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            CompletableFuture<Void> readable = new CompletableFuture<>();
            FileDescriptor descriptor = new FileDescriptor(fd);
            IoRegistration registration = TestTimeouts.result(((IoEventLoop) group.next()).register(
                    new EpollIoHandle() {
                @Override
                public FileDescriptor fd() {
                    return descriptor;
                }

                @Override
                public void handle(IoRegistration its, IoEvent event) {
                    its.cancel();
                    readable.complete(null);
                }

                @Override
                public void close() {
                    // The test owns the descriptor.
                }
            }));
            registration.submit(EpollIoOps.EPOLLIN);
            TestTimeouts.result(readable);
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void aRequestsIdCanBeMigratedBeforeItIsAccepted() throws Exception {
        try (EventChannel loop = EventChannel.create();
             Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, listener))) {
            client.id.connect(ConnectedPair.DEFAULTS);
            ConnectionId request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST).id();
            request.migrate(loop);
            try (Endpoint server = new Endpoint(request)) {
                request.accept(ConnectedPair.DEFAULTS);
                event(clientEvents, ConnectionEventType.ESTABLISHED);
                assertThat(event(loop, ConnectionEventType.ESTABLISHED).id()).isSameAs(server.id);
            }
        }
    }

    @Test
    void ipv6AddressesAreCarried() throws Exception {
        try (ConnectionId six = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            six.bind(TestSupport.address6(0));
            six.listen(0);
            assertThat(six.localAddress().getAddress()).isEqualTo(TestSupport.address6(0).getAddress());
            assertThat(six.localAddress().getPort()).isPositive();
            InetSocketAddress address = TestSupport.address6(six.localAddress().getPort());
            try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, address))) {
                client.id.connect(ConnectedPair.DEFAULTS);
                ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
                assertThat(request.id().localAddress()).isEqualTo(address);
                assertThat(request.id().remoteAddress()).isEqualTo(client.id.localAddress());
                request.id().close();
            }
        }
    }

    @Test
    void theWildcardAddressAcceptsConnections() throws Exception {
        try (ConnectionId any = ConnectionId.create(serverEvents, PortSpace.TCP)) {
            any.bind(new InetSocketAddress(InetAddress.getByName("0.0.0.0"), 0));
            any.listen(0);
            assertThat(any.device()).isNull();
            try (Endpoint client = new Endpoint(ConnectedPair.resolved(clientEvents, any))) {
                client.id.connect(ConnectedPair.DEFAULTS);
                ConnectionEvent request = event(serverEvents, ConnectionEventType.CONNECT_REQUEST);
                assertThat(request.listener()).isSameAs(any);
                assertThat(request.id().localAddress().getAddress()).isEqualTo(address(0).getAddress());
                request.id().close();
            }
        }
    }

    @Test
    void manyConnectionsLeaveNothingBehind() throws Exception {
        long first = ConnectionId.nextToken();
        for (int i = 0; i < 50; i++) {
            try (ConnectedPair pair = new ConnectedPair()) {
                assertThat(pair.client.queuePair.state()).isEqualTo(QueuePairState.RTS);
                assertThat(pair.server.queuePair.state()).isEqualTo(QueuePairState.RTS);
            }
        }
        assertThat(LongStream.rangeClosed(first, ConnectionId.nextToken()).mapToObj(ConnectionId::byToken))
                .as("ids that events are looked up for").containsOnlyNulls();
    }
}
