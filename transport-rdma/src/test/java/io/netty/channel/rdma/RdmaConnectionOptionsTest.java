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
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.connection.ConnectionInternals;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.channel.rdma.verbs.QueuePairState;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.ConnectException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Effects of options when a connection is made.
 */
class RdmaConnectionOptionsTest {
    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(2);
    /** Before the test has any: the loops of those before it have ended. */
    private final int queuePairs = VerbsResource.QUEUE_PAIR.live();

    @Test
    void optionsOfBothEndsReachTheQueuePairs() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group(), server -> server
                .childOption(RdmaChannelOption.RNR_RETRY_COUNT, 6).childOption(RdmaChannelOption.ACK_TIMEOUT, 15)
                .childOption(RdmaChannelOption.MIN_RNR_TIMER, 13).childOption(RdmaChannelOption.RETRY_COUNT, 5),
                client -> client
                .option(RdmaChannelOption.RETRY_COUNT, 3).option(RdmaChannelOption.RNR_RETRY_COUNT, 2)
                .option(RdmaChannelOption.ACK_TIMEOUT, 14).option(RdmaChannelOption.MIN_RNR_TIMER, 12)
                .option(RdmaChannelOption.RESOLVE_TIMEOUT_MILLIS, 20_000).option(ChannelOption.IP_TOS, 96))) {
            QueuePairInfo client = info(pair.client);
            assertThat(client.ackTimeout()).isEqualTo(14);
            assertThat(client.minRnrTimer()).isEqualTo(12);
            assertThat(client.retryCount()).isEqualTo(3);
            assertThat(client.rnrRetryCount()).as("the server says how often the client tries again").isEqualTo(6);
            QueuePairInfo server = info(pair.server);
            assertThat(server.ackTimeout()).isEqualTo(15);
            assertThat(server.minRnrTimer()).isEqualTo(13);
            assertThat(server.retryCount()).as("the client's request decides for both").isEqualTo(3);
            assertThat(server.rnrRetryCount()).isEqualTo(2);
            for (QueuePairInfo info : new QueuePairInfo[] { client, server }) {
                assertThat(info.trafficClass()).isEqualTo(info.gidIndex() < 0 ? -1 : 96);
                assertThat(info.state()).isEqualTo(QueuePairState.RTS);
                assertThat(info.pathMtu()).isIn(256, 512, 1024, 2048, 4096);
                assertThat(info.port()).isPositive();
            }
            assertThat(client.peerNumber()).isEqualTo(server.number());
            assertThat(server.peerNumber()).isEqualTo(client.number());
            assertThat(client.toString()).contains(client.deviceName(), "path MTU " + client.pathMtu(),
                    "GID index " + client.gidIndex(), "ACK timeout 14");
        }
    }

    @Test
    void withoutOptionsTheConnectionManagerDecides() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group())) {
            QueuePairInfo info = info(pair.client);
            assertThat(info.retryCount()).isEqualTo(6);
            assertThat(info.rnrRetryCount()).isEqualTo(7);
            assertThat(info.minRnrTimer()).isZero();
            assertThat(info.ackTimeout()).isPositive();
            assertThat(pair.client.eventLoop().submit(() -> pair.client.info().getNow()).get().number())
                    .as("done at once on the event loop").isEqualTo(info.number());
        }
    }

    @Test
    void withoutConnectionThereIsNothingToTell() throws Exception {
        RdmaSocketChannel channel = new RdmaSocketChannel();
        loops.group().register(channel).sync();
        Future<QueuePairInfo> before = channel.info().await();
        assertThat(before.cause()).isInstanceOf(NotYetConnectedException.class);
        channel.close().sync();
        assertThat(channel.info().await().cause()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void moreInlineThanTheDeviceGrantsIsAnErrorWithWhatItGrants() throws Exception {
        Throwable cause = failureOf(new Bootstrap().option(RdmaChannelOption.MAX_INLINE, 1024));
        assertThat(cause).isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("MAX_INLINE: 1024 \\(expected: at most [0-9]+ on RDMA device \\w+, " +
                        "found by trying\\)");
        int most = Integer.parseInt(cause.getMessage().replaceAll(".*at most ([0-9]+) .*", "$1"));
        assertThat(most).isBetween(0, 1023);
        try (ConnectedPair pair = new ConnectedPair(loops.group(), server -> { },
                client -> client.option(RdmaChannelOption.MAX_INLINE, most))) {
            assertThat(info(pair.client).maxInlineData()).isGreaterThanOrEqualTo(most);
        }
        assertThat(failureOf(new Bootstrap().option(RdmaChannelOption.MAX_INLINE, most + 1)))
                .hasMessageContaining("at most " + most + " on");
    }

    @Test
    void queuesDeeperThanTheDeviceAllowsAreAnErrorWithItsLimit() throws Exception {
        String device;
        DeviceAttributes limits;
        try (ConnectedPair pair = new ConnectedPair(loops.group())) {
            device = info(pair.client).deviceName();
            limits = ConnectionInternals.attributes(pair.client.connection());
        }
        Throwable cause = failureOf(new Bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 32768)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 32768));
        if (limits.maxWorkRequests() < 32768) {
            assertThat(cause).isInstanceOf(IllegalArgumentException.class).hasMessage("SEND_QUEUE_DEPTH: 32768 " +
                    "(expected: at most " + limits.maxWorkRequests() + " on RDMA device " + device +
                    ", its max_qp_wr)");
        } else {
            assumeTrue(limits.maxCompletions() < 65536, "the device has no limit that an option could exceed");
            assertThat(cause).isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("SEND_QUEUE_DEPTH + RECEIVE_QUEUE_DEPTH: 32768 + 32768 (expected: at most " +
                            limits.maxCompletions() + " together on RDMA device " + device + ", its max_cqe)");
        }
    }

    @Test
    void serverThatAsksForTooMuchTellsItsClients() throws Exception {
        assertThatThrownBy(() -> new ConnectedPair(loops.group(),
                server -> server.childOption(RdmaChannelOption.MAX_INLINE, 1024), client -> { }))
                .isInstanceOf(ConnectException.class).hasMessageContaining("the server can't accept")
                .hasMessageContaining("MAX_INLINE: 1024 (expected: at most ");
        loops.shutdown();
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs);
    }

    /** Failure of a connect with these options to a listener that accepts anything. */
    private Throwable failureOf(Bootstrap bootstrap) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(loops.group())) {
            // Queue pairs of earlier connections may exist for a while after their channels are closed.
            TestTimeouts.awaitTrue(() -> VerbsResource.QUEUE_PAIR.live() == queuePairs + 2);
            ChannelFuture future = bootstrap.group(loops.group()).channel(RdmaSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).connect(pair.listener.localAddress());
            TestTimeouts.await(future);
            TestTimeouts.await(future.channel().closeFuture());
            assertThat(VerbsResource.QUEUE_PAIR.live()).as("nothing is left of it").isEqualTo(queuePairs + 2);
            return future.cause();
        }
    }

    private static QueuePairInfo info(Channel channel) throws Exception {
        return ((RdmaSocketChannel) channel).info().get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void connectTimeoutCountsThePeersTimeAndNotThatOfPreparingThisEnd() throws Exception {
        LoopClock clock = new LoopClock(1);
        Channel listener = TestTimeouts.sync(new ServerBootstrap().group(loops.group())
                .channel(RdmaServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter())
                .bind(TestAddress.anyPort())).channel();
        try {
            int seconds = 10 * (int) TestTimeouts.SECONDS;
            clock.advanceOnce(() -> VerbsResource.QUEUE_PAIR.live() > queuePairs, seconds + 1, TimeUnit.SECONDS);
            Channel client = TestTimeouts.sync(new Bootstrap().group(clock.group()).channel(RdmaSocketChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, seconds * 1000)
                    .handler(new ChannelInboundHandlerAdapter()).connect(listener.localAddress())).channel();
            assertThat(clock.isAhead()).as("the time has passed while it connected").isTrue();
            TestTimeouts.sync(client.close());
        } finally {
            TestTimeouts.sync(listener.close());
            TestTimeouts.shutdown(clock.group());
        }
    }
}
