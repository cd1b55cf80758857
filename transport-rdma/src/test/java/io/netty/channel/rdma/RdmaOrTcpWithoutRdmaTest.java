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
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.verbs.ChildJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.File;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One of the two processes can't use RDMA: because there is no provider, or a limit of the process keeps it from being
 * used, so that it has epoll's channels; or because there are no native libraries at all, or Netty is too old.
 */
class RdmaOrTcpWithoutRdmaTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    /** A handler that does nothing, for any number of connections. */
    @Sharable
    private static final class Nothing extends ChannelInboundHandlerAdapter { }

    /** A server, for as long as its input is open. */
    static final class Server {
        private Server() { }

        public static void main(String[] arguments) throws Exception {
            ServerBootstrap bootstrap = new ServerBootstrap().group(RdmaOrTcp.newEventLoopGroup(1))
                    .channel(RdmaOrTcpServerSocketChannel.class).option(RdmaChannelOption.IPV6_ONLY, false)
                    .option(RdmaOrTcpChannelOption.CHILD_OPTIONS, Map.of(RdmaChannelOption.MAX_INLINE, 100))
                    .childHandler(new ChannelInboundHandlerAdapter());
            RdmaOrTcpServerSocketChannel server =
                    (RdmaOrTcpServerSocketChannel) TestTimeouts.sync(bootstrap.bind(TestAddress.anyPort())).channel();
            System.out.println("required " + TestTimeouts.await(bootstrap.option(RdmaOrTcpChannelOption.TRANSPORT_RULE,
                    RdmaOrTcpRule.always(RdmaOrTcpChoice.RDMA_AND_TCP)).bind(TestAddress.anyPort())).cause());
            System.out.println("cause " + server.rdmaUnavailabilityCause());
            System.out.println("listener " + server.tcpChannel().getClass().getSimpleName() + ' ' +
                    server.rdmaChannel());
            System.out.println("port " + server.localAddress().getPort());
            while (System.in.read() != -1) {
                continue;
            }
            System.exit(1);
        }
    }

    /** Connects and tells how. */
    static final class Client {
        private Client() { }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(1);
            RdmaOrTcpSocketChannel channel = (RdmaOrTcpSocketChannel) TestTimeouts.sync(new Bootstrap().group(group)
                    .channel(RdmaOrTcpSocketChannel.class).option(RdmaChannelOption.MAX_INLINE, 100)
                    .handler(new ChannelInboundHandlerAdapter())
                    .connect(arguments[0], Integer.parseInt(arguments[1]))).channel();
            System.out.println("type " + channel.transportChannel().getClass().getSimpleName());
            System.out.println("fallback " + channel.attr(RdmaOrTcp.FALLBACK).get());
            TestTimeouts.shutdown(group);
        }
    }

    /** As {@code LimitFSIZE} of a systemd unit sets it. It counts for shared memory. */
    @Test
    void serverWhoseFilesMayNotBeAsLargeAsSharedMemoryListensForTcp() throws Exception {
        try (ChildJvm child = new ChildJvm(List.of("prlimit", "--fsize=20000000"), Server.class,
                List.of("io.netty.rdma.provider=embedded"))) {
            assertThat(child.line("required")).contains("BindException", "for RDMA", "RLIMIT_FSIZE", "ulimit -f");
            assertThat(child.line("cause")).contains("20000000 bytes", "LimitFSIZE=infinity");
            assertThat(child.line("listener")).isEqualTo("EpollServerSocketChannel null");
        }
    }

    @ParameterizedTest
    @CsvSource({"io.netty.rdma.provider=none, EpollServerSocketChannel",
            "io.netty.transport.noNative=true, NioServerSocketChannel"})
    void serverListensForTcp(String property, String type) throws Exception {
        try (ChildJvm child = new ChildJvm(Server.class, List.of(property))) {
            String name = property.substring(0, property.indexOf('='));
            assertThat(child.line("required")).contains("BindException", "for RDMA", name);
            assertThat(child.line("cause")).contains(name);
            assertThat(child.line("listener")).isEqualTo(type + " null");
            InetSocketAddress address = new InetSocketAddress(TestAddress.anyPort().getAddress(),
                    Integer.parseInt(child.line("port")));
            Channel channel = TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                    .channel(RdmaOrTcpSocketChannel.class).option(RdmaOrTcpChannelOption.RDMA_CONNECT_TIMEOUT_MILLIS,
                            (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS))
                    .handler(new ChannelInboundHandlerAdapter()).connect(address)).channel();
            assertThat(channel.attr(RdmaOrTcp.FALLBACK).get().reason()).isEqualTo(RdmaOrTcpFallback.Reason.REFUSED);
            TestTimeouts.sync(channel.close());
        }
    }

    @ParameterizedTest
    @CsvSource({"io.netty.rdma.provider=none, EpollSocketChannel",
            "io.netty.transport.noNative=true, NioSocketChannel"})
    void clientConnectsOverTcp(String property, String type) throws Exception {
        Channel server = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaOrTcpServerSocketChannel.class).childHandler(new Nothing())
                .bind(TestAddress.anyPort())).channel();
        InetSocketAddress address = (InetSocketAddress) server.localAddress();
        try (ChildJvm child = new ChildJvm(Client.class, List.of(property), address.getAddress().getHostAddress(),
                Integer.toString(address.getPort()))) {
            String output = child.output();
            assertThat(output).contains("type " + type, "fallback UNAVAILABLE: ",
                    property.substring(0, property.indexOf('=')))
                    // The warning would be about an option of the other transport.
                    .doesNotContain("Unknown channel option");
        }
        TestTimeouts.sync(server.close());
    }

    @Test
    void withAnOlderNettyTcpIsTakenAndBothVersionsTold(@TempDir Path folder) throws Exception {
        // The last one on the class path counts.
        NettyVersionTest.addJar(folder, "netty-common", "4.2.8.Final");
        String classPath = "java.class.path=" + System.getProperty("java.class.path") + File.pathSeparator + folder;
        String told = "Netty 4.2.8.Final (netty-common) is on the class path, the RDMA transport needs " +
                NettyVersion.OLDEST + " or later";
        try (ChildJvm server = new ChildJvm(Server.class, List.of(classPath))) {
            assertThat(server.line("cause")).contains(told);
            assertThat(server.line("listener")).isEqualTo("EpollServerSocketChannel null");
            try (ChildJvm client = new ChildJvm(Client.class, List.of(classPath),
                    TestAddress.anyPort().getAddress().getHostAddress(), server.line("port"))) {
                assertThat(client.output()).contains("type EpollSocketChannel", "fallback UNAVAILABLE: " + told);
            }
        }
    }
}
