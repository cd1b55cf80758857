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
package io.netty.microbench.rdma.load;

import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.grpc.GrpcClientCommand;
import io.netty.example.rdma.grpc.Payloads;
import io.netty.example.rdma.grpc.proto.DownloadRequest;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.List;

/**
 * The measuring client of the grpc example. Its calls are answered on the event loop ({@code directExecutor()}).
 */
@Command(name = "grpc-load", description = "Measures the gRPC service of echo.proto and checks every answer.")
public final class GrpcLoad extends LoadClient {
    private static final int SMALL = 100;
    private static final int CALLS = 64;
    private static final int LARGE = 4 << 20;
    private static final int MESSAGES = 64;
    private static final int MESSAGE = 1 << 20;

    private GrpcLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new GrpcLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        ManagedChannel channel = GrpcClientCommand.connect(options, group).directExecutor().build();
        EchoGrpc.EchoStub stub = EchoGrpc.newStub(channel);
        EventExecutor executor = group.next();
        Payload small = Payloads.of(1, SMALL);
        Payload large = Payloads.of(2, LARGE);
        Exchange exchange = new Exchange(executor, stub);
        return List.of(
                Scenario.oneByOne("unary, 100 B", () -> unary(executor, stub, small)),
                new Scenario("unary, 100 B, " + CALLS + " calls", CALLS, 0, () -> unary(executor, stub, small)),
                Scenario.oneByOne("message of an exchange, 100 B", () -> exchange.send(small)),
                Scenario.transfer("unary, 4 MiB", LARGE, () -> unary(executor, stub, large)),
                Scenario.transfer("download of 64 x 1 MiB", (long) MESSAGES * MESSAGE, () -> download(executor, stub)));
    }

    private static Future<?> unary(EventExecutor executor, EchoGrpc.EchoStub stub, Payload payload) {
        Answers answers = new Answers(executor, payload, 1);
        stub.unary(UnaryRequest.newBuilder().setPayload(payload).build(), answers);
        return answers.end;
    }

    private static Future<?> download(EventExecutor executor, EchoGrpc.EchoStub stub) {
        Answers answers = new Answers(executor, null, MESSAGES);
        stub.download(DownloadRequest.newBuilder().setMessages(MESSAGES).setMessageBytes(MESSAGE).build(), answers);
        return answers.end;
    }

    /** The answers to one call. */
    private static final class Answers implements StreamObserver<Payload> {
        private final Payload expected;
        private final int expectedCount;
        private final Promise<Void> end;
        private int count;

        /** @param expected {@code null} for payloads that are checked by their position */
        Answers(EventExecutor executor, Payload expected, int expectedCount) {
            this.expected = expected;
            this.expectedCount = expectedCount;
            end = executor.newPromise();
        }

        @Override
        public void onNext(Payload payload) {
            boolean right = expected != null ? payload.equals(expected)
                    : payload.getPosition() == (long) count * MESSAGE && payload.getBytes().size() == MESSAGE
                            && Payloads.isRight(payload);
            if (!right) {
                end.tryFailure(new IOException("message " + count + " is wrong"));
            }
            count++;
        }

        @Override
        public void onError(Throwable cause) {
            end.tryFailure(cause);
        }

        @Override
        public void onCompleted() {
            if (count == expectedCount) {
                end.trySuccess(null);
            } else {
                end.tryFailure(new IOException(count + " messages instead of " + expectedCount));
            }
        }
    }

    /** A call that stays open, with one message in flight. */
    private static final class Exchange implements StreamObserver<Payload> {
        private final EventExecutor executor;
        private final StreamObserver<Payload> requests;
        private Payload expected;
        private Promise<Void> answered;

        Exchange(EventExecutor executor, EchoGrpc.EchoStub stub) {
            this.executor = executor;
            requests = stub.exchange(this);
        }

        Future<?> send(Payload payload) {
            expected = payload;
            answered = executor.newPromise();
            Promise<Void> promise = answered;
            requests.onNext(payload);
            return promise;
        }

        @Override
        public void onNext(Payload payload) {
            if (payload.equals(expected)) {
                answered.trySuccess(null);
            } else {
                answered.tryFailure(new IOException("the answer differs from the message"));
            }
        }

        @Override
        public void onError(Throwable cause) {
            if (answered != null) {
                answered.tryFailure(cause);
            }
        }

        @Override
        public void onCompleted() {
            onError(new IOException("the server ended the call"));
        }
    }
}
