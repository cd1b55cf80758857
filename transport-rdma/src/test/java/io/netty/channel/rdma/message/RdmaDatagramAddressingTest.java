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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.DeviceAddresses;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.message.DatagramEnd.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Recipients of datagrams, and the search for them.
 */
@Tag("quick")
class RdmaDatagramAddressingTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static DatagramEnd end() throws Exception {
        return new DatagramEnd(loops.group());
    }

    /** A port where nobody listens. */
    private static InetSocketAddress nobody() throws Exception {
        try (DatagramEnd gone = end()) {
            return gone.address();
        }
    }

    @Test
    void deviceThatIsChosenStandsForTheWildcard() throws Exception {
        String name = TestAddress.device();
        ChannelInboundHandlerAdapter handler = new ChannelInboundHandlerAdapter() {
            @Override
            public boolean isSharable() {
                return true;
            }
        };
        Bootstrap bootstrap = new Bootstrap().group(loops.group()).channel(RdmaDatagramChannel.class)
                .handler(handler).option(RdmaChannelOption.DEVICE, name).option(RdmaChannelOption.DEVICE_PORT, 1);
        RdmaDatagramChannel channel =
                (RdmaDatagramChannel) TestTimeouts.sync(bootstrap.bind(new InetSocketAddress(0))).channel();
        assertThat(DeviceAddresses.find().byDevice().get(name)).contains(channel.localAddress().getAddress());
        TestTimeouts.sync(channel.close());
        assertThat(TestTimeouts.await(bootstrap.option(RdmaChannelOption.DEVICE_PORT, 99)
                .bind(TestAddress.anyPort())).cause()).isInstanceOf(NoRdmaDeviceException.class);
    }

    @Test
    void writesToAPortWhereNobodyListensFailAndNameTheAddress() throws Exception {
        InetSocketAddress nobody = nobody();
        try (DatagramEnd end = end()) {
            for (int i = 0; i < 3; i++) {
                assertThat(end.failure(new RdmaDatagram(ascii("hello?"), nobody)))
                        .isInstanceOf(PortUnreachableException.class)
                        .hasMessageContaining(String.valueOf(nobody.getPort()));
            }
            assertThat(end.channel.isActive()).isTrue();
            // Once somebody is there it works.
            try (DatagramEnd late = new DatagramEnd(loops.group(), nobody, b -> { })) {
                end.send("at last", nobody);
                assertThat(late.text()).isEqualTo("at last");
            }
        }
    }

    @Test
    void datagramsWaitInOrderForTheAddressAndOthersDoNotWaitForThem() throws Exception {
        InetSocketAddress silent;
        try (EventChannel events = EventChannel.create(); ConnectionId listener =
                ConnectionId.create(events, PortSpace.UDP); DatagramEnd other = end(); DatagramEnd end = end()) {
            // Takes requests, but nobody answers them.
            listener.bind(TestAddress.anyPort());
            listener.listen(16);
            silent = listener.localAddress();
            end.channel.config().setConnectTimeoutMillis(3000 * TestTimeouts.MULTIPLIER);
            ChannelFuture waits = end.channel.write(new RdmaDatagram(ascii("waits"), silent));
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                writes.add(end.channel.write(new RdmaDatagram(ascii("" + i), other.address())));
            }
            end.channel.flush();
            for (int i = 0; i < 20; i++) {
                assertThat(other.text()).isEqualTo("" + i);
            }
            assertThat(waits.isDone()).as("the timeout is later").isFalse();
            assertThat(TestTimeouts.await(waits).cause()).isInstanceOf(ConnectTimeoutException.class)
                    .hasMessageContaining(String.valueOf(silent.getPort()));
            for (ChannelFuture write : writes) {
                TestTimeouts.sync(write);
            }
        }
    }

    @Test
    void connectedChannelSendsBuffersAndReadsOnlyItsPeer() throws Exception {
        try (DatagramEnd peer = end(); DatagramEnd foreigner = end(); DatagramEnd end = end()) {
            TestTimeouts.sync(end.channel.connect(peer.address()));
            assertThat(end.channel.remoteAddress()).isEqualTo(peer.address());
            TestTimeouts.sync(end.channel.writeAndFlush(ascii("to the peer")));
            assertThat(peer.text()).isEqualTo("to the peer");
            TestTimeouts.sync(end.channel.writeAndFlush(new RdmaDatagram(ascii("so, too"), null, 7)));
            assertThat(peer.text()).isEqualTo("so, too");
            assertThat(TestTimeouts.await(end.channel.connect(foreigner.address())).cause())
                    .isInstanceOf(AlreadyConnectedException.class);

            foreigner.send("let me in", end.address());
            peer.send("me", end.address());
            assertThat(end.text()).isEqualTo("me");
            TestTimeouts.awaitTrue(() -> end.channel.dropped() == 1);

            TestTimeouts.sync(end.channel.disconnect());
            assertThat(end.channel.isActive()).isTrue();
            assertThat(end.channel.remoteAddress()).isNull();
            foreigner.send("now?", end.address());
            assertThat(end.text()).isEqualTo("now?");
        }
    }

    @Test
    void connectBindsAnUnboundChannelToTheAddressThatLeadsThere() throws Exception {
        DatagramEnd.Recorder events = new DatagramEnd.Recorder();
        try (DatagramEnd peer = end()) {
            Channel client = TestTimeouts.sync(DatagramEnd.bootstrap(loops.group(), events).connect(peer.address()))
                    .channel();
            assertThat(events.next()).isEqualTo("active");
            assertThat(client.localAddress()).isNotNull();
            TestTimeouts.sync(client.writeAndFlush(ascii("hello")));
            RdmaDatagram hello = peer.datagram();
            peer.send("and hello", hello.sender());
            hello.release();
            TestTimeouts.take(events.datagrams, "an answer").release();
            TestTimeouts.sync(client.close());
            assertThat(events.next()).isEqualTo("inactive");
        }
    }

    @Test
    void connectToNobodyFailsAndNamesTheAddress() throws Exception {
        InetSocketAddress nobody = nobody();
        ChannelFuture connect = TestTimeouts.await(DatagramEnd.bootstrap(loops.group(), new DatagramEnd.Recorder())
                .connect(nobody));
        assertThat(connect.cause()).hasMessageContaining("nobody receives datagrams at")
                .hasMessageContaining(String.valueOf(nobody.getPort()));
        TestTimeouts.sync(connect.channel().closeFuture());
    }

    @Test
    void closeEndsAConnectThatWaits() throws Exception {
        try (EventChannel events = EventChannel.create(); ConnectionId listener =
                ConnectionId.create(events, PortSpace.UDP); DatagramEnd end = end()) {
            listener.bind(TestAddress.anyPort());
            listener.listen(16);
            ChannelFuture connect = end.channel.connect(listener.localAddress());
            TestTimeouts.sync(end.channel.close());
            assertThat(TestTimeouts.await(connect).cause()).isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void peerThatBeginsAnewIsFoundAgain() throws Exception {
        try (DatagramEnd end = end()) {
            DatagramEnd first = end();
            InetSocketAddress address = first.address();
            end.send("to the first", address);
            assertThat(first.text()).isEqualTo("to the first");
            first.close();
            try (DatagramEnd second = new DatagramEnd(loops.group(), address, b -> { })) {
                // Goes to a queue pair that is no more, and nobody can know.
                end.send("lost", address);
                TestTimeouts.sync(end.channel.forgetAddress(address));
                end.send("to the second", address);
                assertThat(second.text()).isEqualTo("to the second");
            }
        }
    }

    @Test
    void whatIsKnownOfAnAddressIsAskedForAgainAfterItsTime() throws Exception {
        try (DatagramEnd end = new DatagramEnd(loops.group(), TestAddress.anyPort(),
                b -> b.option(RdmaChannelOption.ADDRESS_TTL_MILLIS, 1))) {
            DatagramEnd first = end();
            InetSocketAddress address = first.address();
            end.send("to the first", address);
            assertThat(first.text()).isEqualTo("to the first");
            first.close();
            try (DatagramEnd second = new DatagramEnd(loops.group(), address, b -> { })) {
                TestTimeouts.awaitTrue(() -> {
                    end.write("anew", address);
                    return !second.events.datagrams.isEmpty();
                });
            }
            // Found to be gone, for good.
            TestTimeouts.awaitTrue(() -> end.write("?", address).awaitUninterruptibly().cause() instanceof
                    PortUnreachableException);
        }
    }

    @Test
    void addressesThatWereToldInAnotherWayNeedNobodyToAsk() throws Exception {
        try (DatagramEnd left = end(); DatagramEnd right = end()) {
            RdmaDatagramAddress told = right.channel.datagramAddress();
            RdmaDatagramAddress copy = new RdmaDatagramAddress(told.gid(), told.lid(), told.queuePairNumber(),
                    told.queueKey());
            assertThat(copy).isEqualTo(told).hasSameHashCodeAs(told);
            left.send("direct", copy);
            assertThat(right.text()).isEqualTo("direct");
            TestTimeouts.sync(left.channel.connect(copy));
            TestTimeouts.sync(left.channel.writeAndFlush(ascii("connected")));
            assertThat(right.text()).isEqualTo("connected");
            right.send("answer", left.channel.datagramAddress());
            assertThat(left.text()).isEqualTo("answer");
        }
    }

    @Test
    void datagramsOfAnotherQueueKeyDoNotArrive() throws Exception {
        try (DatagramEnd left = end(); DatagramEnd right = end()) {
            RdmaDatagramAddress told = right.channel.datagramAddress();
            left.send("wrong key", new RdmaDatagramAddress(told.gid(), told.lid(), told.queuePairNumber(), 0x1111));
            left.send("right key", told);
            assertThat(right.text()).isEqualTo("right key");
        }
    }

    @Test
    void allWhoAskAreAnsweredAndNothingIsKeptOfThem() throws Exception {
        int many = 100;
        List<ConnectionId> asking = new ArrayList<>();
        try (DatagramEnd end = end(); EventChannel events = EventChannel.create()) {
            int ids = VerbsResource.CONNECTION_ID.live();
            for (int i = 0; i < many; i++) {
                ConnectionId id = ConnectionId.create(events, PortSpace.UDP);
                asking.add(id);
                id.resolveAddress(null, end.address(), (int) (TestTimeouts.SECONDS * 1000));
            }
            int[] answered = new int[1];
            TestTimeouts.awaitTrue(() -> {
                answered[0] += answers(events, end.channel.datagramAddress().queuePairNumber());
                return answered[0] == many;
            });
            TestTimeouts.awaitTrue(() -> VerbsResource.CONNECTION_ID.live() == ids + many);
            asking.forEach(ConnectionId::close);
            end.send("still there", end.address());
            assertThat(end.text()).isEqualTo("still there");
        }
    }

    /** Takes events, goes on with what they are about, and returns how many were the answers that are expected. */
    private static int answers(EventChannel events, int queuePairNumber) {
        int answers = 0;
        try {
            for (ConnectionEvent event; (event = events.nextEvent()) != null;) {
                switch (event.type()) {
                case ADDRESS_RESOLVED:
                    event.id().resolveRoute((int) (TestTimeouts.SECONDS * 1000));
                    break;
                case ROUTE_RESOLVED:
                    event.id().connect(new ConnectionParameters());
                    break;
                default:
                    assertThat(event.type()).as(event.toString()).isEqualTo(ConnectionEventType.ESTABLISHED);
                    assertThat(event.queuePairNumber()).isEqualTo(queuePairNumber);
                    answers++;
                }
            }
        } catch (VerbsException e) {
            throw new AssertionError(e);
        }
        return answers;
    }

    @Test
    void onlySoManyAddressesAreAskedForAtATime() throws Exception {
        try (DatagramEnd end = end()) {
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < DatagramRecipients.MAX_PENDING + 10; i++) {
                writes.add(end.channel.write(new RdmaDatagram(ascii("?"),
                        new InetSocketAddress(TestAddress.HOST, 10_000 + i))));
            }
            end.channel.flush();
            int refused = 0;
            for (ChannelFuture write : writes) {
                Throwable cause = TestTimeouts.await(write).cause();
                assertThat(cause).isNotNull();
                refused += cause.getMessage().contains("too many addresses") ? 1 : 0;
            }
            assertThat(refused).isEqualTo(10);
            end.send("still there", end.address());
            assertThat(end.text()).isEqualTo("still there");
        }
    }

    @Test
    void addressesThatCanNotBeAreRefused() throws Exception {
        assertThatThrownBy(() -> new RdmaDatagramChannel().maxPayload()).isInstanceOf(NotYetBoundException.class);
        assertThatThrownBy(() -> new RdmaDatagramAddress(new byte[4], 1, 1, 1)).hasMessageContaining("expected: 16");
        assertThatThrownBy(() -> new RdmaDatagramAddress(null, 0, 1, 1)).hasMessageContaining("neither");
        assertThatThrownBy(() -> new RdmaDatagramAddress(null, 1, 1 << 24, 1)).hasMessageContaining("queuePairNumber");
        try (DatagramEnd end = end()) {
            assertThat(end.failure(new RdmaDatagram(ascii("?"), InetSocketAddress.createUnresolved("nowhere", 1))))
                    .isInstanceOf(UnresolvedAddressException.class);
            ChannelFuture twice = TestTimeouts.await(new Bootstrap().group(loops.group())
                    .channel(RdmaDatagramChannel.class).handler(new DatagramEnd.Recorder()).bind(end.address()));
            assertThat(twice.cause()).isInstanceOf(BindException.class);
            TestTimeouts.sync(twice.channel().closeFuture());
        }
    }

    @Test
    void wildcardStandsForAnAddressOfADevice() throws Exception {
        try (DatagramEnd any = new DatagramEnd(loops.group(), new InetSocketAddress("0.0.0.0", 0),
                b -> b.option(ChannelOption.SO_REUSEADDR, true)); DatagramEnd end = end()) {
            assertThat(any.address().getAddress().isAnyLocalAddress()).isFalse();
            assertThat(any.address().getPort()).isPositive();
            end.send("hello", any.address());
            assertThat(any.text()).isEqualTo("hello");
        }
    }
}
