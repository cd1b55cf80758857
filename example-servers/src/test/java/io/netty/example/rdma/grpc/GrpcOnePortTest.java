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
package io.netty.example.rdma.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * One server, clients of both worlds.
 */
@Tag("platforms")
@Timeout(120)
class GrpcOnePortTest {
    private static final Payload PAYLOAD = Payloads.of(3, 200_000);

    @Test
    void clientsOfRdmaAndTcpAreServedAtTheSamePortAtOnce() throws Exception {
        try (GrpcPair pair = new GrpcPair(Transport.RDMA)) {
            List<ManagedChannel> channels = new ArrayList<>();
            List<Received<UnaryRequest, Payload>> all = new ArrayList<>();
            try {
                for (int i = 0; i < 5; i++) {
                    channels.add(pair.newChannel(Transport.RDMA, null));
                    channels.add(pair.newChannel(Transport.EPOLL, null));
                    // As a client that knows nothing of RDMA has it: gRPC's own event loops and channels.
                    channels.add(NettyChannelBuilder.forAddress(pair.server.address())
                            .usePlaintext().build());
                }
                for (int i = 0; i < 20; i++) {
                    for (ManagedChannel channel : channels) {
                        Received<UnaryRequest, Payload> received =
                                new Received<>(false, answer -> assertThat(answer).isEqualTo(PAYLOAD));
                        all.add(received);
                        EchoGrpc.newStub(channel).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS)
                                .unary(UnaryRequest.newBuilder().setPayload(PAYLOAD).build(), received);
                    }
                }
                for (Received<UnaryRequest, Payload> received : all) {
                    received.awaitEnd();
                    assertThat(received.messages.get()).isOne();
                }
            } finally {
                for (ManagedChannel channel : channels) {
                    GrpcPair.close(channel);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void clientTakesTheTransportThatLeadsToItsServer(Transport serverTransport) throws Exception {
        EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        try (GrpcPair pair = new GrpcPair(serverTransport)) {
            ManagedChannel channel =
                    GrpcClient.newChannel(ClientTransport.AUTO, group, pair.server.address(), null).build();
            RdmaOrTcpTransport transport = serverTransport == Transport.RDMA ? RdmaOrTcpTransport.RDMA :
                    RdmaOrTcpTransport.TCP;
            long before = RdmaOrTcpMetrics.total().connects(transport);
            try {
                assertThat(EchoGrpc.newBlockingStub(channel).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS)
                        .unary(UnaryRequest.newBuilder().setPayload(PAYLOAD).build())).isEqualTo(PAYLOAD);
                assertThat(RdmaOrTcpMetrics.total().connects(transport)).isEqualTo(before + 1);
            } finally {
                GrpcPair.close(channel);
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void bytesOfCallsOverTcpDoNotGoOverRdma() throws Exception {
        try (GrpcPair pair = new GrpcPair(Transport.RDMA)) {
            ManagedChannel tcp = NettyChannelBuilder.forAddress(pair.server.address())
                    .usePlaintext().build();
            try {
                long before = sent();
                UnaryRequest request = UnaryRequest.newBuilder().setPayload(PAYLOAD).build();
                assertThat(EchoGrpc.newBlockingStub(tcp).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS)
                        .unary(request)).isEqualTo(PAYLOAD);
                assertThat(sent()).isEqualTo(before);
                assertThat(pair.blocking().unary(request)).isEqualTo(PAYLOAD);
                assertThat(sent() - before)
                        .isGreaterThanOrEqualTo(2L * PAYLOAD.getBytes().size());
            } finally {
                GrpcPair.close(tcp);
            }
        }
    }

    @Test
    void messagesAreSentFromWhereTheyWereMade() throws Exception {
        try (GrpcPair pair = new GrpcPair(Transport.RDMA)) {
            UnaryRequest request = UnaryRequest.newBuilder().setPayload(PAYLOAD).build();
            pair.blocking().unary(request);
            long before = RdmaMetrics.total().bytesSentInPlace();
            pair.blocking().unary(request);
            // Both ends are in this process. Headers of frames are small, and may be copied. The server knows of the
            // end of its answer's sending after the client has it.
            TestTimeouts.awaitTrue(() -> RdmaMetrics.total().bytesSentInPlace() - before
                    > 2L * PAYLOAD.getBytes().size() * 9 / 10);
        }
    }

    @Test
    void portThatIsTakenForRdmaIsNotTakenForTcp() throws Exception {
        EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        try {
            Channel other = new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(GrpcPair.HOST, 0).sync().channel();
            InetSocketAddress address = (InetSocketAddress) other.localAddress();
            assertThatThrownBy(() -> GrpcServer.start(Transport.RDMA, RdmaOrTcpChoice.RDMA_AND_TCP, group, address,
                    b -> { }))
                    .isInstanceOf(IOException.class).hasCauseInstanceOf(BindException.class);
            // Free again.
            new ServerBootstrap().group(group).channel(Transport.EPOLL.serverChannelType())
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(address).sync().channel().close().sync();
            TestTimeouts.sync(other.close());
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    private static long sent() {
        RdmaMetrics all = RdmaMetrics.total();
        return all.bytesSentInPlace() + all.bytesSentInline() + all.bytesSentCopied();
    }
}
