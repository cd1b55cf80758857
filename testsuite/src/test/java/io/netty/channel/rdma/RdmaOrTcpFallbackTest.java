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

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.Bootstrap;
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
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.bootstrap.Fallback;
import io.netty.channel.rdma.bootstrap.FallbackReason;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpConnectException;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpMetrics;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpPaths;
import io.netty.channel.rdma.bootstrap.TransportPath;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A client that prefers RDMA, where something is missing at the other end, or goes wrong.
 */
class RdmaOrTcpFallbackTest {
    private static final Duration MEMORY = Duration.ofSeconds(10);
    /** RDMA's, where it is not what the test is about. */
    private static final Duration LONG = Duration.ofSeconds(TestTimeouts.SECONDS);

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final MockTicker clock = Ticker.newMockTicker();
    private final RdmaOrTcpPaths paths = new RdmaOrTcpPaths(16, clock);

    @Test
    void serverOfTcpAloneIsReachedAndTheReasonToldEverywhere() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long connects = metrics.connects(TransportPath.TCP);
        long fallbacks = metrics.fallbacks(FallbackReason.REFUSED);
        try (EchoServer server = tcpServer(anyPort());
             LogRecorder log = new LogRecorder(RdmaOrTcpBootstrap.class.getName(), Level.DEBUG)) {
            Channel channel = connect(bootstrap(), server.address());
            assertThat(channel).isInstanceOf(EpollSocketChannel.class);
            assertFallback(channel, FallbackReason.REFUSED);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("Connection refused");
            assertThat(metrics.connects(TransportPath.TCP) - connects).isOne();
            assertThat(metrics.fallbacks(FallbackReason.REFUSED) - fallbacks).isOne();
            assertThat(log.messages(Level.DEBUG)).singleElement().asString().contains(server.address().toString(),
                    "over TCP in ", "REFUSED: Connection refused");
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void serverOfRdmaAloneIsReached() throws InterruptedException {
        try (EchoServer server = rdmaServer(anyPort())) {
            Channel channel = connect(bootstrap(), server.address());
            assertRdma(channel);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void nobodyListensSaysBothReasons() throws InterruptedException {
        long failures = RdmaOrTcpMetrics.total().failures();
        InetSocketAddress free = freePort();
        Throwable cause = TestTimeouts.await(bootstrap().connect(free)).cause();
        assertThat(cause).isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining(free.toString())
                .hasMessageContaining("over RDMA: REFUSED: Connection refused")
                .hasMessageContaining("over TCP: ").hasCauseInstanceOf(ConnectException.class);
        assertThat(cause.getSuppressed()).singleElement().satisfies(rdma -> assertThat(rdma.getCause())
                .isInstanceOf(ConnectionRejectedException.class));
        assertThat(((RdmaOrTcpConnectException) cause).rdma().reason()).isEqualTo(FallbackReason.REFUSED);
        assertThat(RdmaOrTcpMetrics.total().failures() - failures).isOne();
    }

    @Test
    void addressThatIsNobodysSaysBothReasonsInTime() throws InterruptedException {
        // RFC 5737: an address for documentation.
        Throwable cause = TestTimeouts.await(bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 400)
                .connect(new InetSocketAddress("192.0.2.1", 7))).cause();
        assertThat(cause).isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining("192.0.2.1");
        assertThat(((RdmaOrTcpConnectException) cause).rdma().reason())
                .isIn(FallbackReason.NO_ROUTE, FallbackReason.TIMEOUT);
    }

    @Test
    void addressThatNoRdmaDeviceReachesHasTcp() throws InterruptedException {
        assumeTrue(Verbs.provider() == VerbsProvider.IBVERBS,
                "needs kernel verbs: the embedded provider's device has all addresses");
        try (EchoServer server = tcpServer(new InetSocketAddress("127.0.0.1", 0))) {
            Channel channel = connect(bootstrap(), server.address());
            assertFallback(channel, FallbackReason.NO_ROUTE);
            close(channel);
        }
    }

    @Test
    void listenerThatNeverAnswersIsLeftInTimeAndRemembered() throws Exception {
        try (VerbsPeer silent = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(silent.localAddress())) {
            RdmaOrTcpBootstrap bootstrap = bootstrap().rdmaConnectTimeout(Duration.ofMillis(200));
            Channel first = connect(bootstrap, server.address());
            assertFallback(first, FallbackReason.TIMEOUT);
            assertThat(first.attr(RdmaOrTcp.FALLBACK).get().message()).contains("200 ms");
            Channel second = connect(bootstrap, server.address());
            assertFallback(second, FallbackReason.REMEMBERED);
            assertThat(second.attr(RdmaOrTcp.FALLBACK).get().message()).contains("TIMEOUT", "200 ms");
            close(first);
            close(second);
        }
    }

    @Test
    void rdmaLeavesHalfOfTheConnectTimeoutToTcp() throws Exception {
        try (VerbsPeer silent = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(silent.localAddress())) {
            int millis = 1000 * TestTimeouts.MULTIPLIER;
            Channel channel = connect(bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis),
                    server.address());
            assertFallback(channel, FallbackReason.TIMEOUT);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains(millis / 2 + " ms");
            close(channel);
        }
    }

    @Test
    void answerThatComesTooLateIsOfNoEffect() throws Exception {
        try (VerbsPeer late = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(late.localAddress())) {
            Channel channel = connect(bootstrap().rdmaConnectTimeout(Duration.ofMillis(200)), server.address());
            try {
                late.accept("too late".getBytes(StandardCharsets.US_ASCII));
            } catch (VerbsException e) {
                // The provider knows already that the request was withdrawn.
                assertThat(e).isNotNull();
            }
            assertFallback(channel, FallbackReason.TIMEOUT);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void cancellingEndsTheAttemptAndTriesNothingElse() throws Exception {
        try (VerbsPeer silent = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(silent.localAddress())) {
            Future<Channel> connecting = bootstrap().connect(server.address());
            silent.awaitRequest();
            assertThat(connecting.cancel(false)).isTrue();
            assertNextConnectionIs(server);
        }
    }

    @Test
    void cancelledBeforeItBeganDoesNothing() throws Exception {
        try (EchoServer server = tcpServer(anyPort())) {
            CountDownLatch go = new CountDownLatch(1);
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                group.execute(() -> awaitQuietly(go));
                Future<Channel> connecting = bootstrap().clone(group).connect(server.address());
                assertThat(connecting.cancel(false)).isTrue();
                go.countDown();
                assertNextConnectionIs(server);
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    @Test
    void serverThatComesBackWithRdmaIsNoticedAfterAWhile() throws InterruptedException {
        try (EchoServer tcp = tcpServer(anyPort())) {
            close(connect(bootstrap(), tcp.address()));
            try (EchoServer rdma = rdmaServer(tcp.address())) {
                clock.advance(MEMORY.toNanos() - 1, TimeUnit.NANOSECONDS);
                Channel remembered = connect(bootstrap(), rdma.address());
                assertFallback(remembered, FallbackReason.REMEMBERED);
                close(remembered);
                clock.advance(1, TimeUnit.NANOSECONDS);
                Channel expired = connect(bootstrap(), rdma.address());
                assertRdma(expired);
                close(expired);
            }
        }
    }

    @Test
    void memoryCanBeClearedOrLeftAlone() throws InterruptedException {
        try (EchoServer tcp = tcpServer(anyPort())) {
            close(connect(bootstrap().rememberFor(Duration.ZERO), tcp.address()));
            assertThat(paths.size()).isZero();
            close(connect(bootstrap(), tcp.address()));
            assertThat(paths.get(tcp.address()).reason()).isEqualTo(FallbackReason.REMEMBERED);
            Channel asksAgain = connect(bootstrap().rememberFor(Duration.ZERO), tcp.address());
            assertFallback(asksAgain, FallbackReason.REFUSED);
            close(asksAgain);
            try (EchoServer rdma = rdmaServer(tcp.address())) {
                paths.forget(tcp.address());
                Channel forgotten = connect(bootstrap(), rdma.address());
                assertRdma(forgotten);
                close(forgotten);
            }
        }
    }

    @Test
    void serverThatComesBackWithRdmaAloneIsReachedAtOnce() throws InterruptedException {
        InetSocketAddress address;
        try (EchoServer tcp = tcpServer(anyPort())) {
            address = tcp.address();
            close(connect(bootstrap(), address));
        }
        try (EchoServer rdma = rdmaServer(address)) {
            Channel channel = connect(bootstrap(), rdma.address());
            assertRdma(channel);
            assertThat(paths.size()).as("what was remembered is not true any more").isZero();
            close(channel);
        }
    }

    @Test
    void serverThatLosesRdmaIsReachedAtOnce() throws InterruptedException {
        try (EchoServer tcp = tcpServer(anyPort())) {
            try (EchoServer rdma = rdmaServer(tcp.address())) {
                Channel channel = connect(bootstrap(), rdma.address());
                assertRdma(channel);
                close(channel);
            }
            Channel channel = connect(bootstrap(), tcp.address());
            assertFallback(channel, FallbackReason.REFUSED);
            close(channel);
        }
    }

    @Test
    void rejectionWithAReasonFallsBackThisTimeOnly() throws Exception {
        try (VerbsPeer busy = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(busy.localAddress())) {
            Future<Channel> connecting = bootstrap().connect(server.address());
            busy.reject("come back later".getBytes(StandardCharsets.US_ASCII));
            Channel channel = TestTimeouts.sync(connecting).getNow();
            assertFallback(channel, FallbackReason.REJECTED);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("come back later");
            assertThat(paths.size()).isZero();
            close(channel);
        }
    }

    @Test
    void answerOfAnotherProtocolFallsBackThisTimeOnly() throws Exception {
        try (VerbsPeer other = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(other.localAddress())) {
            Future<Channel> connecting = bootstrap().connect(server.address());
            other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));
            Channel channel = TestTimeouts.sync(connecting).getNow();
            assertFallback(channel, FallbackReason.FAILED);
            assertThat(paths.size()).isZero();
            close(channel);
        }
    }

    @Test
    void mistakesDoNotFallBack() throws Exception {
        try (EchoServer tcp = tcpServer(anyPort()); EchoServer rdma = rdmaServer(tcp.address())) {
            long fallbacks = fallbacks();
            assertThat(TestTimeouts.await(bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 1)
                    .connect(rdma.address())).cause()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("SEND_QUEUE_DEPTH");
            // RFC 2606: never exists.
            assertThat(TestTimeouts.await(bootstrap().connect("no-such-host.invalid", 7)).cause())
                    .isInstanceOf(UnknownHostException.class);
            assertThat(TestTimeouts.await(bootstrap().handler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    throw new IllegalStateException("expected in this test");
                }
            }).connect(rdma.address())).cause()).isInstanceOf(ClosedChannelException.class);
            RdmaOrTcpBootstrap notSharable = bootstrap().handler(new ChannelInboundHandlerAdapter());
            Channel channel = connect(notSharable, rdma.address());
            assertThat(TestTimeouts.await(notSharable.connect(rdma.address())).cause())
                    .isInstanceOf(ChannelPipelineException.class);
            close(channel);
            assertThat(fallbacks()).isEqualTo(fallbacks);
            assertNextConnectionIs(tcp);
        }
    }

