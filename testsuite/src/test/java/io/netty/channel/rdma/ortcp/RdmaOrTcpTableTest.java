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
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpChoice;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpFailures;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpFallbackReason;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpMetrics;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpRule;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpTransport;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

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
 * The table of {@link RdmaOrTcpBootstrap}, row by row, of both clients: which transport is taken, and what is
 * remembered.
 */
class RdmaOrTcpTableTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    /** The rows. */
    enum Row {
        UNAVAILABLE(RdmaOrTcpFallbackReason.UNAVAILABLE, false) {
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
        NO_ROUTE(RdmaOrTcpFallbackReason.NO_ROUTE, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaChannelOption.DEVICE, "none0");
                attempt.fallsBack();
            }
        },
        REFUSED(RdmaOrTcpFallbackReason.REFUSED, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.fallsBack();
            }
        },
        TIMEOUT(RdmaOrTcpFallbackReason.TIMEOUT, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.rdmaMillis = 200;
                try (VerbsPeer silent = VerbsPeer.listen(attempt.tcp.address())) {
                    attempt.address = silent.localAddress();
                    attempt.fallsBack();
                }
            }
        },
        REJECTED(RdmaOrTcpFallbackReason.REJECTED, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                try (VerbsPeer busy = VerbsPeer.listen(attempt.tcp.address())) {
                    Future<Channel> connecting = attempt.connect();
                    busy.reject("come back later".getBytes(StandardCharsets.US_ASCII));
                    attempt.fallsBack(connecting);
                }
            }
        },
        FAILED(RdmaOrTcpFallbackReason.FAILED, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                try (VerbsPeer other = VerbsPeer.listen(attempt.tcp.address())) {
                    Future<Channel> connecting = attempt.connect();
                    other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));
                    attempt.fallsBack(connecting);
                }
            }
        },
        REMEMBERED(RdmaOrTcpFallbackReason.REMEMBERED, true) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.expected = RdmaOrTcpFallbackReason.REFUSED;
                attempt.fallsBack();
                attempt.expected = reason;
                attempt.fallsBack();
            }
        },
        REMEMBERED_AND_TCP_FAILS(null, false) {
            @Override
            void run(Attempt attempt) throws Exception {
                attempt.expected = RdmaOrTcpFallbackReason.REFUSED;
                attempt.fallsBack();
                InetSocketAddress address = attempt.tcp.address();
                attempt.tcp.close();
                try (EchoServer rdma = attempt.ends.rdmaServer(address)) {
                    attempt.address = rdma.address();
                    Channel channel = TestTimeouts.sync(attempt.connect()).getNow();
                    assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
                    TestTimeouts.sync(channel.close());
                }
            }
        },
        /** The bootstrap has no rule. */
        RULE(RdmaOrTcpFallbackReason.RULE, false) {
            @Override
            boolean isOf(Client client) {
                return client == Client.CHANNEL;
            }

            @Override
            void run(Attempt attempt) throws Exception {
                attempt.option(RdmaOrTcpChannelOption.TRANSPORT_RULE, RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY));
                try (EchoServer rdma = attempt.ends.rdmaServer(attempt.tcp.address())) {
                    attempt.address = rdma.address();
                    attempt.fallsBack();
                }
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
                    Future<Channel> connecting = attempt.connect();
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
                    Future<Channel> connecting = attempt.connect();
                    silent.awaitRequest();
                    TestTimeouts.shutdown(attempt.group);
                    attempt.failsWithoutTcp(connecting, ClosedChannelException.class);
                } finally {
                    TestTimeouts.shutdown(attempt.group);
                }
            }
        },
        /** That of the channel class is called before it connects, as with any bootstrap. */
        HANDLER_THROWS(null, false) {
            @Override
            boolean isOf(Client client) {
                return client == Client.BOOTSTRAP;
            }

            @Override
            void run(Attempt attempt) throws Exception {
                attempt.throwing = true;
                try (EchoServer rdma = attempt.ends.rdmaServer(attempt.tcp.address())) {
                    attempt.address = rdma.address();
                    attempt.failsWithoutTcp(attempt.connect(), ClosedChannelException.class);
                }
            }
        };

        /** {@code null} if TCP is not tried. */
        final RdmaOrTcpFallbackReason reason;
        final boolean remembered;

        Row(RdmaOrTcpFallbackReason reason, boolean remembered) {
            this.reason = reason;
            this.remembered = remembered;
        }

        boolean isOf(Client client) {
            return true;
        }

        abstract void run(Attempt attempt) throws Exception;
    }

    /** Who connects. */
    enum Client {
        BOOTSTRAP {
            @Override
            Future<Channel> connect(Attempt attempt) {
                RdmaOrTcpBootstrap bootstrap = attempt.ends.bootstrap().clone(attempt.group).failures(attempt.failures)
                        .rdmaConnectTimeout(Duration.ofMillis(attempt.rdmaMillis));
                if (attempt.option != null) {
                    bootstrap.option(attempt.option, attempt.value);
                }
                if (attempt.throwing) {
                    bootstrap.handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel ch) {
                            throw new IllegalStateException("expected in this test");
                        }
                    });
                }
                return bootstrap.connect(attempt.address);
            }
        },
        CHANNEL {
            @Override
            Future<Channel> connect(Attempt attempt) {
                Bootstrap bootstrap = new Bootstrap().group(attempt.group).channel(RdmaOrTcpSocketChannel.class)
                        .handler(new RdmaOrTcpEnds.Nothing()).option(RdmaOrTcpChannelOption.FAILURES, attempt.failures)
                        .option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS, attempt.rdmaMillis);
                if (attempt.option != null) {
                    bootstrap.option(attempt.option, attempt.value);
                }
                ChannelFuture connecting = bootstrap.connect(attempt.address);
                Promise<Channel> promise = GlobalEventExecutor.INSTANCE.newPromise();
                promise.addListener(done -> {
                    if (done.isCancelled()) {
                        connecting.cancel(false);
                    }
                });
                connecting.addListener(done -> {
                    if (done.isSuccess()) {
                        promise.trySuccess(connecting.channel());
                    } else {
                        promise.tryFailure(done.cause());
                    }
                });
                return promise;
            }
        };

        abstract Future<Channel> connect(Attempt attempt);
    }

    /** What a row sets up, and expects. */
    static final class Attempt {
        final RdmaOrTcpEnds ends;
        final Client client;
        final EchoServer tcp;
        final RdmaOrTcpFailures failures = new RdmaOrTcpFailures(4);
        /** Before. */
        final Map<RdmaOrTcpFallbackReason, Long> fallbacks = Stream.of(RdmaOrTcpFallbackReason.values())
                .collect(Collectors.toMap(Function.identity(), RdmaOrTcpMetrics.total()::fallbacks));
        RdmaOrTcpFallbackReason expected;
        InetSocketAddress address;
        EventLoopGroup group;
        int rdmaMillis = (int) Duration.ofSeconds(TestTimeouts.SECONDS).toMillis();
        boolean throwing;
        private ChannelOption<Object> option;
        private Object value;

        Attempt(Client client, Row row, RdmaOrTcpEnds ends, EchoServer tcp, EventLoopGroup group) {
            this.client = client;
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

        Future<Channel> connect() {
            return client.connect(this);
        }

        void fallsBack() throws InterruptedException {
            fallsBack(connect());
        }

        void fallsBack(Future<Channel> connecting) throws InterruptedException {
            Channel channel = TestTimeouts.sync(connecting).getNow();
            RdmaOrTcpEnds.assertFallback(channel, expected);
            assertThat(RdmaOrTcpMetrics.total().fallbacks(expected) - fallbacks.get(expected)).isOne();
            TestTimeouts.sync(EchoClient.exchange(channel));
            TestTimeouts.sync(channel.close());
        }

        void failsWithoutTcp(Future<Channel> connecting, Class<? extends Throwable> cause) throws InterruptedException {
            assertThat(TestTimeouts.await(connecting).cause()).isInstanceOf(cause);
            ends.assertUntouched(tcp);
        }
    }

    static Stream<Arguments> rowsOfClients() {
        return Stream.of(Client.values()).flatMap(client -> Stream.of(Row.values()).filter(row -> row.isOf(client))
                .map(row -> Arguments.of(client, row)));
    }

    @ParameterizedTest
    @MethodSource("rowsOfClients")
    void tableIsTrue(Client client, Row row) throws Exception {
        RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            Attempt attempt = new Attempt(client, row, ends, tcp, LOOPS.group());
            row.run(attempt);
            assertThat(attempt.failures.size()).as("remembered").isEqualTo(row.remembered ? 1 : 0);
        }
    }

    @Test
    void eachReasonHasARow() {
        assertThat(Stream.of(Row.values()).filter(row -> row.reason != null).map(row -> row.reason))
                .containsExactlyInAnyOrder(RdmaOrTcpFallbackReason.values());
    }
}
