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
package io.netty.channel.rdma.grpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.KnownLength;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.netty.channel.Channel;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers of a service that answers with what it was sent, and clients. They end before their event loops.
 */
final class EchoEnds implements AutoCloseable {
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
            .setType(MethodType.UNARY).setFullMethodName(MethodDescriptor.generateFullMethodName("Test", "Echo"))
            .build();
    /** Limit for 4 MiB and their wrapping. */
    static final int MAX_MESSAGE_BYTES = 5 << 20;

    /** Attributes of the last call's connection, at the server and at the client. */
    final AtomicReference<Attributes> atServer = new AtomicReference<>();
    final AtomicReference<Attributes> atClient = new AtomicReference<>();
    private final List<Server> servers = new ArrayList<>();
    private final List<ManagedChannel> channels = new ArrayList<>();

    static NettyServerBuilder newServer() {
        return NettyServerBuilder.forAddress(new InetSocketAddress(TestAddress.HOST, 0));
    }

    static NettyChannelBuilder newChannel(Server server) {
        return NettyChannelBuilder.forAddress(TestAddress.HOST, server.getPort());
    }

    Server start(NettyServerBuilder builder) throws IOException {
        return start(builder, new AtomicInteger());
    }

    Server start(NettyServerBuilder builder, AtomicInteger calls) throws IOException {
        ServerCallHandler<byte[], byte[]> echo = ServerCalls.asyncUnaryCall((request, answers) -> {
            calls.incrementAndGet();
            answers.onNext(request);
            answers.onCompleted();
        });
        Server server = builder.maxInboundMessageSize(MAX_MESSAGE_BYTES)
                .addService(ServerServiceDefinition.builder("Test").addMethod(ECHO, (call, headers) -> {
                    atServer.set(call.getAttributes());
                    return echo.startCall(call, headers);
                }).build())
                .build().start();
        servers.add(server);
        return server;
    }

    ManagedChannel open(NettyChannelBuilder builder) {
        ManagedChannel channel = builder.maxInboundMessageSize(MAX_MESSAGE_BYTES).build();
        channels.add(channel);
        return channel;
    }

    /** A server and a channel to it, without TLS. */
    ManagedChannel open(RdmaGrpc rdma) throws IOException {
        return open(rdma.configure(newChannel(start(rdma.configure(newServer())))).usePlaintext());
    }

    byte[] call(ManagedChannel channel, byte[] request) {
        ClientCall<byte[], byte[]> call = channel.newCall(ECHO,
                CallOptions.DEFAULT.withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS));
        List<byte[]> answers = new ArrayList<>();
        // The iterator waits for each answer, and the call has its connection then.
        ClientCalls.blockingServerStreamingCall(call, request).forEachRemaining(answer -> {
            atClient.set(call.getAttributes());
            answers.add(answer);
        });
        assertThat(answers).hasSize(1);
        return answers.get(0);
    }

    /** Calls, and compares the answer. */
    void check(ManagedChannel channel, int bytes) {
        byte[] request = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            request[i] = (byte) (i * 31 + bytes);
        }
        assertThat(call(channel, request)).isEqualTo(request);
    }

    /** Metrics of a call's connection, which is over RDMA. */
    static RdmaMetrics metrics(Attributes attributes) {
        Channel channel = RdmaGrpc.channel(attributes);
        return ((RdmaSocketChannel) (channel instanceof RdmaOrTcpSocketChannel
                ? ((RdmaOrTcpSocketChannel) channel).transportChannel() : channel)).metrics();
    }

    @Override
    public void close() {
        try {
            for (ManagedChannel channel : channels) {
                channel.shutdownNow();
                assertThat(channel.awaitTermination(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            for (Server server : servers) {
                server.shutdownNow();
                assertThat(server.awaitTermination(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new Message(message);
        }

        @Override
        public byte[] parse(InputStream message) {
            try {
                return message.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A message whose length gRPC asks for, so that it makes one buffer of that size, as with those of protobuf. */
    private static final class Message extends ByteArrayInputStream implements KnownLength {
        Message(byte[] bytes) {
            super(bytes);
        }
    }
}
