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

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.netty.channel.rdma.TestTimeouts;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A client's end of a call: checks payloads as they come, and knows how it ended.
 */
final class Received<I, O> implements ClientResponseObserver<I, O> {
    private final boolean slow;
    private final Consumer<O> check;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    final AtomicLong messages = new AtomicLong();
    volatile ClientCallStreamObserver<I> call;

    /**
     * @param slow  whether messages are to be requested by the test
     * @param check throws at a message that is wrong
     */
    Received(boolean slow, Consumer<O> check) {
        this.slow = slow;
        this.check = check;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<I> call) {
        this.call = call;
        if (slow) {
            call.disableAutoRequestWithInitial(0);
        }
    }

    @Override
    public void onNext(O message) {
        try {
            check.accept(message);
        } catch (Throwable wrong) {
            end.completeExceptionally(wrong);
        }
        messages.incrementAndGet();
    }

    @Override
    public void onError(Throwable cause) {
        end.completeExceptionally(cause);
    }

    @Override
    public void onCompleted() {
        end.complete(null);
    }

    void awaitEnd() throws Exception {
        TestTimeouts.result(end);
    }

    CompletableFuture<Void> end() {
        return end;
    }
}
