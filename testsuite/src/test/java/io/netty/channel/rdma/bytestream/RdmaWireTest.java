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
package io.netty.channel.rdma.bytestream;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A wire that loses, delays, repeats and damages packets, or is cut: streams survive what the device can repair, and
 * what it can't is reported in the time that the options say, with all native objects given back. Both ends are in this
 * process. Needs the soft-RoCE guest.
 */
@EnabledIfEnvironmentVariable(named = Wire.GUEST, matches = "1")
class RdmaWireTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final WireEnd client = new WireEnd();
    private final WireEnd server = new WireEnd();
    private Channel listener;

    @AfterEach
    void everythingIsGivenBack() throws Exception {
        Wire.heal();
        for (Channel channel : new Channel[] { client.channel(), server.channel(), listener }) {
            if (channel != null) {
                TestTimeouts.await(channel.close());
            }
        }
        awaitLive(0, 0);
    }

    // ---- what the device repairs

    @ParameterizedTest
    @CsvSource({ "loss 1%, 300000", "delay 5ms, 300000", "duplicate 5%, 2000000", "corrupt 1%, 300000" })
    void streamsSurvive(String faults, int bytes) throws Exception {
        connect();
        Wire.disturb(faults);
        long sent = client.send(bytes, 1);
        long sentBack = server.send(bytes, 2);
        assertThat(server.awaitEnd()).isEqualTo(sent);
        assertThat(client.awaitEnd()).isEqualTo(sentBack);
    }

    @Test
    void connectionsAreMadeAndClosedOnAWireThatLosesPackets() throws Exception {
        Wire.disturb("loss 10%");
        connect();
        long sent = client.send(1000, 3);
        assertThat(server.awaitEnd()).isEqualTo(sent);
        TestTimeouts.await(server.channel().close());
        TestTimeouts.await(client.channel().close());
        awaitLive(0, 1);
    }

    @Test
    void streamGoesOnWhenTheWireHeals() throws Exception {
        connect();
        client.flood();
        server.awaitBytes(1);
        Wire.cut();
        pause();
        Wire.heal();
        server.forgetBytes();
        server.awaitBytes(1);
        assertThat(client.isQuiet()).isTrue();
        // All of this was sent over the cut wire first.
        Wire.cut();
        long sent = server.send(100_000, 4);
        pause();
        Wire.heal();
        assertThat(client.awaitEnd()).isEqualTo(sent);
    }

    @Test
    void idleConnectionOutlivesALinkThatGoesDown() throws Exception {
        connect();
        Wire.down();
        pause();
        Wire.heal();
        long sent = client.send(1000, 5);
        assertThat(server.awaitEnd()).isEqualTo(sent);
    }

    @Test
    void idleConnectionWithKeepAliveOutlivesAShortCut() throws Exception {
        connect();
        keepAlive(client.channel(), 100, 60_000);
        Wire.cut();
        pause();
        Wire.heal();
        long sent = client.send(1000, 6);
        assertThat(server.awaitEnd()).isEqualTo(sent);
        assertThat(client.isQuiet()).isTrue();
    }

    // ---- what it does not

    @Test
    void cutWireIsReportedByTheDeviceWhileSomethingIsSent() throws Exception {
        connect();
        client.flood();
        server.awaitBytes(1);
        Wire.cut();
        client.awaitFailedWrites("does not answer");
    }

    @Test
    void cutWireIsReportedWithinTheUserTimeout() throws Exception {
        connect();
        client.channel().config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 300);
        client.flood();
        server.awaitBytes(1);
        Wire.cut();
        client.awaitFailedWrites("Connection timed out");
    }

    @Test
    void cutWireIsReportedByKeepAliveAtBothEndsOfAnIdleConnection() throws Exception {
        connect();
        keepAlive(client.channel(), 100, 200);
        keepAlive(server.channel(), 100, 200);
        Wire.cut();
        client.awaitFailure("Connection timed out");
        server.awaitFailure("Connection timed out");
        Wire.heal();
        awaitLive(0, 1);
    }

    @Test
    void linkThatGoesDownIsReportedByKeepAlive() throws Exception {
        connect();
        keepAlive(client.channel(), 100, 200);
        Wire.down();
        client.awaitFailure("Connection timed out", "Connection reset");
    }

    @Test
    void connectOverACutWireTimesOut() throws Exception {
        listen();
        Wire.cut();
        ChannelFuture connect = bootstrap(LOOPS.group()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 500)
                .connect(listener.localAddress());
        TestTimeouts.await(connect);
        assertThat(connect.cause()).isInstanceOf(ConnectTimeoutException.class).hasMessageContaining("500 ms")
                .hasMessageContaining(listener.localAddress().toString());
        // All of it is given back while the wire is still cut.
        awaitLive(0, 1);
    }

    @Test
    void incomingConnectionWhoseAnswerIsLostIsGivenUp() throws Exception {
        listen(1000);
        Wire.cutBack();
        ChannelFuture connect = bootstrap(LOOPS.group()).option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
                .connect(listener.localAddress());
        server.awaitUnregistered();
        connect.cancel(true);
        awaitLive(0, 1);
        assertThat(server.channel()).as("never active").isNull();
    }

    @Test
    void closeOverACutWireIsBounded() throws Exception {
        connect();
        client.flood();
        server.awaitBytes(1);
        Wire.cut();
        TestTimeouts.await(client.channel().close());
        // Nothing has ended the server's channel yet.
        TestTimeouts.await(server.channel().close());
        awaitLive(0, 1);
    }

    @Test
    void resetOverACutWireIsBounded() throws Exception {
        connect();
        Wire.cut();
        client.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        server.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        TestTimeouts.await(client.channel().close());
        TestTimeouts.await(server.channel().close());
        awaitLive(0, 1);
    }

    @Test
    void loopEndsWhileTheWireIsCut() throws Exception {
        EventLoopGroup other = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        listen();
        connect(other);
        client.flood();
        Wire.cut();
        TestTimeouts.await(other.shutdownGracefully(0, TestTimeouts.SECONDS, TimeUnit.SECONDS));
        assertThat(client.channel().isOpen()).isFalse();
    }

    private void listen() throws InterruptedException {
        listen(30_000);
    }

    private void listen(int connectMillis) throws InterruptedException {
        listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectMillis)
                .childHandler(server).bind(Wire.farEnd())).channel();
    }

    private Bootstrap bootstrap(EventLoopGroup clientGroup) {
        return new Bootstrap().group(clientGroup).channel(RdmaSocketChannel.class)
                .option(ChannelOption.ALLOW_HALF_CLOSURE, true).handler(client);
    }

    private void connect() throws InterruptedException {
        listen();
        connect(LOOPS.group());
    }

    private void connect(EventLoopGroup clientGroup) throws InterruptedException {
        TestTimeouts.sync(bootstrap(clientGroup).connect(listener.localAddress()));
        client.awaitBytes(0);
        server.awaitBytes(0);
    }

    private static void keepAlive(Channel channel, int idleMillis, int answerMillis) {
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, idleMillis);
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS, answerMillis);
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_COUNT, 1);
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
    }

    /** Long enough that packets are lost and sent again, short enough that the device does not give up. */
    private static void pause() throws InterruptedException {
        TestTimeouts.await(LOOPS.group().next().schedule(() -> { }, 500, TimeUnit.MILLISECONDS));
    }

    private static void awaitLive(int queuePairs, int ids) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
        while (System.nanoTime() - deadline < 0 && (VerbsResource.QUEUE_PAIR.live() != queuePairs ||
                VerbsResource.CONNECTION_ID.live() != ids)) {
            TestTimeouts.await(LOOPS.group().next().schedule(() -> { }, 20, TimeUnit.MILLISECONDS));
        }
        assertThat(VerbsResource.QUEUE_PAIR.live()).isEqualTo(queuePairs);
        assertThat(VerbsResource.CONNECTION_ID.live()).isEqualTo(ids);
    }
}
