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

import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.example.rdma.grpc.proto.DownloadRequest;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.grpc.proto.UploadSummary;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The service. No method blocks, so it may run on the event loop ({@code directExecutor()}).
 */
public final class EchoService extends EchoGrpc.EchoImplBase {
    static final int MAX_PAYLOAD_BYTES = 8 << 20;
    private static final int MAX_DELAY_MILLIS = 60_000;

    private final ScheduledExecutorService timer;

    /** @param timer runs answers that a client wants delayed, for example the event loop group */
    public EchoService(ScheduledExecutorService timer) {
        this.timer = timer;
    }

    @Override
    public void unary(UnaryRequest request, StreamObserver<Payload> answers) {
        int delay = request.getDelayMillis();
        if (delay < 0 || delay > MAX_DELAY_MILLIS) {
            answers.onError(Status.INVALID_ARGUMENT
                    .withDescription("delay_millis " + delay + ", expected 0 to " + MAX_DELAY_MILLIS)
                    .asRuntimeException());
        } else if (delay == 0) {
            answer(request, answers);
        } else {
            Future<?> later = timer.schedule(() -> answer(request, answers), delay, TimeUnit.MILLISECONDS);
            // If a client gives up, or its deadline is over, the server does no more work for it.
            ((ServerCallStreamObserver<Payload>) answers).setOnCancelHandler(() -> later.cancel(false));
        }
    }

    private static void answer(UnaryRequest request, StreamObserver<Payload> answers) {
        if (request.getFailWith() != 0) {
            answers.onError(Status.fromCodeValue(request.getFailWith())
                    .withDescription(request.getFailDescription()).asRuntimeException());
        } else {
            answers.onNext(request.getPayload());
            answers.onCompleted();
        }
    }

    @Override
    public StreamObserver<Payload> upload(StreamObserver<UploadSummary> answers) {
        // gRPC asks for the next message when onNext returns, so clients can't overrun this service.
        return new StreamObserver<>() {
            private long messages;
            private long bytes;

            @Override
            public void onNext(Payload payload) {
                messages++;
                bytes += payload.getBytes().size();
            }

            @Override
            public void onError(Throwable cancelled) {
                // The client is gone, so there is no one to answer.
            }

            @Override
            public void onCompleted() {
                answers.onNext(UploadSummary.newBuilder().setMessages(messages).setBytes(bytes).build());
                answers.onCompleted();
            }
        };
    }

    @Override
    public void download(DownloadRequest request, StreamObserver<Payload> answers) {
        int bytes = request.getMessageBytes();
        if (bytes < 0 || bytes > MAX_PAYLOAD_BYTES || request.getMessages() < 0) {
            answers.onError(Status.INVALID_ARGUMENT.withDescription("messages " + request.getMessages()
                    + ", expected 0 or more; message_bytes " + bytes + ", expected 0 to " + MAX_PAYLOAD_BYTES)
                    .asRuntimeException());
            return;
        }
        Download download = new Download((ServerCallStreamObserver<Payload>) answers, request.getMessages(), bytes);
        download.call.setOnReadyHandler(download);
        // Without a handler, gRPC would throw at a method that writes to a call that is gone.
        download.call.setOnCancelHandler(() -> { });
    }

    @Override
    public StreamObserver<Payload> exchange(StreamObserver<Payload> answers) {
        return new EchoExchange((ServerCallStreamObserver<Payload>) answers);
    }

    /** Sends payloads as fast as the client takes them: gRPC calls this whenever there is room for more. */
    private static final class Download implements Runnable {
        private final ServerCallStreamObserver<Payload> call;
        private final long messages;
        private final int messageBytes;
        private long sent;

        Download(ServerCallStreamObserver<Payload> call, long messages, int messageBytes) {
            this.call = call;
            this.messages = messages;
            this.messageBytes = messageBytes;
        }

        @Override
        public void run() {
            while (sent < messages && call.isReady()) {
                long position = sent++ * messageBytes;
                call.onNext(Payloads.of(position, messageBytes));
                if (sent == messages) {
                    call.onCompleted();
                }
            }
        }
    }

    /**
     * One call of {@code Exchange}: answers each payload, and asks for the next one only when there is room for the
     * answer.
     */
    private static final class EchoExchange implements StreamObserver<Payload> {
        private final ServerCallStreamObserver<Payload> call;
        private boolean requested;

        EchoExchange(ServerCallStreamObserver<Payload> call) {
            this.call = call;
            call.disableAutoRequest();
            call.setOnReadyHandler(this::requestNext);
        }

        private void requestNext() {
            if (!requested && call.isReady()) {
                requested = true;
                call.request(1);
            }
        }

        @Override
        public void onNext(Payload payload) {
            requested = false;
            call.onNext(payload);
            requestNext();
        }

        @Override
        public void onError(Throwable cancelled) {
            // The client is gone, so there is no one to answer.
        }

        @Override
        public void onCompleted() {
            call.onCompleted();
        }
    }
}