    private static long fallbacks() {
        return Stream.of(FallbackReason.values()).mapToLong(RdmaOrTcpMetrics.total()::fallbacks).sum();
    }

    @Test
    void loopsThatServeNoRdmaHaveTcp() throws InterruptedException {
        try (EchoServer tcp = tcpServer(anyPort()); EchoServer rdma = rdmaServer(tcp.address())) {
            for (IoHandlerFactory handler : new IoHandlerFactory[] {EpollIoHandler.newFactory(),
                    NioIoHandler.newFactory()}) {
                EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, handler);
                try {
                    Channel channel = connect(bootstrap().clone(group), rdma.address());
                    assertThat(channel).isInstanceOfAny(EpollSocketChannel.class, NioSocketChannel.class);
                    assertFallback(channel, FallbackReason.UNAVAILABLE);
                    assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("newEventLoopGroup");
                    close(channel);
                } finally {
                    TestTimeouts.shutdown(group);
                }
            }
        }
    }

    @Test
    void loopsThatEndFailTheConnect() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try (VerbsPeer silent = VerbsPeer.listen(anyPort()); EchoServer server = tcpServer(silent.localAddress())) {
            Future<Channel> connecting = bootstrap().clone(group).connect(server.address());
            silent.awaitRequest();
            TestTimeouts.shutdown(group);
            assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(TestTimeouts.await(bootstrap().clone(group).connect(server.address())).cause())
                    .isInstanceOf(RejectedExecutionException.class);
            assertNextConnectionIs(server);
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void localAddressThatIsNobodysFailsBoth() throws InterruptedException {
        try (EchoServer server = tcpServer(anyPort())) {
            // RFC 5737: an address for documentation, which is nobody's.
            assertThat(TestTimeouts.await(bootstrap().connect(server.address(), new InetSocketAddress("192.0.2.1", 0)))
                    .cause()).isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining("192.0.2.1");
        }
    }

    @Test
    void optionsOfOneChannelClassAreGivenToThatOne() throws InterruptedException {
        RdmaOrTcpBootstrap bootstrap = bootstrap().option(RdmaChannelOption.MAX_INLINE, 100)
                .option(EpollChannelOption.TCP_KEEPIDLE, 77).option(ChannelOption.SO_KEEPALIVE, true);
        try (EchoServer tcp = tcpServer(anyPort());
             LogRecorder log = new LogRecorder()) {
            Channel overTcp = connect(bootstrap.clone().rememberFor(Duration.ZERO), tcp.address());
            assertThat(overTcp.config().getOption(EpollChannelOption.TCP_KEEPIDLE)).isEqualTo(77);
            assertThat(overTcp.config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
            close(overTcp);
            try (EchoServer rdma = rdmaServer(tcp.address())) {
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
        assertThatThrownBy(() -> bootstrap().connect(LocalAddress.ANY)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("InetSocketAddress");
        assertThatThrownBy(() -> empty.rdmaConnectTimeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("rdmaConnectTimeout: PT0S");
        assertThatThrownBy(() -> empty.rememberFor(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("rememberFor");
        EventLoopGroup local = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        assertThatThrownBy(() -> bootstrap().clone(local).connect(address))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("newEventLoopGroup");
        local.shutdownGracefully();
    }

    // ---- ends

    private RdmaOrTcpBootstrap bootstrap() {
        return new RdmaOrTcpBootstrap().group(LOOPS.group()).paths(paths).rememberFor(MEMORY).rdmaConnectTimeout(LONG)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        // Nothing to add.
                    }
                });
    }

    private static Channel connect(RdmaOrTcpBootstrap bootstrap, InetSocketAddress address)
            throws InterruptedException {
        return TestTimeouts.sync(bootstrap.connect(address)).getNow();
    }

    private static void close(Channel channel) throws InterruptedException {
        TestTimeouts.sync(channel.close());
    }

    private static void assertRdma(Channel channel) {
        assertThat(channel).isInstanceOf(RdmaSocketChannel.class);
        assertThat(channel.attr(RdmaOrTcp.PATH).get()).isEqualTo(TransportPath.RDMA);
    }

    private static void assertFallback(Channel channel, FallbackReason reason) {
        assertThat(channel.attr(RdmaOrTcp.PATH).get()).isEqualTo(TransportPath.TCP);
        assertThat(channel.attr(RdmaOrTcp.FALLBACK).get()).extracting(Fallback::reason).isEqualTo(reason);
    }

    /** Nobody has connected to the server so far. */
    private static void assertNextConnectionIs(EchoServer server) throws InterruptedException {
        Channel channel = TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channel(EpollSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(server.address())).channel();
        assertThat(server.nextConnection().channel().remoteAddress()).isEqualTo(channel.localAddress());
        close(channel);
    }

    private static InetSocketAddress anyPort() {
        return (InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress();
    }

    /** A port where nobody listened, for either path, a moment ago. */
    private static InetSocketAddress freePort() throws InterruptedException {
        try (EchoServer tcp = tcpServer(anyPort()); EchoServer rdma = rdmaServer(tcp.address())) {
            return rdma.address();
        }
    }

    private static EchoServer tcpServer(InetSocketAddress address) throws InterruptedException {
        return new EchoServer(LOOPS.group(), EpollServerSocketChannel.class, address);
    }

    private static EchoServer rdmaServer(InetSocketAddress address) throws InterruptedException {
        return new EchoServer(LOOPS.group(), RdmaServerSocketChannel.class, address);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
