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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaServerMessageChannel;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.metrics.RdmaDeviceMetrics;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;
import io.netty.channel.rdma.metrics.RdmaProviderChoice;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Counters of channels, event loops, devices, and failed connects.
 */
class RdmaMetricsTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    /** More than goes inline. */
    private static final int SMALL = 500;
    private static final int LARGE = 20_000;

    /**
     * Connections of the test before may still be ending: a channel is closed before the end of its connection. What
     * devices count of them would change in the middle of this test.
     */
    @BeforeEach
    void awaitEndOfEarlierConnections() throws InterruptedException {
        TestTimeouts.awaitTrue(() -> RdmaDeviceMetrics.all().stream().allMatch(device -> device.connections() == 0) &&
                RdmaMetrics.total().receiveMemory() == 0);
    }

    // ---- copies

    @Test
    void sentCopiesAreCountedByCause(@TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[LARGE]);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            RdmaMetrics metrics = pair.client.metrics();
            send(pair, pair.client.alloc().directBuffer(SMALL).writeZero(SMALL), SMALL);
            send(pair, Unpooled.wrappedBuffer(new byte[LARGE]), LARGE);
            send(pair, Unpooled.directBuffer(LARGE).writeZero(LARGE), LARGE);
            send(pair, new DefaultFileRegion(file.toFile(), 0, LARGE), LARGE);
            send(pair, pair.client.alloc().directBuffer(LARGE).writeZero(LARGE), LARGE);

            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_SMALL)).isEqualTo(SMALL);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_HEAP)).isEqualTo(LARGE);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_FOREIGN)).isEqualTo(LARGE);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_FILE_REGION)).isEqualTo(LARGE);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_UNREGISTERED)).isZero();
            assertThat(metrics.bytesSentCopied()).isEqualTo(SMALL + 3 * LARGE);
            assertThat(metrics.bytesSentInPlace()).isEqualTo(LARGE);
        }
    }

    @Test
    void bytesThatGoInlineAreNoCopies() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            send(pair, Unpooled.wrappedBuffer(new byte[16]), 16);
            send(pair, Unpooled.wrappedBuffer(new byte[LARGE]), LARGE);

            assertThat(pair.client.metrics().bytesSentInline()).isEqualTo(16);
            assertThat(pair.client.metrics().bytesCopied(RdmaMetrics.CopyCause.SENT_SMALL)).isZero();
            assertThat(pair.client.metrics().bytesCopied(RdmaMetrics.CopyCause.SENT_HEAP)).isEqualTo(LARGE);
        }
    }

    @Test
    void receivedCopiesAreCountedByCause() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            RdmaMetrics metrics = pair.server.metrics();
            send(pair, Unpooled.wrappedBuffer(new byte[16]), 16);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.RECEIVED_SMALL)).isEqualTo(16);
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.RECEIVED_HELD)).isZero();

            // Nobody releases what arrives.
            int bytes = 4 * (int) metrics.receiveMemory();
            TestTimeouts.sync(pair.client.writeAndFlush(pair.client.alloc().directBuffer(bytes).writeZero(bytes)));
            List<ByteBuf> held = new ArrayList<>();
            for (int arrived = 0; arrived < bytes;) {
                ByteBuf buf = pair.serverEvents.nextBuffer();
                arrived += buf.readableBytes();
                held.add(buf);
            }
            held.forEach(ByteBuf::release);

            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.RECEIVED_HELD)).isPositive();
            assertThat(metrics.bytesReceivedInPlace()).isPositive();
            assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.RECEIVED_HELD) +
                    metrics.bytesCopied(RdmaMetrics.CopyCause.RECEIVED_SMALL)).isEqualTo(metrics.bytesReceivedCopied());
        }
    }

    private static void send(ConnectedPair pair, Object msg, int length) throws Exception {
        TestTimeouts.sync(pair.client.writeAndFlush(msg));
        pair.serverEvents.read(length);
    }

    // ---- credits

    @Test
    void waitingForPeerThatDoesNotReadIsCounted() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                server -> server.childOption(ChannelOption.AUTO_READ, false), client -> { })) {
            RdmaMetrics metrics = pair.client.metrics();
            long stalls = RdmaMetrics.total().creditStalls();
            long nanos = RdmaMetrics.total().creditStallNanos();
            assertThat(metrics.creditStalls()).isZero();
            int bytes = 2 * pair.server.config().getReceiveBufferSize();
            pair.client.writeAndFlush(pair.client.alloc().directBuffer(bytes).writeZero(bytes));
            TestTimeouts.awaitTrue(() -> metrics.stalledConnections() == 1);
            assertThat(RdmaMetrics.total().stalledConnections()).isPositive();
            // The time that lasts is among it.
            long before = metrics.creditStallNanos();
            TestTimeouts.awaitTrue(() -> metrics.creditStallNanos() > before);
            pair.server.config().setAutoRead(true);
            pair.serverEvents.read(bytes);
            TestTimeouts.awaitTrue(() -> metrics.stalledConnections() == 0);

            assertThat(metrics.creditStalls()).isPositive();
            assertThat(RdmaMetrics.total().creditStalls()).isGreaterThan(stalls);
            assertThat(RdmaMetrics.total().creditStallNanos()).isGreaterThan(nanos);
        }
    }

    @Test
    void closeEndsWaiting() throws Exception {
        ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                server -> server.childOption(ChannelOption.AUTO_READ, false),
                client -> client.option(ChannelOption.SO_LINGER, 0));
        try {
            int bytes = 2 * pair.server.config().getReceiveBufferSize();
            pair.client.writeAndFlush(pair.client.alloc().directBuffer(bytes).writeZero(bytes));
            TestTimeouts.awaitTrue(() -> pair.client.metrics().stalledConnections() == 1);
        } finally {
            pair.close();
        }
        TestTimeouts.awaitTrue(() -> pair.client.metrics().stalledConnections() == 0);
        assertThat(pair.client.metrics().creditStallNanos()).isPositive();
    }

    // ---- loops

    @Test
    @SuppressWarnings("try")
    void loopsCountWhatTheyDo() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        try (AutoCloseable watch = RdmaLoopMetrics.watch(begun -> told.add('+' + begun.name()),
                ended -> told.add('-' + ended.name()))) {
            RdmaLoopMetrics loop;
            try (ConnectedPair pair = new ConnectedPair(group)) {
                String name = TestTimeouts.result(group.next().submit(() -> Thread.currentThread().getName()));
                loop = RdmaLoopMetrics.all().stream().filter(each -> each.name().equals(name)).findFirst().get();
                assertThat(told).contains('+' + name);
                send(pair, Unpooled.wrappedBuffer(new byte[16]), 16);
                assertThat(loop.connections()).isEqualTo(2);
                TestTimeouts.awaitTrue(() -> loop.completions() > 0);
                // On the loop, so that it is not in the middle of counting.
                TestTimeouts.sync(group.next().submit(() ->
                        assertThat(loop.fruitfulPolls()).isPositive().isLessThanOrEqualTo(loop.completions())));
                TestTimeouts.awaitTrue(() -> loop.sleeps() > 0 && loop.emptyPolls() > 0);
                // Also while it sleeps.
                long before = loop.sleptNanos();
                TestTimeouts.awaitTrue(() -> loop.sleptNanos() > before);
                assertThat(loop.completionWakeups()).isLessThanOrEqualTo(loop.sleeps());
                assertThat(loop.spinsInVain()).isLessThanOrEqualTo(loop.spins());
            } finally {
                TestTimeouts.shutdown(group);
            }
            assertThat(RdmaLoopMetrics.all()).doesNotContain(loop);
            assertThat(told).contains('-' + loop.name());
        }
    }

    // ---- devices

    @Test
    void devicesCountConnectionsAndMemory() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            RdmaDeviceMetrics device = device(pair);
            long connects = device.connects();
            long accepts = device.accepts();
            int connections = device.connections();
            long completions = device.completions();
            long registrations = device.registrations();
            long registered = device.registeredMemory();
            int regions = device.memoryRegions();
            try (ConnectedPair another = new ConnectedPair(LOOPS.group())) {
                send(another, Unpooled.wrappedBuffer(new byte[16]), 16);
                assertThat(device.connections()).isEqualTo(connections + 2);
                assertThat(device.connects()).isEqualTo(connects + 1);
                assertThat(device.accepts()).isEqualTo(accepts + 1);
                TestTimeouts.awaitTrue(() -> device.completions() > completions);
                assertThat(device.registrations()).isGreaterThanOrEqualTo(registrations + 2);
                assertThat(device.registeredMemory()).isGreaterThan(registered);
                assertThat(device.memoryRegions()).isGreaterThanOrEqualTo(regions + 2);
            }
            TestTimeouts.awaitTrue(() -> device.connections() == connections && device.memoryRegions() == regions &&
                    device.registeredMemory() == registered);
            assertThat(device.provider()).isIn("embedded", "ibverbs");
            assertThat(RdmaDeviceMetrics.all()).contains(device);
        }
    }

    @Test
    void connectionOfMessagesCountsToo() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            RdmaDeviceMetrics device = device(pair);
            int connections = device.connections();
            ChannelHandler handler = new ChannelInboundHandlerAdapter() {
                @Override
                public boolean isSharable() {
                    return true;
                }
            };
            Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                    .channel(RdmaServerMessageChannel.class).childHandler(handler).bind(TestAddress.anyPort()))
                    .channel();
            Channel client = TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                    .channel(RdmaMessageChannel.class).handler(handler).connect(listener.localAddress())).channel();
            TestTimeouts.awaitTrue(() -> device.connections() == connections + 2);
            TestTimeouts.sync(client.close());
            TestTimeouts.awaitTrue(() -> device.connections() == connections);
            TestTimeouts.sync(listener.close());
        }
    }

    @Test
    void resetIsCountedAsLossWithStatusesOfFlushedRequests() throws Exception {
        ConnectedPair pair = new ConnectedPair(LOOPS.group(), server -> { },
                client -> client.option(ChannelOption.SO_LINGER, 0));
        RdmaDeviceMetrics device = device(pair);
        long losses = device.losses();
        long flushed = device.failures(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        pair.client.close();
        TestTimeouts.sync(pair.server.closeFuture());
        pair.close();
        TestTimeouts.awaitTrue(() -> device.losses() > losses);
        assertThat(device.failures(WorkCompletionStatus.WORK_REQUEST_FLUSHED)).isGreaterThan(flushed);
    }

    @Test
    void orderlyCloseIsNoLoss() throws Exception {
        ConnectedPair pair = new ConnectedPair(LOOPS.group());
        RdmaDeviceMetrics device = device(pair);
        long losses = device.losses();
        int connections = device.connections();
        pair.close();
        TestTimeouts.awaitTrue(() -> device.connections() == connections - 2);
        assertThat(device.losses()).isEqualTo(losses);
    }

    private static RdmaDeviceMetrics device(ConnectedPair pair) throws Exception {
        String name = TestTimeouts.result(pair.client.info()).deviceName();
        return RdmaDeviceMetrics.all().stream().filter(device -> device.name().equals(name)).findFirst().get();
    }

    @Test
    void connectsAreCountedByProviderAndWhy() throws Exception {
        RdmaConnectMetrics metrics = RdmaConnectMetrics.total();
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            RdmaProviderChoice choice = pair.client.providerChoice();
            assertThat(choice.provider()).isEqualTo(TestTimeouts.result(pair.client.info()).provider());
            assertThat(choice.reason()).isEqualTo(VerbsApi.usable().size() == 1 ? RdmaProviderChoice.Reason.ONLY :
                    choice.provider() == VerbsProvider.EMBEDDED ? RdmaProviderChoice.Reason.NEAREST :
                    RdmaProviderChoice.Reason.OPTION);
            assertThat(pair.server.providerChoice().reason()).isEqualTo(RdmaProviderChoice.Reason.ACCEPTED);
            assertThat(pair.server.providerChoice().provider()).isEqualTo(choice.provider());
            long before = metrics.connects(choice.provider(), choice.reason());
            try (ConnectedPair another = new ConnectedPair(LOOPS.group())) {
                assertThat(another.client.providerChoice().reason()).isEqualTo(choice.reason());
                assertThat(metrics.connects(choice.provider(), choice.reason()) - before).isOne();
            }
        }
    }

    // ---- connections that are not made

    @Test
    void connectsThatFailAreCountedByReason() throws Exception {
        RdmaConnectMetrics metrics = RdmaConnectMetrics.total();
        InetSocketAddress nobody;
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            nobody = pair.listener.localAddress();
        }
        long refused = metrics.failures(RdmaConnectMetrics.Failure.REFUSED);
        connect(nobody);
        assertThat(metrics.failures(RdmaConnectMetrics.Failure.REFUSED)).isEqualTo(refused + 1);

        long local = metrics.failures(RdmaConnectMetrics.Failure.LOCAL);
        Throwable cause = TestTimeouts.await(new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).option(RdmaChannelOption.DEVICE, "none")
                .connect(nobody)).cause();
        assertThat(cause).isNotNull();
        assertThat(metrics.failures(RdmaConnectMetrics.Failure.LOCAL)).isEqualTo(local + 1);
    }

    @Test
    void rejectionsAreCountedAtBothEnds() throws Exception {
        RdmaConnectMetrics metrics = RdmaConnectMetrics.total();
        RdmaServerSocketChannel listener = (RdmaServerSocketChannel) TestTimeouts.sync(new ServerBootstrap()
                .group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter()).bind(TestAddress.anyPort())).channel();
        long protocol = metrics.rejections(RdmaConnectMetrics.Rejection.PROTOCOL);
        long rejected = metrics.failures(RdmaConnectMetrics.Failure.REJECTED);
        // The client does not speak the stream protocol.
        TestTimeouts.await(new Bootstrap().group(LOOPS.group()).channel(RdmaMessageChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress()));
        TestTimeouts.sync(listener.close());

        TestTimeouts.awaitTrue(() -> metrics.rejections(RdmaConnectMetrics.Rejection.PROTOCOL) == protocol + 1);
        assertThat(metrics.failures(RdmaConnectMetrics.Failure.REJECTED)).isEqualTo(rejected + 1);
    }

    private static void connect(InetSocketAddress address) throws InterruptedException {
        TestTimeouts.await(new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(address));
    }
}
