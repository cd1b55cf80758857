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

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.example.rdma.grpc.proto.DownloadRequest;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.grpc.proto.UploadSummary;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.Transport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Calls that go well, and calls that fail as they should.
 */
@Timeout(120)
class GrpcCallsTest {
    private static final int MIB = 1 << 20;
    private static final int MESSAGES = TestTimeouts.MULTIPLIER == 1 ? 40 : 10;
    private static final int CALLS = TestTimeouts.MULTIPLIER == 1 ? 500 : 200;
    private static final byte[] BINARY = Payloads.of(7, 3000).getBytes().toByteArray();

    @ParameterizedTest
    @EachTransport(tcp = true)
    void messagesOfEverySizeComeBackAsTheyWere(Transport transport) throws Exception {
        long accepts = RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA);
        try (GrpcPair pair = new GrpcPair(transport)) {
            for (int bytes : new int[] {0, 1, 100, 5_000, 70_000, MIB + 1, 4 * MIB}) {
                Payload payload = Payloads.of(bytes, bytes);
                assertThat(pair.blocking().unary(UnaryRequest.newBuilder().setPayload(payload).build()))
                        .isEqualTo(payload);
            }
        }
        assertThat(RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA) - accepts)
                .isEqualTo(transport == Transport.RDMA ? 1 : 0);
    }

    @ParameterizedTest
    @EachTransport
    void messageBeyondTheLimitIsRefusedAndTheConnectionGoesOn(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            UnaryRequest large = UnaryRequest.newBuilder()
                    .setPayload(Payloads.of(0, GrpcPair.MAX_MESSAGE_BYTES + 1)).build();
            assertThat(failure(() -> pair.blocking().unary(large)).getCode())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EachTransport
    void statusReachesTheClientWithItsDescription(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            Status status = failure(() -> pair.blocking().unary(UnaryRequest.newBuilder()
                    .setFailWith(Status.Code.FAILED_PRECONDITION.value()).setFailDescription("zu früh: 100 %")
                    .build()));
            assertThat(status.getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThat(status.getDescription()).isEqualTo("zu früh: 100 %");
            assertThat(failure(() -> pair.blocking().unary(UnaryRequest.newBuilder().setDelayMillis(-1).build()))
                    .getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        }
    }

    @ParameterizedTest
    @EachTransport
    void metadataTravelsBothWays(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            Metadata sent = new Metadata();
            sent.put(CallRecorder.ECHO_HEADER, "value");
            sent.put(CallRecorder.ECHO_HEADER_BINARY, BINARY);
            AtomicReference<Metadata> headers = new AtomicReference<>();
            AtomicReference<Metadata> trailers = new AtomicReference<>();
            pair.blocking().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(sent),
                    MetadataUtils.newCaptureMetadataInterceptor(headers, trailers))
                    .unary(UnaryRequest.getDefaultInstance());
            for (Metadata received : List.of(headers.get(), trailers.get())) {
                assertThat(received.get(CallRecorder.ECHO_HEADER)).isEqualTo("value");
                assertThat(received.get(CallRecorder.ECHO_HEADER_BINARY)).isEqualTo(BINARY);
            }
        }
    }

    @ParameterizedTest
    @EachTransport
    void downloadIsCompleteAndInOrder(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            long position = 0;
            var answers = pair.blocking().download(
                    DownloadRequest.newBuilder().setMessages(MESSAGES).setMessageBytes(MIB).build());
            while (answers.hasNext()) {
                Payload payload = answers.next();
                assertRight(payload, position);
                position += payload.getBytes().size();
            }
            assertThat(position).isEqualTo((long) MESSAGES * MIB);
        }
    }

    @ParameterizedTest
    @EachTransport
    void uploadIsComplete(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            AtomicReference<UploadSummary> summary = new AtomicReference<>();
            Received<Payload, UploadSummary> received = new Received<>(false, summary::set);
            send(pair.async().upload(received), received, MESSAGES, MIB);
            received.awaitEnd();
            assertThat(summary.get()).isEqualTo(
                    UploadSummary.newBuilder().setMessages(MESSAGES).setBytes((long) MESSAGES * MIB).build());
        }
    }

    @ParameterizedTest
    @EachTransport
    void exchangeAnswersEachMessage(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            AtomicLong position = new AtomicLong();
            Received<Payload, Payload> received = new Received<>(false, payload -> {
                assertRight(payload, position.get());
                position.addAndGet(payload.getBytes().size());
            });
            send(pair.async().exchange(received), received, CALLS, 20_000);
            received.awaitEnd();
            assertThat(position.get()).isEqualTo(CALLS * 20_000L);
        }
    }

    @ParameterizedTest
    @EachTransport
    void manyCallsAtOnceShareOneConnection(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            List<Received<UnaryRequest, Payload>> all = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                Payload payload = Payloads.of(i, 10_000 + i);
                Received<UnaryRequest, Payload> received =
                        new Received<>(false, answer -> assertThat(answer).isEqualTo(payload));
                all.add(received);
                // Late, so that most of them are under way at the same time.
                pair.async().unary(UnaryRequest.newBuilder().setPayload(payload).setDelayMillis(200).build(), received);
            }
            for (Received<UnaryRequest, Payload> received : all) {
                received.awaitEnd();
                assertThat(received.messages.get()).isOne();
            }
        }
    }

    @ParameterizedTest
    @EachTransport
    void deadlineEndsACallAtBothEnds(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            // The call makes the connection.
            assertWorks(pair);
            int begun = pair.calls.begun.size();
            // A server that has not heard of the call by then has nothing to end.
            for (int millis = 300; pair.calls.begun.size() == begun; millis *= 2) {
                int deadline = millis;
                assertThat(deadline).isLessThan(60_000);
                assertThat(failure(() -> pair.blocking().withDeadlineAfter(deadline, TimeUnit.MILLISECONDS)
                        .unary(UnaryRequest.newBuilder().setDelayMillis(60_000).build())).getCode())
                        .isEqualTo(Status.Code.DEADLINE_EXCEEDED);
            }
            assertThat(TestTimeouts.take(pair.calls.cancelled, "the server to see it")).isEqualTo("Unary");
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EachTransport
    void serverSeesThatACallIsCancelled(Transport transport) throws Exception {
        try (GrpcPair pair = new GrpcPair(transport)) {
            Received<Payload, Payload> exchange = new Received<>(false, payload -> { });
            StreamObserver<Payload> requests = pair.async().exchange(exchange);
            requests.onNext(Payloads.of(0, MIB));
            TestTimeouts.awaitTrue(() -> exchange.messages.get() == 1);
            Received<DownloadRequest, Payload> download = new Received<>(true, payload -> { });
            pair.async().download(
                    DownloadRequest.newBuilder().setMessages(1000).setMessageBytes(MIB).build(), download);
            // The answer of the exchange was more than there is room for as well.
            while (!TestTimeouts.take(pair.calls.full, "the download to be held up").equals("Download")) {
                continue;
            }

            exchange.call.cancel("no longer wanted", null);
            download.call.cancel("no longer wanted", null);
            assertThat(List.of(TestTimeouts.take(pair.calls.cancelled, "a cancelled call"),
                    TestTimeouts.take(pair.calls.cancelled, "another one")))
                    .containsExactlyInAnyOrder("Exchange", "Download");
            assertThat(failure(exchange::awaitEnd).getCode()).isEqualTo(Status.Code.CANCELLED);
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EachTransport
    void slowReaderHoldsTheServerBackAndNobodyElse(Transport transport) throws Exception {
        int messages = 64;
        try (GrpcPair pair = new GrpcPair(transport)) {
            AtomicLong position = new AtomicLong();
            Received<DownloadRequest, Payload> slow = new Received<>(true, payload -> {
                assertRight(payload, position.get());
                position.addAndGet(payload.getBytes().size());
            });
            pair.async().download(
                    DownloadRequest.newBuilder().setMessages(messages).setMessageBytes(MIB).build(), slow);
            TestTimeouts.take(pair.calls.full, "the download to be held up");
            // Each of these goes the whole way there and back behind whatever the download has sent.
            for (int i = 0; i < 50; i++) {
                pair.blocking().unary(UnaryRequest.newBuilder().setPayload(Payloads.of(i, 1000)).build());
            }
            // A window of the stream has at most 8 MiB, and one message did not fit any more.
            assertThat(pair.calls.messagesSent.get() - 50).isLessThan(16);
            assertThat(slow.messages.get()).isZero();
            slow.call.request(messages);
            slow.awaitEnd();
            assertThat(position.get()).isEqualTo((long) messages * MIB);
        }
    }

    private static void send(StreamObserver<Payload> requests, Received<Payload, ?> received, int messages, int bytes)
            throws InterruptedException {
        for (int i = 0; i < messages; i++) {
            TestTimeouts.awaitTrue(() -> received.call.isReady() || received.end().isDone());
            requests.onNext(Payloads.of((long) i * bytes, bytes));
        }
        requests.onCompleted();
    }

    private static void assertWorks(GrpcPair pair) {
        assertThat(pair.blocking().unary(UnaryRequest.getDefaultInstance())).isEqualTo(Payload.getDefaultInstance());
    }

    private static void assertRight(Payload payload, long position) {
        assertThat(payload.getPosition()).isEqualTo(position);
        assertThat(Payloads.isRight(payload)).isTrue();
    }

    private interface Call {
        void run() throws Exception;
    }

    private static Status failure(Call call) {
        Throwable failure = null;
        try {
            call.run();
        } catch (Throwable e) {
            failure = e;
        }
        assertThat(failure).isNotNull();
        return Status.fromThrowable(failure);
    }
}
