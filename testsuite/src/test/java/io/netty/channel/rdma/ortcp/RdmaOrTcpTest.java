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
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpMetrics;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServer;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServerBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpTransport;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.AttributeKey;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

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
    private RdmaOrTcpServer server;

    @BeforeEach
    void listen() throws InterruptedException {
        server = TestTimeouts.sync(new RdmaOrTcpServerBootstrap().group(LOOPS.group()).childHandler(echo)
                .bind(RdmaSocketTestPermutation.newSocketAddress())).getNow();
    }

    @AfterEach
    void close() throws InterruptedException {
        TestTimeouts.sync(server.close());
    }

    @Test
    void serverListensForBothAtOnePort() {
        InetSocketAddress address = server.localAddress();
        assertThat(address.getPort()).isPositive();
        assertThat(server.rdmaUnavailabilityCause()).isNull();
        assertThat(server.rdmaChannel().localAddress()).isEqualTo(address);
        assertThat(server.tcpChannel().localAddress()).isEqualTo(address);
        assertThat(server.channels()).containsExactlyInAnyOrder(server.rdmaChannel(), server.tcpChannel());
        assertThat(server.rdmaChannel().attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
        assertThat(server.tcpChannel().attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.TCP);
        assertThat(server.closeFuture().isDone()).isFalse();
    }

    @Test
    void clientsOfBothTransportsAreServedAtOnce() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long acceptsOfRdma = metrics.accepts(RdmaOrTcpTransport.RDMA);
        long acceptsOfTcp = metrics.accepts(RdmaOrTcpTransport.TCP);
        long connectsOfRdma = metrics.connects(RdmaOrTcpTransport.RDMA);

        List<Future<Channel>> overRdma = new ArrayList<>();
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
        for (Future<Channel> connected : overRdma) {
            Channel channel = TestTimeouts.sync(connected).getNow();
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
    void handlerSeesOneChannelFromTheBeginning() throws InterruptedException {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        EventLoop loop = LOOPS.group().next();
        RdmaOrTcpBootstrap bootstrap = ends.bootstrap().clone(loop).handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                events.add("added to " + ctx.channel().getClass().getSimpleName());
            }

            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                events.add("registered");
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active over " + ctx.channel().attr(RdmaOrTcp.TRANSPORT).get());
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
            }
        });
        // On the loop that it connects on, so that the listener is there before anything can happen.
        Future<Channel> connected = TestTimeouts.sync(loop.submit(() -> bootstrap.connect(server.localAddress())
                .addListener(future -> events.add("connected")))).getNow();
        Channel channel = TestTimeouts.sync(connected).getNow();
        // On the loop, where the task that connected it has ended then.
        assertThat(TestTimeouts.sync(channel.eventLoop().submit(() -> channel.pipeline().names())).getNow())
                .as("the application's handler, and the tail").hasSize(2);
        TestTimeouts.sync(channel.close());
        for (String expected : new String[] {"added to RdmaSocketChannel", "registered", "connected",
                "active over RDMA", "inactive", "unregistered"}) {
            assertThat(TestTimeouts.take(events, expected)).isEqualTo(expected);
        }
    }

    @Test
    void cloneIsIndependentAndKeepsWhatWasSet() throws InterruptedException {
        AttributeKey<String> key = AttributeKey.valueOf("RdmaOrTcpTest");
        RdmaOrTcpBootstrap original = ends.bootstrap().attr(key, "original");
        RdmaOrTcpBootstrap clone = original.clone().attr(key, "clone");
        for (RdmaOrTcpBootstrap bootstrap : new RdmaOrTcpBootstrap[] {original, clone,
                original.clone(LOOPS.group())}) {
            Channel channel = TestTimeouts.sync(bootstrap.connect(server.localAddress())).getNow();
            assertThat(channel.attr(key).get()).isEqualTo(bootstrap == clone ? "clone" : "original");
            TestTimeouts.sync(channel.close());
        }
    }

    @Test
    void namesAreResolvedAndLocalAddressesBound() throws InterruptedException {
        InetSocketAddress address = server.localAddress();
        Channel channel = TestTimeouts.sync(ends.bootstrap()
                .localAddress(RdmaSocketTestPermutation.newSocketAddress())
                .connect(address.getHostString(), address.getPort())).getNow();
        RdmaOrTcpEnds.assertRdma(channel);
        assertThat(((InetSocketAddress) channel.localAddress()).getAddress()).isEqualTo(address.getAddress());
        assertThat(channel.remoteAddress()).isEqualTo(address);
        TestTimeouts.sync(EchoClient.exchange(channel));
        TestTimeouts.sync(channel.close());
    }
}
