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

import io.netty.channel.Channel;
import io.netty.channel.rdma.bootstrap.FallbackReason;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpPaths;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.RdmaOrTcpEnds.assertFallback;
import static io.netty.channel.rdma.RdmaOrTcpEnds.assertRdma;
import static io.netty.channel.rdma.RdmaOrTcpEnds.close;
import static io.netty.channel.rdma.RdmaOrTcpEnds.connect;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client that remembers for which destinations RDMA has failed.
 */
class RdmaOrTcpMemoryTest {
    private static final Duration MEMORY = Duration.ofSeconds(10);

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
    private final MockTicker clock = Ticker.newMockTicker();
    private final RdmaOrTcpPaths paths = new RdmaOrTcpPaths(16, clock);

    @Test
    void serverThatComesBackWithRdmaIsNoticedAfterAWhile() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            close(connect(bootstrap(), tcp.address()));
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
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
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            close(connect(bootstrap().rememberFor(Duration.ZERO), tcp.address()));
            assertThat(paths.size()).isZero();
            close(connect(bootstrap(), tcp.address()));
            assertThat(paths.get(tcp.address()).reason()).isEqualTo(FallbackReason.REMEMBERED);
            Channel asksAgain = connect(bootstrap().rememberFor(Duration.ZERO), tcp.address());
            assertFallback(asksAgain, FallbackReason.REFUSED);
            close(asksAgain);
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
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
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            address = tcp.address();
            close(connect(bootstrap(), address));
        }
        try (EchoServer rdma = ends.rdmaServer(address)) {
            Channel channel = connect(bootstrap(), rdma.address());
            assertRdma(channel);
            assertThat(paths.size()).as("what was remembered is not true any more").isZero();
            close(channel);
        }
    }

    @Test
    void serverThatLosesRdmaIsReachedAtOnce() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
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
    void listenerThatNeverAnswersIsLeftInTimeAndRemembered() throws Exception {
        try (EchoServer server = ends.tcpServer(anyPort());
             VerbsPeer silent = VerbsPeer.listen(server.address())) {
            RdmaOrTcpBootstrap bootstrap = bootstrap().rdmaConnectTimeout(Duration.ofMillis(200));
            Channel first = connect(bootstrap, silent.localAddress());
            assertFallback(first, FallbackReason.TIMEOUT);
            assertThat(first.attr(RdmaOrTcp.FALLBACK).get().message()).contains("200 ms");
            Channel second = connect(bootstrap, silent.localAddress());
            assertFallback(second, FallbackReason.REMEMBERED);
            assertThat(second.attr(RdmaOrTcp.FALLBACK).get().message()).contains("TIMEOUT", "200 ms");
            close(first);
            close(second);
        }
    }

    @Test
    void whatFailsWithARestrictionIsRememberedForConnectsAlikeAlone() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort()); EchoServer rdma = ends.rdmaServer(tcp.address())) {
            RdmaOrTcpBootstrap restricted = bootstrap().option(RdmaChannelOption.PATH, RdmaOrTcpEnds.unusedProvider());
            Channel first = connect(restricted, rdma.address());
            assertFallback(first, FallbackReason.NO_ROUTE);
            Channel other = connect(bootstrap(), rdma.address());
            assertRdma(other);
            assertThat(paths.get(rdma.address())).isNull();
            Channel alike = connect(restricted.clone(), rdma.address());
            assertFallback(alike, FallbackReason.REMEMBERED);
            paths.forget(rdma.address());
            assertThat(paths.size()).isZero();
            close(first);
            close(other);
            close(alike);
        }
    }

    private RdmaOrTcpBootstrap bootstrap() {
        return ends.bootstrap().paths(paths).rememberFor(MEMORY);
    }
}
