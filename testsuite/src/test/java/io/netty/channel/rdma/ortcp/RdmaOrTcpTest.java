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
package io.netty.channel.rdma.ortcp;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server at both transports, and clients that find it there.
 */
@Tag("platforms")
@Tag("quick")
@Tag("stalls")
class RdmaOrTcpTest {
    private static final int CLIENTS = 8;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
    private final EchoServer.Initializer echo = new EchoServer.Initializer();
    private RdmaOrTcpServerSocketChannel server;

    @BeforeEach
    void listen() throws InterruptedException {
        server = (RdmaOrTcpServerSocketChannel) TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaOrTcpServerSocketChannel.class).childHandler(echo)
                .bind(RdmaSocketTestPermutation.newSocketAddress())).channel();
    }

    @AfterEach
    void close() throws InterruptedException {
        TestTimeouts.sync(server.close());
    }

    @Test
    void clientsOfBothTransportsAreServedAtOnce() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long acceptsOfRdma = metrics.accepts(RdmaOrTcpTransport.RDMA);
        long acceptsOfTcp = metrics.accepts(RdmaOrTcpTransport.TCP);
        long connectsOfRdma = metrics.connects(RdmaOrTcpTransport.RDMA);

        List<ChannelFuture> overRdma = new ArrayList<>();
        List<ChannelFuture> overTcp = new ArrayList<>();
        Bootstrap tcp = new Bootstrap().group(LOOPS.group()).channel(EpollSocketChannel.class)
                .handler(new RdmaOrTcpEnds.Nothing());
        for (int i = 0; i < CLIENTS; i++) {
            overRdma.add(ends.bootstrap().connect(server.localAddress()));
            overTcp.add(tcp.connect(server.localAddress()));
        }
        List<Channel> channels = new ArrayList<>();
        for (ChannelFuture connected : overTcp) {
            channels.add(TestTimeouts.sync(connected).channel());
        }
        for (ChannelFuture connected : overRdma) {
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(connected).channel();
            RdmaOrTcpEnds.assertRdma(channel);
            channels.add(channel);
        }
        List<Future<Void>> exchanges = new ArrayList<>();
        for (Channel channel : channels) {
            exchanges.add(EchoClient.exchange(channel));
        }
        for (Future<Void> exchange : exchanges) {
            TestTimeouts.sync(exchange);
        }
        int children = 0;
        for (int i = 0; i < 2 * CLIENTS; i++) {
            SocketChannel child = (SocketChannel) echo.nextConnection().channel();
            boolean isRdma = child instanceof RdmaSocketChannel;
            assertThat(child.attr(RdmaOrTcp.TRANSPORT).get())
                    .isEqualTo(isRdma ? RdmaOrTcpTransport.RDMA : RdmaOrTcpTransport.TCP);
            assertThat(child.parent()).isEqualTo(isRdma ? server.rdmaChannel() : server.tcpChannel());
            children += isRdma ? 1 : 0;
        }
        assertThat(children).isEqualTo(CLIENTS);
        assertThat(metrics.accepts(RdmaOrTcpTransport.RDMA) - acceptsOfRdma).isEqualTo(CLIENTS);
        assertThat(metrics.accepts(RdmaOrTcpTransport.TCP) - acceptsOfTcp).isEqualTo(CLIENTS);
        assertThat(metrics.connects(RdmaOrTcpTransport.RDMA) - connectsOfRdma).isEqualTo(CLIENTS);
        for (Channel channel : channels) {
            TestTimeouts.sync(channel.close());
        }
    }

    @Test
    void namesAreResolvedAndLocalAddressesBound() throws InterruptedException {
        InetSocketAddress address = server.localAddress();
        RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(ends.bootstrap()
                .localAddress(RdmaSocketTestPermutation.newSocketAddress())
                .connect(address.getHostString(), address.getPort())).channel();
        RdmaOrTcpEnds.assertRdma(channel);
        assertThat(channel.localAddress().getAddress()).isEqualTo(address.getAddress());
        assertThat(channel.remoteAddress()).isEqualTo(address);
        TestTimeouts.sync(EchoClient.exchange(channel));
        TestTimeouts.sync(channel.close());
    }
}
