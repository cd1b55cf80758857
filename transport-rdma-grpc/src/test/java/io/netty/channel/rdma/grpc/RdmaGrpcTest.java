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
package io.netty.channel.rdma.grpc;

import io.grpc.Attributes;
import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusOr;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("oldest")
@Tag("quick")
@Timeout(120)
class RdmaGrpcTest {
    private static final int MIB = 1 << 20;

    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(2);

    @Test
    void callsGoOverRdmaAndBothEndsCanSeeIt() throws Exception {
        try (EchoEnds ends = new EchoEnds()) {
            ManagedChannel channel = ends.open(RdmaGrpc.of(loops.group()));
            for (int bytes : new int[] {0, 1, 100, 70_000, MIB, 4 * MIB}) {
                ends.check(channel, bytes);
            }
            for (Attributes attributes : List.of(ends.atServer.get(), ends.atClient.get())) {
                assertThat(RdmaGrpc.transport(attributes)).isEqualTo(RdmaOrTcpTransport.RDMA);
            }
            assertThat(RdmaGrpc.channel(ends.atServer.get())).isInstanceOf(RdmaSocketChannel.class);
            assertThat(RdmaGrpc.channel(ends.atClient.get())).isInstanceOf(RdmaOrTcpSocketChannel.class);
        }
    }

    @Test
    void messagesAreSentInPlace() throws Exception {
        try (EchoEnds ends = new EchoEnds()) {
            ManagedChannel channel = ends.open(RdmaGrpc.of(loops.group()));
            for (int i = 0; i < 16; i++) {
                ends.check(channel, MIB);
            }
            for (Attributes attributes : List.of(ends.atServer.get(), ends.atClient.get())) {
                RdmaMetrics metrics = EchoEnds.metrics(attributes);
                // The rest are headers of frames, which fit into the work requests or are copied together.
                assertThat(metrics.bytesSentInPlace()).as("%s", metrics).isGreaterThan(16L * MIB * 99 / 100);
                assertThat(metrics.bytesSentCopied()).as("%s", metrics).isLessThan(16L * MIB / 100);
            }
        }
    }

