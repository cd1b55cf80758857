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
package consumer;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.rdma.grpc.RdmaGrpc;

import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A gRPC server over RDMA. */
public final class Grpc {
    private Grpc() {
    }

    public static void main(String[] args) throws Exception {
        try (RdmaGrpc rdma = RdmaGrpc.create()) {
            Server server = rdma.configure(NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)))
                    .addService(new HealthStatusManager().getHealthService()).build().start();
            ManagedChannel channel = rdma.configure(NettyChannelBuilder.forAddress("127.0.0.1", server.getPort()))
                    .usePlaintext().build();
            Answer.print(HealthGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS)
                    .check(HealthCheckRequest.getDefaultInstance()).getStatus().toString());
            channel.shutdown().awaitTermination(30, TimeUnit.SECONDS);
            server.shutdown().awaitTermination(30, TimeUnit.SECONDS);
        }
    }
}
