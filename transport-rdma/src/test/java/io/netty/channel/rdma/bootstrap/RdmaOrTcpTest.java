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
package io.netty.channel.rdma.bootstrap;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where both paths work.
 */
class RdmaOrTcpTest {
    private static final int CLIENTS = 8;

    private final Echo.Server echo = new Echo.Server();
    private final RdmaOrTcpPaths paths = new RdmaOrTcpPaths(16);
    private IoEventLoopGroup group;
    private RdmaOrTcpServer server;

    @BeforeEach
    void listen() throws InterruptedException {
        group = RdmaOrTcp.newEventLoopGroup(2);
        server = TestNet.get(new RdmaOrTcpServerBootstrap().group(group).childHandler(echo).bind(TestNet.address(0)));
    }

    @AfterEach
    void stop() throws InterruptedException {
        TestNet.get(server.close());
        TestNet.await(group.shutdownGracefully(0, 5, TimeUnit.SECONDS));
    }

    @Test
    void serverListensForBothAtOnePort() {
        assertThat(group).isInstanceOf(RdmaEventLoopGroup.class);
        assertThat(server.rdmaUnavailabilityCause()).isNull();
        assertThat(server.localAddress().getPort()).isPositive();
        assertThat(server.rdmaChannel()).isInstanceOf(RdmaServerSocketChannel.class);
        assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.localAddress());
        assertThat(server.tcpChannel().localAddress()).isEqualTo(server.localAddress());
        assertThat(server.channels()).containsExactlyInAnyOrder(server.rdmaChannel(), server.tcpChannel());
        assertThat(server.rdmaChannel().attr(RdmaOrTcp.PATH).get()).isEqualTo(TransportPath.RDMA);
        assertThat(server.tcpChannel().attr(RdmaOrTcp.PATH).get()).isEqualTo(TransportPath.TCP);
    }

    @Test
    void clientsOfBothKindsAreServedAtOnce() throws InterruptedException {
        List<Future<? extends Channel>> rdma = new ArrayList<>();
        List<Future<Void>> tcp = new ArrayList<>();
        List<Channel> channels = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            rdma.add(bootstrap().connect(server.localAddress()));
            tcp.add(new Bootstrap().group(group).channel(EpollSocketChannel.class).handler(Echo.none())
                    .connect(server.localAddress()).addListener(f -> {
                        synchronized (channels) {
                            channels.add(((ChannelFuture) f).channel());
                        }
                    }));
        }
        for (Future<Void> connected : tcp) {
            TestNet.get(connected);
        }
        for (Future<? extends Channel> connected : rdma) {
            Channel channel = TestNet.get(connected);
            assertThat(channel).isInstanceOf(RdmaSocketChannel.class);
            assertThat(channel.attr(RdmaOrTcp.PATH).get()).isEqualTo(TransportPath.RDMA);
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get()).isNull();
            channels.add(channel);
        }
        List<Future<Void>> exchanges = new ArrayList<>();
        for (Channel channel : channels) {
            exchanges.add(Echo.exchange(channel));
        }
        for (Future<Void> exchange : exchanges) {
            TestNet.get(exchange);
        }
        int overRdma = 0;
        for (int i = 0; i < 2 * CLIENTS; i++) {
            Channel child = TestNet.take(echo.accepted, "a connection");
            boolean isRdma = child instanceof RdmaSocketChannel;
            assertThat(child.attr(RdmaOrTcp.PATH).get()).isEqualTo(isRdma ? TransportPath.RDMA : TransportPath.TCP);
            assertThat(((SocketChannel) child).parent()).isEqualTo(isRdma ? server.rdmaChannel() : server.tcpChannel());
            overRdma += isRdma ? 1 : 0;
        }
        assertThat(overRdma).isEqualTo(CLIENTS);
        for (Channel channel : channels) {
            TestNet.get(channel.close());
        }
    }

    @Test
    void handlerSeesOneChannelFromTheBeginning() throws InterruptedException {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        Future<Channel> connected = bootstrap().handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                events.add("added");
            }

            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                events.add("registered");
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active over " + ctx.channel().attr(RdmaOrTcp.PATH).get());
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
            }
        }).connect(server.localAddress()).addListener(future -> events.add("connected"));
        Channel channel = TestNet.get(connected);
        // On the loop, where the task that connected it has ended.
        assertThat(TestNet.get(channel.eventLoop().submit(() -> channel.pipeline().names())))
                .as("the application's handler, and the tail").hasSize(2);
        TestNet.get(channel.close());
        for (String expected : new String[] {"added", "registered", "connected", "active over RDMA", "inactive",
                "unregistered"}) {
            assertThat(TestNet.take(events, expected)).isEqualTo(expected);
        }
    }

    private RdmaOrTcpBootstrap bootstrap() {
        return new RdmaOrTcpBootstrap().group(group).handler(Echo.none()).paths(paths);
    }
}
