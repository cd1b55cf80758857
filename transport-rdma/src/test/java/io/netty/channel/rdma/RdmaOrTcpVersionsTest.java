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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.ConnectionRejectedException;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client and a server for RDMA and TCP whose native libraries are of different versions, as during a rolling upgrade:
 * one of them has the library that the target {@code another} of the native library's Makefile has made.
 */
class RdmaOrTcpVersionsTest {
    private static final Path ANOTHER =
            Path.of("../transport-rdma-native/target/c/another").toAbsolutePath().normalize();
    private static final String EMBEDDED = "io.netty.rdma.provider=embedded";
    private static final List<String> THIS_VERSION = List.of(EMBEDDED);
    private static final List<String> ANOTHER_VERSION = List.of(EMBEDDED, "java.library.path=" + ANOTHER);

    /** Listens for RDMA and TCP, until it is killed. */
    static final class Server {
        private Server() { }

        public static void main(String[] arguments) throws Exception {
            Channel server = new ServerBootstrap().group(RdmaOrTcp.newEventLoopGroup(1))
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public boolean isSharable() {
                            return true;
                        }
                    }).bind(TestAddress.anyPort()).sync().channel();
            System.out.println("port " + ((InetSocketAddress) server.localAddress()).getPort());
        }
    }

    /** Connects twice for RDMA or TCP, then for RDMA alone, and tells how. */
    static final class Client {
        private Client() { }

        /** Among the lines of the log. */
        private static void tell(String line) {
            System.out.println("told " + line);
        }

        private static void connect(EventLoopGroup group, InetSocketAddress server) throws Exception {
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(new Bootstrap().group(group)
                    .channel(RdmaOrTcpSocketChannel.class).option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                            (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS))
                    .handler(new ChannelInboundHandlerAdapter()).connect(server)).channel();
            String provider = channel.transportChannel() instanceof RdmaSocketChannel ?
                    ((RdmaSocketChannel) channel.transportChannel()).providerChoice().toString() : "";
            tell(channel.attr(RdmaOrTcp.TRANSPORT).get() + " " + channel.attr(RdmaOrTcp.FALLBACK).get() +
                    ' ' + provider);
            TestTimeouts.sync(channel.close());
        }

        private static void connectByRdma(EventLoopGroup group, InetSocketAddress server) throws Exception {
            AtomicBoolean active = new AtomicBoolean();
            ChannelFuture future = new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            active.set(true);
                        }
                    }).connect(server);
            TestTimeouts.await(future);
            TestTimeouts.sync(future.channel().close());
            if (future.isSuccess()) {
                tell("connected");
            } else {
                tell(((ConnectionRejectedException) future.cause().getCause()).reason() + ", active: " + active);
            }
        }

        public static void main(String[] arguments) throws Exception {
            InetSocketAddress server = new InetSocketAddress(TestAddress.anyPort().getAddress(),
                    Integer.parseInt(arguments[0]));
            EventLoopGroup group = new RdmaEventLoopGroup(1);
            try {
                connect(group, server);
                connect(group, server);
                connectByRdma(group, server);
            } catch (Throwable t) {
                t.printStackTrace();
                // The event loops would keep the process.
                System.exit(1);
            }
            TestTimeouts.shutdown(group);
        }
    }

    private static List<String> told(ChildJvm client) throws Exception {
        return client.output().lines().filter(line -> line.startsWith("told ")).map(line -> line.substring(5)).toList();
    }

    private static List<String> clientOf(List<String> serverProperties, List<String> clientProperties)
            throws Exception {
        assertThat(ANOTHER).as("made by the build of transport-rdma-native").isDirectory();
        try (ChildJvm server = new ChildJvm(Server.class, serverProperties);
             ChildJvm client = new ChildJvm(Client.class, clientProperties, server.line("port"))) {
            return told(client);
        }
    }

    private static void assertTcpAndWhy(List<String> told) {
        assertThat(told).hasSize(3);
        // Not remembered: an upgrade that goes on may be over at the next connect.
        for (String line : told.subList(0, 2)) {
            assertThat(line).startsWith(RdmaOrTcpTransport.TCP + " " + RdmaOrTcpFallback.Reason.REJECTED + ": ")
                    .containsOnlyOnce("of another version").contains("netty-transport-native-rdma");
        }
        assertThat(told.get(2)).isEqualTo("VERSION, active: false");
    }

    @Test
    void serverOfAnotherVersionIsReachedOverTcpAtOnceAndTheReasonTold() throws Exception {
        assertTcpAndWhy(clientOf(ANOTHER_VERSION, THIS_VERSION));
    }

    @Test
    void clientOfAnotherVersionTakesTcpAtOnceAndTheReasonIsTold() throws Exception {
        assertTcpAndWhy(clientOf(THIS_VERSION, ANOTHER_VERSION));
    }

    @Test
    void anotherVersionMeetsItsOwn() throws Exception {
        List<String> told = clientOf(ANOTHER_VERSION, ANOTHER_VERSION);
        assertThat(told).hasSize(3);
        assertThat(told.get(0)).startsWith(RdmaOrTcpTransport.RDMA.toString());
        assertThat(told.get(2)).isEqualTo("connected");
    }

    /** The network's protocol is the same in all versions. */
    @Test
    void serverOfAnotherVersionIsReachedByADeviceWhereThereIsOne() throws Exception {
        String automatic = "io.netty.rdma.provider=auto";
        try (ChildJvm server = ChildJvm.withBothProviders(Server.class,
                     List.of(automatic, "java.library.path=" + ANOTHER));
             ChildJvm client = ChildJvm.withBothProviders(Client.class, List.of(automatic), server.line("port"))) {
            List<String> told = told(client);
            assertThat(told).hasSize(3);
            assertThat(told.get(0)).startsWith(RdmaOrTcpTransport.RDMA + " null ")
                    .contains("ibverbs", "of another version");
            assertThat(told.get(2)).isEqualTo("connected");
        }
    }
}
