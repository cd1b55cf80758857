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
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.LoopClock;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Tag;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.assertFallback;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.close;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.connect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A channel that decides when it connects: what makes it take which transport, and what handlers see of that.
 */
@Tag("quick")
class RdmaOrTcpSocketChannelTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());

    // ---- which transport

    @Test
    void rdmaIsTakenWhereItIs() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long connects = metrics.connects(RdmaOrTcpTransport.RDMA);
        try (EchoServer server = server()) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), server.address());
            assertTransport(channel, RdmaOrTcpTransport.RDMA);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get()).isNull();
            assertThat(metrics.connects(RdmaOrTcpTransport.RDMA) - connects).isOne();
            assertThat(channel.alloc()).isSameAs(RdmaByteBufAllocator.DEFAULT);
            assertThat(channel.remoteAddress()).isEqualTo(server.address());
            assertThat(channel.localAddress()).isEqualTo(server.nextConnection().channel().remoteAddress());
            TestTimeouts.sync(EchoClient.exchange(channel));
            RdmaMetrics traffic = ((RdmaSocketChannel) channel.transportChannel()).metrics();
            assertThat(traffic.bytesSentInPlace()).isGreaterThanOrEqualTo(300_000);
            assertThat(traffic.bytesSentCopied()).isZero();
            close(channel);
        }
    }

    @Test
    void serverOfTcpAloneIsReachedAndTheReasonToldEverywhere() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long connects = metrics.connects(RdmaOrTcpTransport.TCP);
        long fallbacks = metrics.fallbacks(RdmaOrTcpFallback.Reason.REFUSED);
        try (EchoServer server = ends.tcpServer(anyPort());
             LogRecorder log = new LogRecorder(RdmaOrTcpSocketChannel.class.getName(), Level.DEBUG)) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), server.address());
            assertTransport(channel, RdmaOrTcpTransport.TCP);
            assertFallback(channel, RdmaOrTcpFallback.Reason.REFUSED);
            assertThat(channel.alloc()).isNotSameAs(RdmaByteBufAllocator.DEFAULT);
            assertThat(metrics.connects(RdmaOrTcpTransport.TCP) - connects).isOne();
            assertThat(metrics.fallbacks(RdmaOrTcpFallback.Reason.REFUSED) - fallbacks).isOne();
            assertThat(log.messages(Level.DEBUG)).singleElement().asString().contains(server.address().toString(),
                    "over TCP in ", "REFUSED: Connection refused");
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void whatFailsWithARestrictionIsRememberedForConnectsAlikeAlone() throws InterruptedException {
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(4);
        Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.FAILURES, failures);
        Bootstrap restricted = bootstrap.clone().option(RdmaChannelOption.PROVIDERS, RdmaOrTcpEnds.unusedProvider());
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            RdmaOrTcpSocketChannel first = connect(restricted, rdma.address());
            assertFallback(first, RdmaOrTcpFallback.Reason.NO_ROUTE);
            RdmaOrTcpSocketChannel other = connect(bootstrap, rdma.address());
            assertThat(other.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
            RdmaOrTcpSocketChannel alike = connect(restricted, rdma.address());
            assertFallback(alike, RdmaOrTcpFallback.Reason.REMEMBERED);
            close(first);
            close(other);
            close(alike);
        }
    }

    @Test
    void failureIsRememberedUntilTcpFails() throws InterruptedException {
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
        Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.FAILURES, failures);
        InetSocketAddress address;
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            address = tcp.address();
            close(connect(bootstrap, address));
            assertThat(failures.size()).isOne();
            RdmaOrTcpSocketChannel channel = connect(bootstrap, address);
            assertFallback(channel, RdmaOrTcpFallback.Reason.REMEMBERED);
            close(channel);
            RdmaOrTcpSocketChannel forgetful = connect(bootstrap.clone()
                    .option(RdmaOrTcpChannelOption.REMEMBER_MILLIS, 0), address);
            assertFallback(forgetful, RdmaOrTcpFallback.Reason.REFUSED);
            close(forgetful);
        }
        try (EchoServer rdma = ends.rdmaServer(address)) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap, rdma.address());
            assertTransport(channel, RdmaOrTcpTransport.RDMA);
            assertThat(failures.size()).isZero();
            close(channel);
        }
    }

    @Test
    void noAnswerOverRdmaLeavesHalfOfTheConnectTimeoutToTcp() throws Exception {
        LoopClock clock = new LoopClock(1);
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            int millis = 1000 * (int) TestTimeouts.SECONDS;
            ChannelFuture connecting = bootstrap().clone(clock.group())
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, millis).connect(silent.localAddress());
            silent.awaitRequest();
            clock.advance(millis / 2, TimeUnit.MILLISECONDS);
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connecting).channel();
            assertFallback(channel, RdmaOrTcpFallback.Reason.TIMEOUT);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains(millis / 2 + " ms");
            assertThat(channel.config().getConnectTimeoutMillis()).isEqualTo(millis);
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
            ChannelFuture connecting = bootstrap().clone(clock.group()).connect(server.address());
            late.awaitRequest();
            clock.advance(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connecting).channel();
            try {
                late.accept("too late".getBytes(StandardCharsets.US_ASCII));
            } catch (VerbsException ignore) {
                // The provider knows already that the request was withdrawn.
            }
            assertFallback(channel, RdmaOrTcpFallback.Reason.TIMEOUT);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    @Test
    void rejectionAndForeignAnswersFallBackThisTimeOnly() throws Exception {
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
        Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.FAILURES, failures);
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer busy = VerbsPeer.listen(server.address())) {
            ChannelFuture connecting = bootstrap.connect(server.address());
            busy.reject("come back later".getBytes(StandardCharsets.US_ASCII));
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connecting).channel();
            assertFallback(channel, RdmaOrTcpFallback.Reason.REJECTED);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("come back later");
            close(channel);
        }
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer other = VerbsPeer.listen(server.address())) {
            ChannelFuture connecting = bootstrap.connect(server.address());
            other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connecting).channel();
            assertFallback(channel, RdmaOrTcpFallback.Reason.FAILED);
            close(channel);
        }
        assertThat(failures.size()).isZero();
    }

    @Test
    void addressThatNoRdmaDeviceReachesHasTcp() throws InterruptedException {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.IBVERBS,
                "needs kernel verbs: the embedded provider's device has all addresses");
        try (EchoServer server = ends.tcpServer(new InetSocketAddress("127.0.0.1", 0))) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), server.address());
            assertFallback(channel, RdmaOrTcpFallback.Reason.NO_ROUTE);
            close(channel);
        }
        try (EchoServer server = ends.tcpServer(anyPort())) {
            // One that is bound before, and can't be for RDMA.
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(
                    bootstrap().bind(new InetSocketAddress("127.0.0.1", 0))).channel();
            TestTimeouts.sync(channel.connect(server.address()));
            assertFallback(channel, RdmaOrTcpFallback.Reason.NO_ROUTE);
            close(channel);
            // One that is given when it connects.
            channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(bootstrap().connect(server.address(),
                    new InetSocketAddress("127.0.0.1", 0))).channel();
            assertFallback(channel, RdmaOrTcpFallback.Reason.NO_ROUTE);
            close(channel);
        }
    }

    @Test
    void localAddressThatIsNobodysFailsBoth() throws InterruptedException {
        try (EchoServer server = ends.tcpServer(anyPort())) {
            // RFC 5737: an address for documentation, which is nobody's.
            InetSocketAddress local = new InetSocketAddress("192.0.2.1", 0);
            assertThat(TestTimeouts.await(bootstrap().connect(server.address(), local)).cause())
                    .isInstanceOf(RdmaOrTcpConnectException.class).hasMessageContaining("192.0.2.1");
        }
    }

    @Test
    void manyFallBackAtOnce() throws InterruptedException {
        try (EchoServer server = ends.tcpServer(anyPort())) {
            Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.REMEMBER_MILLIS, 0);
            List<ChannelFuture> connecting = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                connecting.add(bootstrap.connect(server.address()));
            }
            List<Future<Void>> exchanges = new ArrayList<>();
            for (ChannelFuture future : connecting) {
                RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(future).channel();
                assertFallback(channel, RdmaOrTcpFallback.Reason.REFUSED);
                exchanges.add(EchoClient.exchange(channel));
            }
            for (int i = 0; i < exchanges.size(); i++) {
                TestTimeouts.sync(exchanges.get(i));
                close(connecting.get(i).channel());
            }
        }
    }

    @Test
    void loopsThatServeNeitherAreToldWhatToUse() throws InterruptedException {
        EventLoopGroup local = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        try {
            assertThat(TestTimeouts.await(bootstrap().clone(local).connect(anyPort())).cause())
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("newEventLoopGroup");
        } finally {
            TestTimeouts.shutdown(local);
        }
    }

    @Test
    void loopsThatServeNoRdmaHaveTcp() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            for (IoHandlerFactory handler : new IoHandlerFactory[] {EpollIoHandler.newFactory(),
                    NioIoHandler.newFactory()}) {
                EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, handler);
                try {
                    RdmaOrTcpSocketChannel channel = connect(bootstrap().clone(group), rdma.address());
                    assertThat(channel.transportChannel()).isInstanceOfAny(EpollSocketChannel.class,
                            NioSocketChannel.class);
                    assertFallback(channel, RdmaOrTcpFallback.Reason.UNAVAILABLE);
                    assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().message()).contains("newEventLoopGroup");
                    TestTimeouts.sync(EchoClient.exchange(channel));
                    close(channel);
                    assertThat(TestTimeouts.await(bootstrap().clone(group).option(RdmaOrTcpChannelOption.TRANSPORT_RULE,
                            RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY)).connect(rdma.address())).cause())
                            .isInstanceOf(ConnectException.class).hasMessageContaining("newEventLoopGroup");
                } finally {
                    TestTimeouts.shutdown(group);
                }
            }
        }
    }

    @Test
    void nobodyListensSaysBothReasons() throws InterruptedException {
        long failures = RdmaOrTcpMetrics.total().failures();
        InetSocketAddress free = freePort();
        ChannelFuture connecting = TestTimeouts.await(bootstrap().connect(free));
        assertThat(connecting.cause()).isInstanceOf(RdmaOrTcpConnectException.class)
                .hasMessageContaining(free.toString())
                .hasMessageContaining("over RDMA: REFUSED: Connection refused")
                .hasMessageContaining("over TCP: ").hasCauseInstanceOf(ConnectException.class);
        assertThat(connecting.cause().getSuppressed()).singleElement().satisfies(rdma -> assertThat(rdma.getCause())
                .isInstanceOf(ConnectionRejectedException.class));
        assertThat(((RdmaOrTcpConnectException) connecting.cause()).rdma().reason())
                .isEqualTo(RdmaOrTcpFallback.Reason.REFUSED);
        TestTimeouts.sync(connecting.channel().closeFuture());
        assertThat(RdmaOrTcpMetrics.total().failures() - failures).isOne();
    }

    @Test
    void addressThatIsNobodysFailsInTime() throws InterruptedException {
        // RFC 5737: an address for documentation. Some networks have no route to it, others no answer from it.
        ChannelFuture connecting = TestTimeouts.await(bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 400)
                .connect(new InetSocketAddress("192.0.2.1", 7)));
        assertThat(connecting.cause()).isInstanceOfAny(RdmaOrTcpConnectException.class, ConnectTimeoutException.class)
                .hasMessageContaining("192.0.2.1").hasMessageContaining("over RDMA").hasMessageContaining("over TCP");
        TestTimeouts.sync(connecting.channel().closeFuture());
    }

    @Test
    void channelConnectsOnce() throws Exception {
        try (EchoServer server = server(); VerbsPeer silent = VerbsPeer.listen(anyPort())) {
            Channel connected = connect(bootstrap(), server.address());
            assertThat(TestTimeouts.await(connected.connect(server.address())).cause())
                    .isInstanceOf(AlreadyConnectedException.class);
            close(connected);
            ChannelFuture connecting = bootstrap().connect(silent.localAddress());
            silent.awaitRequest();
            assertThat(TestTimeouts.await(connecting.channel().connect(server.address())).cause())
                    .isInstanceOf(ConnectionPendingException.class);
            assertThat(connecting.isDone()).isFalse();
            close(connecting.channel());
        }
    }

    // ---- the rule

    @Test
    void ruleChoosesByPort() throws InterruptedException {
        try (EchoServer one = server(); EchoServer other = server()) {
            RdmaOrTcpRule rule = address -> address.getPort() == one.address().getPort() ? RdmaOrTcpChoice.TCP_ONLY :
                    RdmaOrTcpChoice.RDMA_OR_TCP;
            for (Bootstrap bootstrap : List.of(bootstrap().option(RdmaOrTcpChannelOption.TRANSPORT_RULE, rule),
                    bootstrap(rule))) {
                RdmaOrTcpSocketChannel overTcp = connect(bootstrap, one.address());
                assertTransport(overTcp, RdmaOrTcpTransport.TCP);
                assertFallback(overTcp, RdmaOrTcpFallback.Reason.RULE);
                RdmaOrTcpSocketChannel overRdma = connect(bootstrap, other.address());
                assertTransport(overRdma, RdmaOrTcpTransport.RDMA);
                close(overTcp);
                close(overRdma);
            }
        }
    }

    @Test
    void channelOfRdmaIsMadeOnlyWhereItIsTried() throws InterruptedException {
        Bootstrap remembers = bootstrap().option(RdmaOrTcpChannelOption.FAILURES, new RdmaOrTcpFailures(1));
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            assertThat(channelsOf(bootstrap(only(RdmaOrTcpTransport.TCP)), tcp)).isEqualTo(2);
            assertThat(channelsOf(remembers, tcp)).isEqualTo(3);
            assertThat(channelsOf(remembers, tcp)).isEqualTo(2);
        }
    }

    /** Returns how many channels were made for a connection over TCP, which is two at least: their ids have numbers. */
    private static long channelsOf(Bootstrap bootstrap, EchoServer tcp) throws InterruptedException {
        RdmaOrTcpSocketChannel channel = connect(bootstrap, tcp.address());
        assertTransport(channel, RdmaOrTcpTransport.TCP);
        // The channel of the server has a number as well.
        tcp.nextConnection();
        close(channel);
        return number(channel.transportChannel()) - number(channel) + 1;
    }

    private static long number(Channel channel) {
        String[] parts = channel.id().asLongText().split("-");
        return Long.parseLong(parts[parts.length - 3], 16);
    }

    @Test
    void ruleForServersOfBothLetsAClientFallBack() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_AND_TCP)),
                    tcp.address());
            assertFallback(channel, RdmaOrTcpFallback.Reason.REFUSED);
            close(channel);
        }
    }

    @Test
    void rdmaAloneDoesNotFallBack() throws InterruptedException {
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
        Bootstrap bootstrap = bootstrap(RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY))
                .option(RdmaOrTcpChannelOption.FAILURES, failures);
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            for (int i = 0; i < 2; i++) {
                assertThat(TestTimeouts.await(bootstrap.connect(tcp.address())).cause())
                        .isInstanceOf(ConnectException.class).isNotInstanceOf(RdmaOrTcpConnectException.class)
                        .hasMessageContaining("Connection refused");
            }
            ends.assertUntouched(tcp);
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                RdmaOrTcpSocketChannel channel = connect(bootstrap, rdma.address());
                assertTransport(channel, RdmaOrTcpTransport.RDMA);
                close(channel);
            }
        }
    }

    @Test
    void tcpAloneDoesNotTryRdmaAndFailsAsTcp() throws InterruptedException {
        InetSocketAddress free = freePort();
        try (EchoServer rdma = ends.rdmaServer(free)) {
            assertThat(TestTimeouts.await(bootstrap(RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY))
                    .connect(rdma.address())).cause()).isInstanceOf(ConnectException.class)
                    .isNotInstanceOf(RdmaOrTcpConnectException.class);
        }
    }

    @Test
    void ruleThatThrowsFailsTheConnect() throws InterruptedException {
        RdmaOrTcpRule broken = address -> {
            throw new IllegalStateException("expected in this test");
        };
        assertThat(TestTimeouts.await(bootstrap(broken).connect(anyPort())).cause())
                .isInstanceOf(IllegalStateException.class);
        assertThat(TestTimeouts.await(bootstrap(address -> null).connect(anyPort())).cause())
                .isInstanceOf(NullPointerException.class).hasMessageContaining("rule");
    }

    // ---- options

    @Test
    void optionsOfOneChannelClassAreGivenToThatOne() throws InterruptedException {
        Bootstrap bootstrap = bootstrap().option(RdmaChannelOption.MAX_INLINE, 100)
                .option(EpollChannelOption.TCP_KEEPIDLE, 77).option(ChannelOption.SO_KEEPALIVE, true)
                .option(EpollChannelOption.TCP_CORK, false).option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1000, 2000));
        try (EchoServer tcp = ends.tcpServer(anyPort()); LogRecorder log = new LogRecorder()) {
            RdmaOrTcpSocketChannel overTcp = connect(bootstrap, tcp.address());
            assertThat(overTcp.config().getOption(EpollChannelOption.TCP_KEEPIDLE)).isEqualTo(77);
            assertOptions(overTcp);
            assertThat(overTcp.config().setOption(RdmaChannelOption.MAX_INLINE, 50)).isTrue();
            close(overTcp);
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                RdmaOrTcpSocketChannel overRdma = connect(bootstrap.option(RdmaOrTcpChannelOption.FAILURES,
                        new RdmaOrTcpFailures(1)), rdma.address());
                assertTransport(overRdma, RdmaOrTcpTransport.RDMA);
                assertThat(overRdma.config().getOption(RdmaChannelOption.MAX_INLINE)).isEqualTo(100);
                assertOptions(overRdma);
                assertThat(overRdma.config().setOption(EpollChannelOption.TCP_CORK, true)).isTrue();
                assertThat(log.messages(Level.WARN)).isEmpty();
                close(overRdma);

                close(connect(bootstrap.option(ChannelOption.valueOf("RdmaOrTcpSocketChannelTest"), 1),
                        rdma.address()));
                assertThat(log.messages(Level.WARN)).singleElement().asString()
                        .contains("Unknown channel option", "RdmaOrTcpSocketChannelTest");
            }
        }
    }

    private static void assertOptions(RdmaOrTcpSocketChannel channel) {
        assertThat(channel.config().isKeepAlive()).isTrue();
        assertThat(channel.transportChannel().config().isKeepAlive()).isTrue();
        assertThat(channel.config().isAutoRead()).isFalse();
        assertThat(channel.config().getWriteBufferHighWaterMark()).isEqualTo(2000);
        assertThat(channel.config().getOptions()).containsEntry(ChannelOption.SO_KEEPALIVE, true)
                .containsKey(RdmaOrTcpChannelOption.TRANSPORT_RULE);
    }

    @Test
    void mistakesDoNotFallBack() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            assertThat(TestTimeouts.await(bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 1)
                    .connect(tcp.address())).cause()).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("SEND_QUEUE_DEPTH");
            Channel channel = TestTimeouts.sync(bootstrap().register()).channel();
            assertThat(TestTimeouts.await(channel.connect(InetSocketAddress.createUnresolved("name", 7))).cause())
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> channel.config().setOption(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, -1))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("RDMA_CONNECT_TIMEOUT_MILLIS");
            assertThatThrownBy(() -> channel.config().setOption(RdmaOrTcpChannelOption.REMEMBER_MILLIS, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            close(channel);
            ends.assertUntouched(tcp);
        }
    }

    // ---- what handlers see

    @ParameterizedTest
    @EnumSource(RdmaOrTcpTransport.class)
    void handlersSeeWhatTheySeeOnAChannelOfTheTransport(RdmaOrTcpTransport transport) throws InterruptedException {
        List<String> expected = events(transport, transport == RdmaOrTcpTransport.RDMA ? new Bootstrap()
                .channel(RdmaSocketChannel.class) : new Bootstrap().channel(EpollSocketChannel.class));
        assertThat(events(transport, new Bootstrap().channelFactory(() -> new RdmaOrTcpSocketChannel(only(transport)))))
                .isEqualTo(expected).contains("registered", "connected", "active", "read", "inactive", "unregistered");
    }

    private List<String> events(RdmaOrTcpTransport transport, Bootstrap bootstrap) throws InterruptedException {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        EventLoop loop = LOOPS.group().next();
        bootstrap.group(loop).handler(new ChannelInboundHandlerAdapter() {
            private int bytes;

            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                events.add("added, active: " + ctx.channel().isActive());
            }

            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                events.add("registered");
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active");
                ctx.write(ctx.alloc().directBuffer().writeZero(10)).addListener(
                        written -> events.add("written: " + written.isSuccess()));
                ctx.writeAndFlush(new Object()).addListener(
                        written -> events.add("written: " + written.cause().getClass()));
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                bytes += ((ByteBuf) msg).readableBytes();
                ((ByteBuf) msg).release();
                if (bytes == 10) {
                    events.add("read");
                    ctx.write(Unpooled.EMPTY_BUFFER).addListener(
                            written -> events.add("written: " + written.cause().getClass()));
                    ctx.close().addListener(closed -> events.add("closed, " + ctx.channel().isOpen()));
                }
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                if (bytes == 10) {
                    events.add("read complete");
                }
            }

            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                events.add("writable: " + ctx.channel().isWritable());
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                events.add("exception: " + cause);
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
            }

            @Override
            public void handlerRemoved(ChannelHandlerContext ctx) {
                events.add("removed");
            }
        });
        try (EchoServer server = server()) {
            // On the loop that it connects on, so that the listener is there before anything can happen.
            ChannelFuture connected = TestTimeouts.sync(loop.submit(() -> {
                ChannelFuture connecting = bootstrap.connect(server.address());
                connecting.channel().closeFuture().addListener(closed -> events.add("close future"));
                return connecting.addListener(done -> events.add("connected"));
            })).getNow();
            TestTimeouts.sync(connected);
            List<String> all = new ArrayList<>();
            do {
                all.add(TestTimeouts.take(events, "an event after " + all));
            } while (!all.contains("removed"));
            return all;
        }
    }

    private static RdmaOrTcpRule only(RdmaOrTcpTransport transport) {
        return RdmaOrTcpRule.always(transport == RdmaOrTcpTransport.RDMA ? RdmaOrTcpChoice.RDMA_ONLY :
                RdmaOrTcpChoice.TCP_ONLY);
    }

    @ParameterizedTest
    @EnumSource(RdmaOrTcpTransport.class)
    void whatIsWrittenWhileConnectingGoesOutInOrder(RdmaOrTcpTransport transport) throws InterruptedException {
        try (EchoServer server = server()) {
            Channel channel = TestTimeouts.sync(bootstrap(only(transport)).register()).channel();
            BlockingQueue<String> events = new LinkedBlockingQueue<>();
            StringBuilder received = new StringBuilder();
            TestTimeouts.sync(channel.eventLoop().submit(() -> {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        received.append(((ByteBuf) msg).toString(StandardCharsets.US_ASCII));
                        ((ByteBuf) msg).release();
                        if (received.length() == 3) {
                            events.add(received.toString());
                        }
                    }
                });
                write(channel, "a").addListener(written -> events.add("a: " + written.isSuccess()));
                channel.flush();
                // Fails, as with any channel that does not connect.
                assertThat(events).containsExactly("a: false");
                channel.connect(server.address()).addListener(connected -> events.add("connected"));
                write(channel, "b").addListener(written -> events.add("b: " + written.isSuccess()));
                write(channel, "x").cancel(false);
                channel.flush();
                write(channel, "c").addListener(written -> events.add("c: " + written.isSuccess()));
                write(channel, "d");
                channel.flush();
                return null;
            }));
            for (String expected : new String[] {"a: false", "connected", "b: true", "c: true", "bcd"}) {
                assertThat(TestTimeouts.take(events, expected)).isEqualTo(expected);
            }
            close(channel);
        }
    }

    private static ChannelFuture write(Channel channel, String text) {
        return channel.write(channel.alloc().buffer().writeBytes(text.getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void whatIsWrittenFailsWithTheConnect() throws Exception {
        try (EchoServer tcp = ends.tcpServer(anyPort()); VerbsPeer silent = VerbsPeer.listen(tcp.address())) {
            ChannelFuture connecting = bootstrap().connect(tcp.address());
            silent.awaitRequest();
            Channel channel = connecting.channel();
            ByteBuf message = channel.alloc().directBuffer().writeZero(10);
            ChannelFuture flushed = channel.writeAndFlush(message);
            ChannelFuture unflushed = channel.write(Unpooled.wrappedBuffer(new byte[10]));
            close(channel);
            assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(TestTimeouts.await(flushed).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(TestTimeouts.await(unflushed).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(message.refCnt()).isZero();
            assertThat(TestTimeouts.await(channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[1]))).cause())
                    .isInstanceOf(ClosedChannelException.class);
            ends.assertUntouched(tcp);
        }
    }

    @ParameterizedTest
    @EnumSource(RdmaOrTcpTransport.class)
    void bytesThatWaitAreCountedAcrossTheConnect(RdmaOrTcpTransport transport) throws Exception {
        try (EchoServer server = server()) {
            Channel channel = TestTimeouts.sync(bootstrap(only(transport))
                    .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1000, 2000)).register())
                    .channel();
            BlockingQueue<Boolean> writable = new LinkedBlockingQueue<>();
            CountDownLatch go = new CountDownLatch(1);
            channel.eventLoop().execute(() -> {
                channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object msg) {
                        ((ByteBuf) msg).release();
                    }

                    @Override
                    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                        writable.add(ctx.channel().isWritable());
                    }
                });
                try {
                    go.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            // Tasks of the loop, which count in the meantime.
            ChannelFuture connecting = channel.connect(server.address());
            List<ChannelFuture> writes = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                writes.add(channel.write(Unpooled.wrappedBuffer(new byte[100])));
            }
            assertThat(channel.isWritable()).isFalse();
            assertThat(channel.bytesBeforeWritable()).isPositive();
            go.countDown();
            TestTimeouts.sync(connecting);
            channel.flush();
            for (ChannelFuture write : writes) {
                TestTimeouts.sync(write);
            }
            assertThat(TestTimeouts.take(writable, "unwritable")).isFalse();
            Boolean last = TestTimeouts.take(writable, "writable");
            while (!last) {
                last = TestTimeouts.take(writable, "writable");
            }
            TestTimeouts.awaitTrue(() -> channel.unsafe().outboundBuffer().totalPendingWriteBytes() == 0);
            assertThat(channel.isWritable()).isTrue();
            assertThat(channel.bytesBeforeUnwritable()).isEqualTo(2001);
            close(channel);
        }
    }

    @Test
    void beforeItIsConnectedNothingCanBeShutDown() throws InterruptedException {
        RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(bootstrap().register()).channel();
        assertThat(channel.transportChannel()).isNull();
        assertThat(channel.parent()).isNull();
        assertThat(TestTimeouts.await(channel.shutdownOutput()).cause()).isInstanceOf(NotYetConnectedException.class);
        assertThat(TestTimeouts.await(channel.shutdownInput()).cause()).isInstanceOf(NotYetConnectedException.class);
        assertThat(TestTimeouts.await(channel.shutdown()).cause()).isInstanceOf(NotYetConnectedException.class);
        close(channel);
        assertThat(TestTimeouts.await(channel.shutdownOutput()).cause()).isInstanceOf(ClosedChannelException.class);
        assertThat(channel.isShutdown()).isTrue();
    }

    private static EventLoop moveToAnotherLoop(Channel channel) throws InterruptedException {
        EventLoop before = channel.eventLoop();
        TestTimeouts.sync(channel.deregister());
        assertThat(channel.isRegistered()).isFalse();
        EventLoop next;
        do {
            next = LOOPS.group().next();
        } while (next == before);
        TestTimeouts.sync(next.register(channel));
        return next;
    }

    @Test
    void channelThatIsNotConnectedMovesToAnotherLoop() throws InterruptedException {
        try (EchoServer server = server()) {
            Channel channel = TestTimeouts.sync(bootstrap().register()).channel();
            EventLoop next = moveToAnotherLoop(channel);
            TestTimeouts.sync(channel.connect(server.address()));
            assertTransport((RdmaOrTcpSocketChannel) channel, RdmaOrTcpTransport.RDMA);
            assertThat(((RdmaOrTcpSocketChannel) channel).transportChannel().eventLoop()).isSameAs(next);
            close(channel);
        }
    }

    @ParameterizedTest
    @EnumSource(RdmaOrTcpTransport.class)
    void connectionGoesOnOnAnotherLoop(RdmaOrTcpTransport transport) throws InterruptedException {
        try (EchoServer server = server()) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(only(transport)), server.address());
            EventLoop next = moveToAnotherLoop(channel);
            assertThat(channel.transportChannel().eventLoop()).isSameAs(next);
            TestTimeouts.sync(EchoClient.exchange(channel));
            close(channel);
        }
    }

    @Test
    void addressIsBoundBeforeConnecting() throws InterruptedException {
        try (EchoServer server = server()) {
            for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
                Channel channel = TestTimeouts.sync(bootstrap(only(transport)).bind(anyPort())).channel();
                TestTimeouts.sync(channel.connect(server.address()));
                assertTransport((RdmaOrTcpSocketChannel) channel, transport);
                assertThat(((InetSocketAddress) channel.localAddress()).getAddress())
                        .isEqualTo(anyPort().getAddress());
                close(channel);
            }
        }
    }

    @Test
    void cancellingEndsTheAttemptAndTriesNothingElse() throws Exception {
        try (EchoServer tcp = ends.tcpServer(anyPort()); VerbsPeer silent = VerbsPeer.listen(tcp.address())) {
            ChannelFuture connecting = bootstrap().connect(tcp.address());
            silent.awaitRequest();
            assertThat(connecting.cancel(false)).isTrue();
            TestTimeouts.sync(connecting.channel().closeFuture());
            ends.assertUntouched(tcp);
        }
    }

    @Test
    void endOfTheEventLoopEndsTheChannel() throws Exception {
        for (RdmaOrTcpRule rule : new RdmaOrTcpRule[] {only(RdmaOrTcpTransport.RDMA), only(RdmaOrTcpTransport.TCP)}) {
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try (EchoServer server = server();
                 VerbsPeer silent = VerbsPeer.listen(anyPort())) {
                Channel idle = TestTimeouts.sync(bootstrap(rule).clone(group).register()).channel();
                Channel connected = connect(bootstrap(rule).clone(group), server.address());
                ChannelFuture connecting = bootstrap().clone(group).connect(silent.localAddress());
                silent.awaitRequest();
                TestTimeouts.shutdown(group);
                assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(ClosedChannelException.class);
                for (Channel channel : new Channel[] {idle, connected, connecting.channel()}) {
                    assertThat(channel.closeFuture().await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
                    assertThat(channel.isOpen()).isFalse();
                }
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    // ---- ends

    private Bootstrap bootstrap() {
        return ends.bootstrap();
    }

    private Bootstrap bootstrap(RdmaOrTcpRule rule) {
        return ends.bootstrap(() -> new RdmaOrTcpSocketChannel(rule));
    }

    private EchoServer server() throws InterruptedException {
        return new EchoServer(LOOPS.group(), RdmaOrTcpServerSocketChannel.class, anyPort());
    }

    private static void assertTransport(RdmaOrTcpSocketChannel channel, RdmaOrTcpTransport transport) {
        assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(transport);
        assertThat(channel.transportChannel()).isInstanceOf(
                transport == RdmaOrTcpTransport.RDMA ? RdmaSocketChannel.class : EpollSocketChannel.class);
        assertThat(channel.isActive()).isTrue();
    }

    /** A port where nobody listened, for either transport, a moment ago. */
    private InetSocketAddress freePort() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            return rdma.address();
        }
    }
}