    @Test
    void allocatorOfTheApplicationIsRespected() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer()));
            ManagedChannel channel = ends.open(rdma.configure(EchoEnds.newChannel(server)).usePlaintext()
                    .withOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT));
            ends.check(channel, MIB);
            assertThat(allocator(ends.atClient.get())).isSameAs(PooledByteBufAllocator.DEFAULT);
            assertThat(allocator(ends.atServer.get())).isSameAs(RdmaByteBufAllocator.DEFAULT);
            assertThat(EchoEnds.metrics(ends.atClient.get()).bytesSentCopied()).isGreaterThanOrEqualTo(MIB);
        }
    }

    @Test
    void serversAndChannelsShareTheLoops() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            for (int i = 0; i < 3; i++) {
                ends.check(ends.open(rdma), 100);
                for (Attributes attributes : List.of(ends.atServer.get(), ends.atClient.get())) {
                    assertThat(RdmaGrpc.channel(attributes).eventLoop().parent()).isSameAs(loops.group());
                }
            }
        }
        rdma.close();
        assertThat(loops.group().isShuttingDown()).isFalse();
    }

    @Test
    void loopsOfItsOwnEndWithIt() throws Exception {
        Channel connection;
        try (RdmaGrpc rdma = RdmaGrpc.create()) {
            try (EchoEnds ends = new EchoEnds()) {
                ends.check(ends.open(rdma), 100);
                connection = RdmaGrpc.channel(ends.atClient.get());
            }
        }
        assertThat(connection.eventLoop().isTerminated()).isTrue();
    }

    @Test
    void connectionThatIsClosedIsForgotten() throws Exception {
        try (EchoEnds ends = new EchoEnds()) {
            ManagedChannel channel = ends.open(RdmaGrpc.of(loops.group()));
            ends.check(channel, 100);
            Attributes attributes = ends.atClient.get();
            Channel connection = RdmaGrpc.channel(attributes);
            channel.shutdownNow();
            TestTimeouts.sync(connection.closeFuture());
            TestTimeouts.awaitTrue(() -> RdmaGrpc.channel(attributes) == null);
            assertThat(RdmaGrpc.transport(attributes)).isNull();
        }
    }

    @Test
    void connectionThatItDidNotMakeHasNoTransport() throws Exception {
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(EchoEnds.newServer());
            ends.check(ends.open(EchoEnds.newChannel(server).usePlaintext()), 100);
            assertThat(RdmaGrpc.transport(ends.atServer.get())).isNull();
            assertThat(RdmaGrpc.transport(ends.atClient.get())).isNull();
        }
    }

    @Test
    void loadIsBalancedOverConnections() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            AtomicInteger first = new AtomicInteger();
            AtomicInteger second = new AtomicInteger();
            Server[] servers = {ends.start(rdma.configure(EchoEnds.newServer()), first),
                    ends.start(rdma.configure(EchoEnds.newServer()), second)};
            NameResolverProvider names = new FixedNames(List.of(
                    new EquivalentAddressGroup(new InetSocketAddress(TestAddress.HOST, servers[0].getPort())),
                    new EquivalentAddressGroup(new InetSocketAddress(TestAddress.HOST, servers[1].getPort()))));
            NameResolverRegistry.getDefaultRegistry().register(names);
            try {
                ManagedChannel channel = ends.open(rdma.configure(NettyChannelBuilder.forTarget("two:///servers"))
                        .defaultLoadBalancingPolicy("round_robin").usePlaintext());
                // Calls go to the server that is connected first until there is the other one, too.
                TestTimeouts.awaitTrue(() -> {
                    ends.check(channel, 100);
                    return first.get() > 0 && second.get() > 0;
                });
                assertThat(RdmaGrpc.transport(ends.atClient.get())).isEqualTo(RdmaOrTcpTransport.RDMA);
            } finally {
                NameResolverRegistry.getDefaultRegistry().deregister(names);
            }
        }
    }

    /** A channel has one connection, which it keeps: docs/connecting.md. */
    @Test
    void channelThatIsOnTcpIsOnRdmaWhenThatAnswers() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
        try (EchoEnds ends = new EchoEnds()) {
            Server tcp = ends.start(rdma.configure(EchoEnds.newServer(),
                    RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY)));
            ManagedChannel channel = ends.open(rdma.configure(EchoEnds.newChannel(tcp)).usePlaintext()
                    .withOption(RdmaOrTcpChannelOption.FAILURES, failures));
            failures.probe(Duration.ofMillis(20), address -> channel.enterIdle());
            ends.check(channel, 100);
            assertThat(RdmaGrpc.transport(ends.atClient.get())).isEqualTo(RdmaOrTcpTransport.TCP);
            ends.start(rdma.configure(NettyServerBuilder.forAddress(new InetSocketAddress(TestAddress.HOST,
                    tcp.getPort())), RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY)));
            TestTimeouts.awaitTrue(() -> {
                ends.check(channel, 100);
                return RdmaGrpc.transport(ends.atClient.get()) == RdmaOrTcpTransport.RDMA;
            });
        }
    }

    @Test
    void serverThatIsNotThereIsUnavailable() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer()));
            ManagedChannel channel = ends.open(rdma.configure(EchoEnds.newChannel(server)).usePlaintext());
            server.shutdownNow().awaitTermination(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            assertThatThrownBy(() -> ends.check(channel, 1))
                    .satisfies(RdmaGrpcTest::isUnavailable)
                    .hasStackTraceContaining("Connection refused");
        }
    }

    @Test
    void portThatIsTakenIsRefused() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer()));
            assertThatThrownBy(() -> ends.start(rdma.configure(NettyServerBuilder.forAddress(
                    new InetSocketAddress(TestAddress.HOST, server.getPort())))))
                    .hasCauseInstanceOf(BindException.class);
        }
    }

    @Test
    void clientsThatKnowNothingOfRdmaAreServedAtTheSamePort() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer()));
            ends.check(ends.open(EchoEnds.newChannel(server).usePlaintext()), MIB);
            assertThat(RdmaGrpc.transport(ends.atServer.get())).isEqualTo(RdmaOrTcpTransport.TCP);
            assertThat(allocator(ends.atServer.get())).isSameAs(ByteBufAllocator.DEFAULT);
            ends.check(ends.open(rdma.configure(EchoEnds.newChannel(server)).usePlaintext()), MIB);
            assertThat(RdmaGrpc.transport(ends.atServer.get())).isEqualTo(RdmaOrTcpTransport.RDMA);
        }
    }

    @Test
    void clientFallsBackToTcpAndSaysWhy() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(EchoEnds.newServer());
            ends.check(ends.open(rdma.configure(EchoEnds.newChannel(server)).usePlaintext()), MIB);
            assertThat(RdmaGrpc.transport(ends.atClient.get())).isEqualTo(RdmaOrTcpTransport.TCP);
            assertThat(RdmaGrpc.channel(ends.atClient.get()).attr(RdmaOrTcp.FALLBACK).get()).isNotNull();
            assertThat(allocator(ends.atClient.get())).isSameAs(ByteBufAllocator.DEFAULT);
        }
    }

    @Test
    void rdmaOnlyDoesNotFallBack() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(EchoEnds.newServer());
            ManagedChannel channel = ends.open(rdma.configure(EchoEnds.newChannel(server),
                    RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_ONLY)).usePlaintext());
            assertThatThrownBy(() -> ends.check(channel, 1)).satisfies(RdmaGrpcTest::isUnavailable);
        }
    }

    @Test
    void pathIsChosenByTheAddressOfTheServer() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server[] servers = {ends.start(rdma.configure(EchoEnds.newServer())),
                    ends.start(rdma.configure(EchoEnds.newServer()))};
            RdmaOrTcpRule rule = address -> address.getPort() == servers[0].getPort()
                    ? RdmaOrTcpChoice.TCP_ONLY : RdmaOrTcpChoice.RDMA_OR_TCP;
            ends.check(ends.open(rdma.configure(EchoEnds.newChannel(servers[0]), rule).usePlaintext()), 100);
            assertThat(RdmaGrpc.transport(ends.atClient.get())).isEqualTo(RdmaOrTcpTransport.TCP);
            ends.check(ends.open(rdma.configure(EchoEnds.newChannel(servers[1]), rule).usePlaintext()), 100);
            assertThat(RdmaGrpc.transport(ends.atClient.get())).isEqualTo(RdmaOrTcpTransport.RDMA);
        }
    }

    @Test
    void serverThatIsToldToListensForTcpAlone() throws Exception {
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer(),
                    RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY)));
            ends.check(ends.open(rdma.configure(EchoEnds.newChannel(server)).usePlaintext()), 100);
            assertThat(RdmaGrpc.transport(ends.atServer.get())).isEqualTo(RdmaOrTcpTransport.TCP);
        }
    }

    private static void isUnavailable(Throwable failure) {
        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }

    private static ByteBufAllocator allocator(Attributes attributes) {
        return RdmaGrpc.channel(attributes).alloc();
    }

    private static final class FixedNames extends NameResolverProvider {
        private final List<EquivalentAddressGroup> addresses;

        FixedNames(List<EquivalentAddressGroup> addresses) {
            this.addresses = addresses;
        }

        @Override
        protected boolean isAvailable() {
            return true;
        }

        @Override
        protected int priority() {
            return 5;
        }

        @Override
        public String getDefaultScheme() {
            return "two";
        }

        @Override
        public NameResolver newNameResolver(URI target, NameResolver.Args args) {
            if (!getDefaultScheme().equals(target.getScheme())) {
                return null;
            }
            return new NameResolver() {
                @Override
                public String getServiceAuthority() {
                    return "servers";
                }

                @Override
                public void start(Listener2 listener) {
                    listener.onResult(ResolutionResult.newBuilder()
                            .setAddressesOrError(StatusOr.fromValue(addresses)).build());
                }

                @Override
                public void shutdown() {
                    // Nothing to end.
                }
            };
        }
    }
}
