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

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Recorder of a server's calls. The client's {@link #ECHO_HEADER} comes back as a header and as a trailer.
 */
final class CallRecorder implements ServerInterceptor {
    static final Metadata.Key<String> ECHO_HEADER = Metadata.Key.of("x-echo", Metadata.ASCII_STRING_MARSHALLER);
    static final Metadata.Key<byte[]> ECHO_HEADER_BINARY =
            Metadata.Key.of("x-echo-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /** Names of methods whose call the client gave up. */
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();
    /** Names of methods whose call has no room for more. */
    final BlockingQueue<String> full = new LinkedBlockingQueue<>();
    /** Names of methods that were called. */
    final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    final AtomicInteger open = new AtomicInteger();
    final AtomicInteger messagesSent = new AtomicInteger();

    @Override
    public <I, O> ServerCall.Listener<I> interceptCall(ServerCall<I, O> call, Metadata headers,
                                                       ServerCallHandler<I, O> next) {
        open.incrementAndGet();
        String name = call.getMethodDescriptor().getBareMethodName();
        begun.add(name);
        ServerCall<I, O> recorded = new SimpleForwardingServerCall<>(call) {
            @Override
            public void sendHeaders(Metadata answer) {
                echo(headers, answer);
                super.sendHeaders(answer);
            }

            @Override
            public void sendMessage(O message) {
                super.sendMessage(message);
                messagesSent.incrementAndGet();
                if (!isReady()) {
                    full.add(name);
                }
            }

            @Override
            public void close(Status status, Metadata trailers) {
                echo(headers, trailers);
                super.close(status, trailers);
            }
        };
        return new SimpleForwardingServerCallListener<>(next.startCall(recorded, headers)) {
            @Override
            public void onCancel() {
                super.onCancel();
                open.decrementAndGet();
                cancelled.add(name);
            }

            @Override
            public void onComplete() {
                super.onComplete();
                open.decrementAndGet();
            }
        };
    }

    private static void echo(Metadata from, Metadata to) {
        if (from.containsKey(ECHO_HEADER)) {
            to.put(ECHO_HEADER, from.get(ECHO_HEADER));
        }
        if (from.containsKey(ECHO_HEADER_BINARY)) {
            to.put(ECHO_HEADER_BINARY, from.get(ECHO_HEADER_BINARY));
        }
    }
}
