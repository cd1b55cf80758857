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
package unmodified;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** gRPC's own server and client, with messages of bytes. */
public final class Grpc {
    private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<byte[]>() {
        @Override
        public InputStream stream(byte[] bytes) {
            return new ByteArrayInputStream(bytes);
        }

        @Override
        public byte[] parse(InputStream in) {
            try {
                return in.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.<byte[], byte[]>newBuilder()
            .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("test/echo").setRequestMarshaller(BYTES)
            .setResponseMarshaller(BYTES).build();

    private Grpc() { }

    public static void main(String... args) throws Exception {
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(ServerServiceDefinition.builder("test").addMethod(ECHO,
                        ServerCalls.asyncUnaryCall((request, observer) -> {
                            observer.onNext(request);
                            observer.onCompleted();
                        })).build()).build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()).usePlaintext().build();
        byte[] bytes = new byte[1024 * 1024];
        for (int i = 0; i < 20; i++) {
            Arrays.fill(bytes, (byte) i);
            System.out.println("equal: " + Arrays.equals(bytes, ClientCalls.blockingUnaryCall(channel, ECHO,
                    CallOptions.DEFAULT, bytes)));
        }
        channel.shutdown();
        System.out.println("client ended: " + channel.awaitTermination(Ends.SECONDS, TimeUnit.SECONDS));
        server.shutdown();
        System.out.println("server ended: " + server.awaitTermination(Ends.SECONDS, TimeUnit.SECONDS));
    }
}
