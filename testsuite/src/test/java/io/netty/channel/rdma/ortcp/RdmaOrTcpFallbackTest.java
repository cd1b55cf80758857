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
package io.netty.channel.rdma.ortcp;

import ch.qos.logback.classic.Level;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipelineException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.LoopClock;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpConnectException;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpFailures;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpFallbackReason;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpMetrics;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpTransport;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.assertFallback;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.assertRdma;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.close;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.connect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A client that prefers RDMA, where something is missing at the other end, or goes wrong.
 */
@Tag("quick")
class RdmaOrTcpFallbackTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());

    @Test
    void serverOfTcpAloneIsReachedAndTheReasonToldEverywhere() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long connects = metrics.connects(RdmaOrTcpTransport.TCP);
        long fallbacks = metrics.fallbacks(RdmaOrTcpFallbackReason.REFUSED);
        try (EchoServer server = ends.tcpServer(anyPort());
             LogRecorder log = new LogRecorder(RdmaOrTcpBootstrap.class.getName(), Level.DEBUG)) {
            Channel channel = connect(ends.bootstrap(), server.address());
            assertThat(channel).isInstanceOf(EpollSocketChannel.class);
            assertFallback(channel, RdmaOrTcpFallbackReason.REFUSED);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("Connection refused");
            assertThat(metrics.connects(RdmaOrTcpTransport.TCP) - connects).isOne();
            assertThat(metrics.fallbacks(RdmaOrTcpFallbackReason.REFUSED) - fallbacks).isOne();
            assertThat(log.messages(Level.DEBUG)).singleElement().asString().contains(server.address().toString(),
                    "over TCP in ", "REFUSED: Connection refused");
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void serverOfRdmaAloneIsReached() throws InterruptedException {
        try (EchoServer server = ends.rdmaServer(anyPort())) {
            Channel channel = connect(ends.bootstrap(), server.address());
            assertRdma(channel);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void nobodyListensSaysBothReasons() throws InterruptedException {
        long failures = RdmaOrTcpMetrics.total().failures();
        InetSocketAddress free = freePort();
        Throwable cause = TestTimeouts.await(ends.bootstrap().connect(free)).cause();
        assertThat(cause).isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining(free.toString())
                .hasMessageContaining("over RDMA: REFUSED: Connection refused")
                .hasMessageContaining("over TCP: ").hasCauseInstanceOf(ConnectException.class);
        assertThat(cause.getSuppressed()).singleElement().satisfies(rdma -> assertThat(rdma.getCause())
                .isInstanceOf(ConnectionRejectedException.class));
        assertThat(((RdmaOrTcpConnectException) cause).rdma().reason()).isEqualTo(RdmaOrTcpFallbackReason.REFUSED);
        assertThat(RdmaOrTcpMetrics.total().failures() - failures).isOne();
    }

    @Test
    void addressThatIsNobodysSaysBothReasonsInTime() throws InterruptedException {
        // RFC 5737: an address for documentation.
        Throwable cause = TestTimeouts.await(ends.bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 400)
                .connect(new InetSocketAddress("192.0.2.1", 7))).cause();
        assertThat(cause).isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining("192.0.2.1");
        assertThat(((RdmaOrTcpConnectException) cause).rdma().reason())
                .isIn(RdmaOrTcpFallbackReason.NO_ROUTE, RdmaOrTcpFallbackReason.TIMEOUT);
    }

    @Test
    void addressThatNoRdmaDeviceReachesHasTcp() throws InterruptedException {
        assumeTrue(Verbs.preferred().provider() == VerbsProvider.IBVERBS,
                "needs kernel verbs: the embedded provider's device has all addresses");
        try (EchoServer server = ends.tcpServer(new InetSocketAddress("127.0.0.1", 0))) {
            Channel channel = connect(ends.bootstrap(), server.address());
            assertFallback(channel, RdmaOrTcpFallbackReason.NO_ROUTE);
            close(channel);
        }
        try (EchoServer server = ends.tcpServer(anyPort())) {
            Channel channel = TestTimeouts.sync(ends.bootstrap().connect(server.address(),
                    new InetSocketAddress("127.0.0.1", 0))).getNow();
            assertFallback(channel, RdmaOrTcpFallbackReason.NO_ROUTE);
            close(channel);
        }
    }

    @Test
    void manyFallBackAtOnce() throws InterruptedException {
        try (EchoServer server = ends.tcpServer(anyPort())) {
            List<Future<Channel>> connecting = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                connecting.add(ends.bootstrap().rememberFor(Duration.ZERO).connect(server.address()));
            }
            List<Future<Void>> exchanges = new ArrayList<>();
            for (Future<Channel> future : connecting) {
                Channel channel = TestTimeouts.sync(future).getNow();
                assertFallback(channel, RdmaOrTcpFallbackReason.REFUSED);
                exchanges.add(EchoClient.exchange(channel));
            }
            for (int i = 0; i < exchanges.size(); i++) {
                TestTimeouts.sync(exchanges.get(i));
                close(connecting.get(i).getNow());
            }
        }
    }

    @Test
    void rdmaLeavesHalfOfTheConnectTimeoutToTcp() throws Exception {
        LoopClock clock = new LoopClock(1);
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            int seconds = (int) TestTimeouts.SECONDS;
            Future<Channel> connecting = ends.bootstrap().clone(clock.group())
                    .rdmaConnectTimeout(Duration.ofSeconds(seconds))
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, seconds * 1000).connect(silent.localAddress());
            silent.awaitRequest();
            clock.advance(seconds * 500, TimeUnit.MILLISECONDS);
            Channel channel = TestTimeouts.sync(connecting).getNow();
            assertFallback(channel, RdmaOrTcpFallbackReason.TIMEOUT);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains(seconds * 500 + " ms");
            assertThat(channel.config().getConnectTimeoutMillis()).isGreaterThan(0)
                    .isLessThanOrEqualTo(seconds * 500);
            close(channel);
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    @Test
    void answerThatComesTooLateIsOfNoEffect() throws Exception {
        LoopClock clock = new LoopClock(1);
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer late = VerbsPeer.listen(server.address())) {
            Future<Channel> connecting = ends.bootstrap().clone(clock.group()).connect(server.address());
            late.awaitRequest();
            clock.advance(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            Channel channel = TestTimeouts.sync(connecting).getNow();
            try {
                late.accept("too late".getBytes(StandardCharsets.US_ASCII));
            } catch (VerbsException ignore) {
                // The provider knows already that the request was withdrawn.
            }
            assertFallback(channel, RdmaOrTcpFallbackReason.TIMEOUT);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    @Test
    void rejectionWithAReasonFallsBackThisTimeOnly() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer busy = VerbsPeer.listen(server.address())) {
            RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
            Future<Channel> connecting = ends.bootstrap().failures(failures).connect(server.address());
            busy.reject("come back later".getBytes(StandardCharsets.US_ASCII));
            Channel channel = TestTimeouts.sync(connecting).getNow();
            assertFallback(channel, RdmaOrTcpFallbackReason.REJECTED);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("come back later");
            assertThat(failures.size()).isZero();
            close(channel);
        }
    }

    @Test
    void answerOfAnotherProtocolFallsBackThisTimeOnly() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer other = VerbsPeer.listen(server.address())) {
            RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
            Future<Channel> connecting = ends.bootstrap().failures(failures).connect(server.address());
            other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));
            Channel channel = TestTimeouts.sync(connecting).getNow();
            assertFallback(channel, RdmaOrTcpFallbackReason.FAILED);
            assertThat(failures.size()).isZero();
            close(channel);
        }
    }

    @Test
    void mistakesDoNotFallBack() throws Exception {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            long fallbacks = fallbacks();
            assertThat(TestTimeouts.await(ends.bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 1)
                    .connect(rdma.address())).cause()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("SEND_QUEUE_DEPTH");
            // RFC 2606: never exists.
            assertThat(TestTimeouts.await(ends.bootstrap().connect("no-such-host.invalid", 7)).cause())
                    .isInstanceOf(UnknownHostException.class);
            assertThat(TestTimeouts.await(ends.bootstrap().handler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    throw new IllegalStateException("expected in this test");
                }
            }).connect(rdma.address())).cause()).isInstanceOf(ClosedChannelException.class);
            RdmaOrTcpBootstrap notSharable = ends.bootstrap().handler(new ChannelInboundHandlerAdapter());
            Channel channel = connect(notSharable, rdma.address());
            assertThat(TestTimeouts.await(notSharable.connect(rdma.address())).cause())
                    .isInstanceOf(ChannelPipelineException.class);
            close(channel);
            assertThat(fallbacks()).isEqualTo(fallbacks);
            ends.assertUntouched(tcp);
        }
    }

    private static long fallbacks() {
        return Stream.of(RdmaOrTcpFallbackReason.values()).mapToLong(RdmaOrTcpMetrics.total()::fallbacks).sum();
    }

    @Test
    void loopsThatServeNoRdmaHaveTcp() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            for (IoHandlerFactory handler : new IoHandlerFactory[] {EpollIoHandler.newFactory(),
                    NioIoHandler.newFactory()}) {
                EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, handler);
                try {
                    Channel channel = connect(ends.bootstrap().clone(group), rdma.address());
                    assertThat(channel).isInstanceOfAny(EpollSocketChannel.class, NioSocketChannel.class);
                    assertFallback(channel, RdmaOrTcpFallbackReason.UNAVAILABLE);
                    assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("newEventLoopGroup");
                    close(channel);
                } finally {
                    TestTimeouts.shutdown(group);
                }
            }
        }
    }

    @Test
    void localAddressThatIsNobodysFailsBoth() throws InterruptedException {
        try (EchoServer server = ends.tcpServer(anyPort())) {
            // RFC 5737: an address for documentation, which is nobody's.
            InetSocketAddress local = new InetSocketAddress("192.0.2.1", 0);
            assertThat(TestTimeouts.await(ends.bootstrap().connect(server.address(), local)).cause())
                    .isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining("192.0.2.1");
        }
    }

    @Test
    void optionsOfOneChannelClassAreGivenToThatOne() throws InterruptedException {
        RdmaOrTcpBootstrap bootstrap = ends.bootstrap().option(RdmaChannelOption.MAX_INLINE, 100)
                .option(EpollChannelOption.TCP_KEEPIDLE, 77).option(ChannelOption.SO_KEEPALIVE, true);
        try (EchoServer tcp = ends.tcpServer(anyPort());
             LogRecorder log = new LogRecorder()) {
            Channel overTcp = connect(bootstrap.clone().rememberFor(Duration.ZERO), tcp.address());
            assertThat(overTcp.config().getOption(EpollChannelOption.TCP_KEEPIDLE)).isEqualTo(77);
            assertThat(overTcp.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
            close(overTcp);
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                Channel overRdma = connect(bootstrap, rdma.address());
                assertRdma(overRdma);
                assertThat(overRdma.config().getOption(RdmaChannelOption.MAX_INLINE)).isEqualTo(100);
                assertThat(overRdma.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
                assertThat(log.messages(Level.WARN)).isEmpty();
                close(overRdma);

                close(connect(bootstrap.option(ChannelOption.valueOf("RdmaOrTcpFallbackTest"), 1), rdma.address()));
                assertThat(log.messages(Level.WARN)).singleElement().asString()
                        .contains("Unknown channel option", "RdmaOrTcpFallbackTest");
            }
        }
    }

    @Test
    void badArgumentsAreToldAtOnce() {
        RdmaOrTcpBootstrap empty = new RdmaOrTcpBootstrap();
        InetSocketAddress address = anyPort();
        assertThatThrownBy(() -> empty.connect(address)).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("group");
        assertThatThrownBy(() -> empty.clone(LOOPS.group()).connect(address))
                .isInstanceOf(IllegalStateException.class).hasMessageContaining("handler");
        assertThatThrownBy(() -> ends.bootstrap().connect(LocalAddress.ANY))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("InetSocketAddress");
        assertThatThrownBy(() -> empty.rdmaConnectTimeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rdmaConnectTimeout: PT0S");
        assertThatThrownBy(() -> empty.rememberFor(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("rememberFor");
        EventLoopGroup local = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        assertThatThrownBy(() -> ends.bootstrap().clone(local).connect(address))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("newEventLoopGroup");
        local.shutdownGracefully();
    }

    /** A port where nobody listened, for either transport, a moment ago. */
    private InetSocketAddress freePort() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            return rdma.address();
        }
    }
}
