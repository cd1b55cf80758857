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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.rdma.LoopClock;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.metrics.RdmaConnectMetrics;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.assertFallback;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.assertRdma;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.close;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.connect;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A client that remembers for which destinations RDMA has failed.
 */
class RdmaOrTcpMemoryTest {
    private static final int MEMORY_MILLIS = 10_000;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
    private final MockTicker clock = Ticker.newMockTicker();
    private final RdmaOrTcpFailures failures = new RdmaOrTcpFailures(16, clock);

    @Test
    void serverThatComesBackWithRdmaIsNoticedAfterAWhile() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            close(connect(bootstrap(), tcp.address()));
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                clock.advance(TimeUnit.MILLISECONDS.toNanos(MEMORY_MILLIS) - 1, TimeUnit.NANOSECONDS);
                RdmaOrTcpSocketChannel remembered = connect(bootstrap(), rdma.address());
                assertFallback(remembered, RdmaOrTcpFallback.Reason.REMEMBERED);
                close(remembered);
                clock.advance(1, TimeUnit.NANOSECONDS);
                RdmaOrTcpSocketChannel expired = connect(bootstrap(), rdma.address());
                assertRdma(expired);
                close(expired);
            }
        }
    }

    @Test
    void memoryCanBeClearedOrLeftAlone() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            close(connect(bootstrap().option(RdmaOrTcpChannelOption.REMEMBER_MILLIS, 0), tcp.address()));
            assertThat(failures.size()).isZero();
            close(connect(bootstrap(), tcp.address()));
            assertThat(failures.get(tcp.address()).reason()).isEqualTo(RdmaOrTcpFallback.Reason.REMEMBERED);
            RdmaOrTcpSocketChannel asksAgain = connect(bootstrap().option(RdmaOrTcpChannelOption.REMEMBER_MILLIS, 0),
                    tcp.address());
            assertFallback(asksAgain, RdmaOrTcpFallback.Reason.REFUSED);
            close(asksAgain);
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                failures.forget(tcp.address());
                RdmaOrTcpSocketChannel forgotten = connect(bootstrap(), rdma.address());
                assertRdma(forgotten);
                close(forgotten);
            }
        }
    }

    @Test
    void serverThatComesBackWithRdmaAloneIsReachedAtOnce() throws InterruptedException {
        InetSocketAddress address;
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            address = tcp.address();
            close(connect(bootstrap(), address));
        }
        try (EchoServer rdma = ends.rdmaServer(address)) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), rdma.address());
            assertRdma(channel);
            assertThat(failures.size()).as("what was remembered is not true any more").isZero();
            close(channel);
        }
    }

    @Test
    void serverThatLosesRdmaIsReachedAtOnce() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                RdmaOrTcpSocketChannel channel = connect(bootstrap(), rdma.address());
                assertRdma(channel);
                close(channel);
            }
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), tcp.address());
            assertFallback(channel, RdmaOrTcpFallback.Reason.REFUSED);
            close(channel);
        }
    }

    @Test
    void listenerThatNeverAnswersIsLeftInTimeAndRemembered() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, 200);
            RdmaOrTcpSocketChannel first = connect(bootstrap, silent.localAddress());
            assertFallback(first, RdmaOrTcpFallback.Reason.TIMEOUT);
            assertThat(first.attr(RdmaOrTcp.FALLBACK).get().message()).contains("200 ms");
            RdmaOrTcpSocketChannel second = connect(bootstrap, silent.localAddress());
            assertFallback(second, RdmaOrTcpFallback.Reason.REMEMBERED);
            assertThat(second.attr(RdmaOrTcp.FALLBACK).get().message()).contains("TIMEOUT", "200 ms");
            close(first);
            close(second);
        }
    }

    /** As by a rolling deploy: clients try while the server is down, and are on RDMA when it is back. */
    @Test
    void serverThatIsRestartedIsReachedOverRdma() throws InterruptedException {
        InetSocketAddress address;
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            address = rdma.address();
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), address);
            assertRdma(channel);
            close(channel);
        }
        for (int i = 0; i < 2; i++) {
            assertThat(TestTimeouts.await(bootstrap().connect(address)).cause())
                    .isInstanceOf(RdmaOrTcpConnectException.class);
        }
        assertThat(TestTimeouts.await(bootstrap().option(RdmaOrTcpChannelOption.TRANSPORT_RULE,
                RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY)).connect(address)).cause()).isNotNull();
        assertThat(failures.size()).as("nothing was learnt about RDMA").isZero();
        try (EchoServer tcp = ends.tcpServer(address); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            RdmaOrTcpSocketChannel channel = connect(bootstrap(), rdma.address());
            assertRdma(channel);
            close(channel);
        }
    }

    @Test
    void endOfAConnectionOfRdmaForgetsWhatWasRememberedMeanwhile() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            EchoServer rdma = ends.rdmaServer(tcp.address());
            RdmaOrTcpSocketChannel first = connect(bootstrap(), rdma.address());
            assertRdma(first);
            rdma.close();
            RdmaOrTcpSocketChannel second = connect(bootstrap(), tcp.address());
            assertFallback(second, RdmaOrTcpFallback.Reason.REFUSED);
            assertThat(failures.size()).isOne();
            assertThat(first.isOpen()).as("a listener that is closed leaves its connections").isTrue();
            close(first);
            assertThat(failures.size()).isZero();
            close(second);
        }
    }

    @Test
    void silenceOfThisHostIsRememberedForASecond() throws Exception {
        assumeTrue(VerbsApi.usable().get(0).provider() == VerbsProvider.EMBEDDED, "needs shared memory");
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            Bootstrap bootstrap = bootstrap().option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, 200);
            RdmaOrTcpSocketChannel first = connect(bootstrap, silent.localAddress());
            assertFallback(first, RdmaOrTcpFallback.Reason.TIMEOUT);
            clock.advance(999, TimeUnit.MILLISECONDS);
            RdmaOrTcpSocketChannel second = connect(bootstrap, silent.localAddress());
            assertFallback(second, RdmaOrTcpFallback.Reason.REMEMBERED);
            clock.advance(1, TimeUnit.MILLISECONDS);
            RdmaOrTcpSocketChannel third = connect(bootstrap, silent.localAddress());
            assertFallback(third, RdmaOrTcpFallback.Reason.TIMEOUT);
            close(first);
            close(second);
            close(third);
        }
    }

    @Test
    void applicationIsToldWhenRdmaAnswersAgain() throws Exception {
        LoopClock loop = new LoopClock(1);
        BlockingQueue<InetSocketAddress> answered = new LinkedBlockingQueue<>();
        failures.probe(Duration.ofMinutes(1), answered::add);
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            Channel[] overTcp = new Channel[3];
            for (int i = 0; i < overTcp.length; i++) {
                overTcp[i] = connect(bootstrap().clone(loop.group()), tcp.address());
            }
            long refused = RdmaConnectMetrics.total().failures(RdmaConnectMetrics.Failure.REFUSED);
            loop.advance(61, TimeUnit.SECONDS);
            TestTimeouts.awaitTrue(
                    () -> RdmaConnectMetrics.total().failures(RdmaConnectMetrics.Failure.REFUSED) > refused);
            // Timers of all connections have run.
            TestTimeouts.sync(loop.group().submit(() -> { }));
            assertThat(RdmaConnectMetrics.total().failures(RdmaConnectMetrics.Failure.REFUSED) - refused)
                    .as("one attempt for all connections").isOne();
            assertThat(answered).isEmpty();
            assertThat(failures.size()).isOne();
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
                loop.advance(61, TimeUnit.SECONDS);
                assertThat(TestTimeouts.take(answered, "RDMA answers")).isEqualTo(rdma.address());
                assertThat(failures.size()).isZero();
                assertThat(rdma.nextConnection().nextEvent()).isEqualTo(EchoServer.INACTIVE);
                assertThat(overTcp).allMatch(Channel::isActive);
                RdmaOrTcpSocketChannel channel = connect(bootstrap(), rdma.address());
                assertRdma(channel);
                close(channel);
                rdma.nextConnection();
                loop.advance(61, TimeUnit.SECONDS);
                TestTimeouts.sync(loop.group().submit(() -> { }));
                assertThat(answered).as("it is told once").isEmpty();
            }
            for (Channel channel : overTcp) {
                close(channel);
            }
        } finally {
            TestTimeouts.shutdown(loop.group());
        }
    }

    @Test
    void whatFailsWithARestrictionIsRememberedForConnectsAlikeAlone() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            Bootstrap restricted = bootstrap().option(RdmaChannelOption.PROVIDERS,
                    RdmaOrTcpEnds.unusedProvider());
            RdmaOrTcpSocketChannel first = connect(restricted, rdma.address());
            assertFallback(first, RdmaOrTcpFallback.Reason.NO_ROUTE);
            RdmaOrTcpSocketChannel other = connect(bootstrap(), rdma.address());
            assertRdma(other);
            assertThat(failures.get(rdma.address())).isNull();
            RdmaOrTcpSocketChannel alike = connect(restricted.clone(), rdma.address());
            assertFallback(alike, RdmaOrTcpFallback.Reason.REMEMBERED);
            failures.forget(rdma.address());
            assertThat(failures.size()).isZero();
            close(first);
            close(other);
            close(alike);
        }
    }

    private Bootstrap bootstrap() {
        return ends.bootstrap().option(RdmaOrTcpChannelOption.FAILURES, failures)
                .option(RdmaOrTcpChannelOption.REMEMBER_MILLIS, MEMORY_MILLIS);
    }
}
