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

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.netty.channel.rdma.PageCode;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests of docs/grpc.md.
 */
@Tag("quick")
@Timeout(120)
class RdmaGrpcExampleTest {
    /** The tests of the testsuite have them at the same place. */
    private static final Path PAGE = Path.of("../docs/grpc.md");

    @Test
    void exampleAnswersOverRdma() throws Exception {
        long before = RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA);
        run(TestAddress.HOST, 0);
        assertThat(RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA)).isEqualTo(before + 1);
    }

    private static void run(String host, int port) throws Exception {
        try (RdmaGrpc rdma = RdmaGrpc.create()) {
            HealthStatusManager health = new HealthStatusManager();
            Server server = rdma.configure(NettyServerBuilder.forPort(port))
                    .addService(health.getHealthService())
                    .build().start();
            ManagedChannel channel = rdma.configure(NettyChannelBuilder.forAddress(host, server.getPort()))
                    .usePlaintext().build();

            HealthCheckResponse answer = HealthGrpc.newBlockingStub(channel)
                    .check(HealthCheckRequest.getDefaultInstance());
            System.out.println(answer.getStatus());

            channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
            server.shutdown().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    @Test
    void codeOfThePageCompiles() throws Exception {
        assertThat(PageCode.errors("docs/grpc.md", """
                RdmaGrpc rdma; int port; String host; ServerCall<?, ?> call; ManagedChannel channel;
                abstract boolean isInThisRack(SocketAddress address);
                """, List.of("io.grpc", "io.grpc.netty", "io.netty.channel.rdma.grpc",
                "io.netty.channel.rdma.ortcp", "java.net", "java.time"))).isEmpty();
    }

    /** The testsuite runs these tests with one end of the range, this module with the other. */
    @Test
    void pageNamesTheVersionThatIsTested() throws Exception {
        String version = NettyServerBuilder.class.getPackage().getImplementationVersion();
        assertThat(Files.readString(PAGE)).containsPattern("\\| `grpc-netty` \\| (" + version
                + " to [0-9.]+|[0-9.]+ to " + version + ") \\|");
    }
}
