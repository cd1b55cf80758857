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

import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import io.netty.example.rdma.grpc.proto.Payload;

/**
 * One call of {@code Exchange}: answers each payload, and asks for the next one only when the answer has found room.
 */
final class EchoExchange implements StreamObserver<Payload> {
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
        // Nobody is left to answer.
    }

    @Override
    public void onCompleted() {
        call.onCompleted();
    }
}
