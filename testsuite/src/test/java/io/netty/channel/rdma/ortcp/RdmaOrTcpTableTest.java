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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of {@link RdmaOrTcpSocketChannel}, row by row: which transport is taken, and what is remembered.
 */
class RdmaOrTcpTableTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    /** The rows. */
    enum Row {
        UNAVAILABLE(RdmaOrTcpFallback.Reason.UNAVAILABLE, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
                try {
                    attempt.fallsBack();
                } finally {
                    TestTimeouts.shutdown(attempt.group);
                }
            }
        },
        NO_ROUTE(RdmaOrTcpFallback.Reason.NO_ROUTE, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaChannelOption.DEVICE, "none0");
                attempt.fallsBack();
            }
        },
        REFUSED(RdmaOrTcpFallback.Reason.REFUSED, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.fallsBack();
            }
        },
        TIMEOUT(RdmaOrTcpFallback.Reason.TIMEOUT, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.rdmaMillis = 200;
                try (VerbsPeer silent = VerbsPeer.listen(attempt.tcp.address())) {
                    attempt.address = silent.localAddress();
                    attempt.fallsBack();
                }
            }
        },
        REJECTED(RdmaOrTcpFallback.Reason.REJECTED, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                try (VerbsPeer busy = VerbsPeer.listen(attempt.tcp.address())) {
                    ChannelFuture connecting = attempt.connect();
                    busy.reject("come back later".getBytes(StandardCharsets.US_ASCII));
                    attempt.fallsBack(connecting);
                }
            }
        },
        FAILED(RdmaOrTcpFallback.Reason.FAILED, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                try (VerbsPeer other = VerbsPeer.listen(attempt.tcp.address())) {
                    ChannelFuture connecting = attempt.connect();
                    other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));
                    attempt.fallsBack(connecting);
                }
            }
        },
        REMEMBERED(RdmaOrTcpFallback.Reason.REMEMBERED, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.expected = RdmaOrTcpFallback.Reason.REFUSED;
                attempt.fallsBack();
                attempt.expected = reason;
                attempt.fallsBack();
            }
        },
        REMEMBERED_AND_TCP_FAILS(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.expected = RdmaOrTcpFallback.Reason.REFUSED;
                attempt.fallsBack();
                InetSocketAddress address = attempt.tcp.address();
                attempt.tcp.close();
                try (EchoServer rdma = attempt.ends.rdmaServer(address)) {
                    attempt.address = rdma.address();
                    Channel channel = TestTimeouts.sync(attempt.connect()).channel();
                    assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
                    TestTimeouts.sync(channel.close());
                }
            }
        },
        RULE(RdmaOrTcpFallback.Reason.RULE, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaOrTcpChannelOption.TRANSPORT_RULE, RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY));
                try (EchoServer rdma = attempt.ends.rdmaServer(attempt.tcp.address())) {
                    attempt.address = rdma.address();
                    attempt.fallsBack();
                }
            }
        },
        RULE_OF_RDMA_ALONE(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaOrTcpChannelOption.TRANSPORT_RULE, RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY));
                attempt.failsWithoutTcp(attempt.connect(), ConnectException.class);
            }
        },
        UNKNOWN_HOST(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                // RFC 2606: never exists.
                attempt.address = InetSocketAddress.createUnresolved("no-such-host.invalid", 7);
                attempt.failsWithoutTcp(attempt.connect(), UnknownHostException.class);
            }
        },
        OPTION_THAT_THE_DEVICE_CANNOT_DO(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaChannelOption.SEND_QUEUE_DEPTH, 1);
                try (EchoServer rdma = attempt.ends.rdmaServer(attempt.tcp.address())) {
                    attempt.address = rdma.address();
                    attempt.failsWithoutTcp(attempt.connect(), IllegalArgumentException.class);
                }
            }
        },
        CANCELLED(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                try (VerbsPeer silent = VerbsPeer.listen(attempt.tcp.address())) {
                    ChannelFuture connecting = attempt.connect();
                    silent.awaitRequest();
                    assertThat(connecting.cancel(false)).isTrue();
                    attempt.failsWithoutTcp(connecting, CancellationException.class);
                }
            }
        },
        EVENT_LOOP_IS_SHUT_DOWN(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.group = new RdmaEventLoopGroup(1);
                try (VerbsPeer silent = VerbsPeer.listen(attempt.tcp.address())) {
                    ChannelFuture connecting = attempt.connect();
                    silent.awaitRequest();
                    TestTimeouts.shutdown(attempt.group);
                    attempt.failsWithoutTcp(connecting, ClosedChannelException.class);
                } finally {
                    TestTimeouts.shutdown(attempt.group);
                }
            }
        },
        INITIALIZER_THROWS(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.handler = new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        throw new IllegalStateException("expected in this test");
                    }
                };
                try (EchoServer rdma = attempt.ends.rdmaServer(attempt.tcp.address())) {
                    attempt.address = rdma.address();
                    attempt.failsWithoutTcp(attempt.connect(), ClosedChannelException.class);
                }
            }
        };

        /** {@code null} if TCP is not tried. */
        final RdmaOrTcpFallback.Reason reason;
        final boolean remembered;

        Row(RdmaOrTcpFallback.Reason reason, boolean remembered) {
            this.reason = reason;
            this.remembered = remembered;
        }

        abstract void run(Attempt attempt) throws Exception;
    }

    /** Set-up and expectation of a row. */
    static final class Attempt {
        final RdmaOrTcpEnds ends;
        final EchoServer tcp;
        final RdmaOrTcpFailures failures = new RdmaOrTcpFailures(4);
        /** Before. */
        final Map<RdmaOrTcpFallback.Reason, Long> fallbacks = Stream.of(RdmaOrTcpFallback.Reason.values())
                .collect(Collectors.toMap(Function.identity(), RdmaOrTcpMetrics.total()::fallbacks));
        RdmaOrTcpFallback.Reason expected;
        InetSocketAddress address;
        EventLoopGroup group;
        int rdmaMillis = (int) Duration.ofSeconds(TestTimeouts.SECONDS).toMillis();
        ChannelHandler handler = new RdmaOrTcpEnds.Nothing();
        private ChannelOption<Object> option;
        private Object value;

        Attempt(Row row, RdmaOrTcpEnds ends, EchoServer tcp, EventLoopGroup group) {
            this.ends = ends;
            this.tcp = tcp;
            this.group = group;
            address = tcp.address();
            expected = row.reason;
        }

        @SuppressWarnings("unchecked")
        <T> void option(ChannelOption<T> newOption, T newValue) {
            option = (ChannelOption<Object>) newOption;
            value = newValue;
        }

        ChannelFuture connect() {
            Bootstrap bootstrap = ends.bootstrap().clone(group).handler(handler)
                    .option(RdmaOrTcpChannelOption.FAILURES, failures)
                    .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, rdmaMillis);
            if (option != null) {
                bootstrap.option(option, value);
            }
            return bootstrap.connect(address);
        }

        void fallsBack() throws InterruptedException {
            fallsBack(connect());
        }

        void fallsBack(ChannelFuture connecting) throws InterruptedException {
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connecting).channel();
            RdmaOrTcpEnds.assertFallback(channel, expected);
            assertThat(RdmaOrTcpMetrics.total().fallbacks(expected) - fallbacks.get(expected)).isOne();
            TestTimeouts.sync(EchoClient.exchange(channel));
            TestTimeouts.sync(channel.close());
        }

        void failsWithoutTcp(ChannelFuture connecting, Class<? extends Throwable> cause) throws InterruptedException {
            assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(cause);
            ends.assertUntouched(tcp);
        }
    }

    @ParameterizedTest
    @EnumSource
    void tableIsTrue(Row row) throws Exception {
        RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            Attempt attempt = new Attempt(row, ends, tcp, LOOPS.group());
            row.run(attempt);
            assertThat(attempt.failures.size()).as("remembered").isEqualTo(row.remembered ? 1 : 0);
        }
    }

    @Test
    void eachReasonHasARow() {
        assertThat(Stream.of(Row.values()).filter(row -> row.reason != null).map(row -> row.reason))
                .containsExactlyInAnyOrder(RdmaOrTcpFallback.Reason.values());
    }
}
