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
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.handler.ssl.SslContext;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A server of {@link EchoService} and a client, on one transport.
 */
final class GrpcPair implements AutoCloseable {
    /** A kernel device has no loopback address. */
    static final String HOST = TestAddress.HOST;
    /** Limit for 4 MiB and their wrapping. */
    static final int MAX_MESSAGE_BYTES = 5 << 20;

    final CallRecorder calls = new CallRecorder();
    final EventLoopGroup group;
    final GrpcServer server;
    final ManagedChannel channel;

    GrpcPair(Transport transport) throws IOException {
        this(transport, null, null);
    }

    GrpcPair(Transport transport, SslContext serverTls, SslContext clientTls) throws IOException {
        group = transport.newGroup(2, Waiting.DEFAULT);
        server = GrpcServer.start(transport, RdmaOrTcpChoice.RDMA_AND_TCP, group, new InetSocketAddress(HOST, 0),
                builder -> {
            builder.addService(new EchoService(group)).intercept(calls).directExecutor()
                    .maxInboundMessageSize(MAX_MESSAGE_BYTES);
            if (serverTls != null) {
                builder.sslContext(serverTls);
            }
        });
        channel = newChannel(transport, clientTls);
    }

    ManagedChannel newChannel(Transport transport, SslContext tls) {
        return GrpcClient.newChannel(ClientTransport.valueOf(transport.name()), group, server.address(), tls)
                .maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
    }

    EchoGrpc.EchoBlockingStub blocking() {
        return EchoGrpc.newBlockingStub(channel).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    EchoGrpc.EchoStub async() {
        return EchoGrpc.newStub(channel).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    static void close(ManagedChannel channel) throws InterruptedException {
        channel.shutdownNow();
        if (!channel.awaitTermination(TestTimeouts.SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the client does not end");
        }
    }

    @Override
    public void close() {
        try {
            close(channel);
            TestTimeouts.awaitTrue(() -> calls.open.get() == 0);
            server.shutdown(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            TestTimeouts.shutdown(group);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
