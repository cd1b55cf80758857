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
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.grpc.proto.DownloadRequest;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.ServerProcess;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Servers that are not there, that go, and that die.
 */
@Timeout(120)
class GrpcEndsTest {
    private static final int MIB = 1 << 20;

    @ParameterizedTest
    @EachTransport
    void nobodyListeningIsUnavailable(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            pair.server.shutdown(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            assertThatThrownBy(() -> pair.blocking().unary(UnaryRequest.getDefaultInstance()))
                    .satisfies(GrpcEndsTest::isUnavailable)
                    .hasStackTraceContaining("Connection refused");
        }
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void shutdownLetsCallsEndAndTakesNoMore(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            Received<Payload, Payload> received = new Received<>(false, payload -> { });
            StreamObserver<Payload> requests = pair.async().exchange(received);
            requests.onNext(Payloads.of(0, MIB));
            TestTimeouts.awaitTrue(() -> received.messages.get() == 1);

            CompletableFuture<Void> shutdown = CompletableFuture.runAsync(() -> {
                try {
                    pair.server.shutdown(TestTimeouts.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            // A call is sent on the connection that goes away, or finds nobody listening on a new one.
            TestTimeouts.awaitTrue(() -> isRefused(pair));
            assertThat(shutdown).isNotDone();
            requests.onCompleted();
            received.awaitEnd();
            assertThat(received.messages.get()).isOne();
            TestTimeouts.result(shutdown);
        }
    }

    @ParameterizedTest
    @EachTransport
    void callsThatDoNotEndInTimeAreCancelled(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            Received<Payload, Payload> received = new Received<>(false, payload -> { });
            pair.async().exchange(received).onNext(Payloads.of(0, MIB));
            TestTimeouts.awaitTrue(() -> received.messages.get() == 1);
            pair.server.shutdown(1, TimeUnit.MILLISECONDS);
            assertThatThrownBy(received::awaitEnd).isInstanceOf(ExecutionException.class);
        }
    }

    @ParameterizedTest
    @EachTransport
    void serverThatIsKilledMidResponseIsUnavailable(Transport transport) throws Exception {
        EventLoopGroup group = transport.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(GrpcServerCommand.class, transport, GrpcPair.HOST)) {
            ManagedChannel channel = GrpcClient.newChannel(ClientTransport.valueOf(transport.name()), group,
                    server.address(), null).build();
            try {
                Received<DownloadRequest, Payload> download = new Received<>(false, payload -> { });
                EchoGrpc.newStub(channel).download(
                        DownloadRequest.newBuilder().setMessages(1_000_000).setMessageBytes(MIB).build(), download);
                TestTimeouts.awaitTrue(() -> download.messages.get() >= 3);
                server.kill();
                assertThatThrownBy(download::awaitEnd).satisfies(GrpcEndsTest::isUnavailable);
            } finally {
                GrpcPair.close(channel);
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    private static boolean isRefused(GrpcPair pair) {
        try {
            pair.blocking().unary(UnaryRequest.getDefaultInstance());
            return false;
        } catch (RuntimeException e) {
            isUnavailable(e);
            return true;
        }
    }

    private static void isUnavailable(Throwable failure) {
        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    }
}
