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
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.grpc.proto.DownloadRequest;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Makes calls of some kinds. The exit status is 0 if each call ended as expected.
 */
@Command(name = "grpc-client", description = "Calls the gRPC service of echo.proto, and checks what comes back.")
public final class GrpcClientCommand implements Callable<Integer> {
    private static final int DEADLINE_SECONDS = 30;
    private static final int DOWNLOADED_MESSAGES = 16;

    @Mixin
    private ClientOptions options;

    @Option(names = "--bytes", defaultValue = "4194304", description = "Payload of a message (default: 4 MiB).")
    private int bytes;

    public static void main(String[] args) {
        System.exit(Commands.run(new GrpcClientCommand(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        ManagedChannel channel = connect(options, group).build();
        try {
            EchoGrpc.EchoBlockingStub stub = EchoGrpc.newBlockingStub(channel);
            unary(stub);
            download(stub);
            deadline(stub);
            return 0;
        } finally {
            channel.shutdownNow().awaitTermination(DEADLINE_SECONDS, TimeUnit.SECONDS);
            Commands.shutdown(group);
        }
    }

    /** Returns a channel as the options say. */
    public static NettyChannelBuilder connect(ClientOptions options, EventLoopGroup group) throws IOException {
        SslContextBuilder tls = options.sslContext();
        SslContext ssl = tls == null ? null : GrpcSslContexts.configure(tls, options.tlsProvider()).build();
        InetSocketAddress server = new InetSocketAddress(options.host(), options.port());
        return GrpcClient.newChannel(options.transport(), group, server, ssl)
                .maxInboundMessageSize(Payloads.MAX_MESSAGE_BYTES);
    }

    private void unary(EchoGrpc.EchoBlockingStub stub) throws IOException {
        Payload payload = Payloads.of(0, bytes);
        UnaryRequest request = UnaryRequest.newBuilder().setPayload(payload).build();
        long start = System.nanoTime();
        if (!stub.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS).unary(request).equals(payload)) {
            throw new IOException("the answer differs from the request");
        }
        System.out.printf("unary: %,d bytes there and back in %.1f ms, equal (%s)%n", bytes,
                (System.nanoTime() - start) / 1e6, options);
    }

    private void download(EchoGrpc.EchoBlockingStub stub) throws IOException {
        Iterator<Payload> payloads = stub.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS).download(
                DownloadRequest.newBuilder().setMessages(DOWNLOADED_MESSAGES).setMessageBytes(bytes).build());
        int received = 0;
        for (; payloads.hasNext(); received++) {
            Payload payload = payloads.next();
            if (payload.getPosition() != (long) received * bytes || payload.getBytes().size() != bytes
                    || !Payloads.isRight(payload)) {
                throw new IOException("message " + received + " is wrong");
            }
        }
        if (received != DOWNLOADED_MESSAGES) {
            throw new IOException(received + " messages instead of " + DOWNLOADED_MESSAGES);
        }
        System.out.printf("server streaming: %d messages, all of them right%n", received);
    }

    private static void deadline(EchoGrpc.EchoBlockingStub stub) throws IOException {
        try {
            stub.withDeadlineAfter(100, TimeUnit.MILLISECONDS)
                    .unary(UnaryRequest.newBuilder().setDelayMillis(10_000).build());
            throw new IOException("an answer after the deadline");
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() != Status.Code.DEADLINE_EXCEEDED) {
                throw e;
            }
            System.out.println("deadline: " + e.getStatus().getCode());
        }
    }
}
