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
package io.netty.channel.rdma.reactor;

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.util.ResourceLeakDetector;
import io.rsocket.test.TransportTest;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

import java.net.InetSocketAddress;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * RSocket's own tests of transports.
 */
class RSocketTransportTest implements TransportTest {
    private static LoopResources loops;
    private static ResourceLeakDetector.Level level;
    private static long before;

    private TransportPair<InetSocketAddress, CloseableChannel> pair;

    /**
     * RSocket's tests look for leaks themselves. Millions of buffers, each with a trace of each access, take minutes.
     */
    @BeforeAll
    static void start() {
        level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.SIMPLE);
        loops = Transport.RDMA.newLoops();
        before = connects();
    }

    @AfterAll
    static void end() {
        Transport.dispose(loops);
        ResourceLeakDetector.setLevel(level);
        // Clients that have all fallen back to TCP would pass as well.
        assertThat(connects()).as("connects over RDMA").isGreaterThan(before);
    }

    private static long connects() {
        return RdmaOrTcpMetrics.total().connects(RdmaOrTcpTransport.RDMA);
    }

    @BeforeEach
    void connect() {
        pair = new TransportPair<>(TestAddress::anyPort,
                (address, server, allocator) -> TcpClientTransport.create(TcpClient.create().runOn(loops)
                        .remoteAddress(server::address).option(ChannelOption.ALLOCATOR, allocator)),
                (address, allocator) -> TcpServerTransport.create(TcpServer.create().runOn(loops)
                        .bindAddress(() -> address).option(ChannelOption.ALLOCATOR, allocator)));
    }

    @Override
    public Duration getTimeout() {
        return Duration.ofSeconds(4 * TestTimeouts.SECONDS);
    }

    @Override
    public TransportPair<InetSocketAddress, CloseableChannel> getTransportPair() {
        return pair;
    }

    /**
     * Not run: it has twelve threads in {@code StepVerifier.verify()}, which polls without sleeping, and on two busy
     * cores takes minutes, on epoll as well.
     */
    @Override
    public void requestChannel256() {
    }
}
