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
package io.netty.example.rdma.proxy;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.example.rdma.echo.EchoClient;
import io.netty.example.rdma.echo.EchoServerHandler;
import io.netty.example.rdma.proxy.ProxyFixture.Route;
import io.netty.example.rdma.proxy.ProxySettings.Listen;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class ProxyTest {
    private static final int LARGE = RunningServer.SLOW_MACHINE ? 2_000_003 : 20_000_003;
    /** More bytes than TCP sockets and receive buffers hold, which is some MB. */
    private static final long LARGER_THAN_BUFFERS = 40_000_003;
    /**
     * Bytes that one read may add when there was room for one byte more: 64 KiB of TCP; of RDMA all that has arrived in
     * one of the 8 parts of the receive memory, which grows to 1 MiB. Netty counts 96 bytes for each buffer as well.
     */
    private static final int LONGEST_READ = 128 * 1024 + 16 * 1024;

    @TempDir
    private Path folder;

    private static List<Route> routes() {
        return List.of(new Route(Transport.EPOLL, Transport.RDMA), new Route(Transport.RDMA, Transport.EPOLL),
                new Route(Transport.EPOLL, Transport.EPOLL), new Route(Transport.RDMA, Transport.RDMA));
    }

    @ParameterizedTest
    @MethodSource("routes")
    void fileComesBackIntact(Route route) throws Exception {
        byte[] content = new byte[LARGE];
        new Random(1).nextBytes(content);
        Path file = Files.write(folder.resolve("file"), content);
        try (ProxyFixture proxy = new ProxyFixture(route).start(EchoServerHandler::new, 0)) {
            assertThat(Commands.run(new EchoClient(), "--transport", route.client().toString(), "--host",
                    TestAddress.HOST, "--port", Integer.toString(proxy.proxy().address().getPort()), "--file",
                    file.toString())).isZero();
            proxy.awaitNoConnections();
            assertThat(proxy.proxy().counters().accepted()).isOne();
            assertThat(proxy.proxy().counters().connected(route.server() == Transport.RDMA ? RdmaOrTcpTransport.RDMA
                    : RdmaOrTcpTransport.TCP)).isOne();
            assertThat(proxy.proxy().counters().failed()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void whatOneSideEndsTheOtherSideMayGoOnWith(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            client.send("question");
            TestTimeouts.sync(client.duplex().shutdownOutput());
            server.awaitText("question");
            server.awaitEnd();
            assertThat(client.isEnded()).isFalse();
            server.sendPattern(LARGE);
            client.awaitPattern(LARGE);
            TestTimeouts.sync(server.duplex().shutdownOutput());
            client.awaitEnd();
            // Both directions have ended, so the proxy has closed its ends.
            proxy.awaitNoConnections();
            assertThat(proxy.proxy().counters().failed()).isZero();
            client.channel().close();
            server.channel().close();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void serverMayEndFirst(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            server.send("banner");
            TestTimeouts.sync(server.duplex().shutdownOutput());
            client.awaitText("banner");
            client.awaitEnd();
            client.sendPattern(LARGE);
            server.awaitPattern(LARGE);
            TestTimeouts.sync(client.duplex().shutdownOutput());
            server.awaitEnd();
            proxy.awaitNoConnections();
            client.channel().close();
            server.channel().close();
        }
    }

    @Test
    void clientThatEndsBeforeThereIsAServerIsAnswered() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(new Route(Transport.EPOLL, Transport.RDMA)).start()) {
            for (int i = 0; i < 20; i++) {
                try (Socket client = new Socket(TestAddress.HOST, proxy.proxy().address().getPort())) {
                    client.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
                    client.getOutputStream().write("question".getBytes(StandardCharsets.US_ASCII));
                    client.shutdownOutput();
                    Peer server = proxy.accepted();
                    server.awaitText("question");
                    server.awaitEnd();
                    server.send("answer");
                    TestTimeouts.sync(server.duplex().shutdownOutput());
                    assertThat(client.getInputStream().readAllBytes())
                            .isEqualTo("answer".getBytes(StandardCharsets.US_ASCII));
                    server.channel().close();
                }
            }
            proxy.awaitNoConnections();
        }
    }

    /** Epoll may read them in the turn in which the client is accepted: the connect is a task of the next one. */
    @Test
    void bytesAndEndThatAreReadBeforeTheConnectBeginsReachTheServer() throws Exception {
        EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        try (ProxyFixture proxy = new ProxyFixture(new Route(Transport.EPOLL, Transport.RDMA)).start()) {
            ProxySettings settings = new ProxySettings(
                    new Listen(ProxyTransport.TCP, new HostAndPort(TestAddress.HOST, 0)), proxy.serverAddress(),
                    ProxyTransport.RDMA, (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS), 0, true);
            Channel listener = TestTimeouts.sync(new ServerBootstrap()
                    .group(group)
                    .channel(Transport.EPOLL.serverChannelType())
                    .childOption(ChannelOption.AUTO_READ, false)
                    .childHandler(new ChannelInitializer<SocketChannel>() {
                        @Override
                        protected void initChannel(SocketChannel channel) {
                            new Tunnel(channel, settings, new ProxyCounters());
                            channel.pipeline().addFirst(new ReadAtOnce());
                        }
                    })
                    .bind(TestAddress.anyPort())).channel();
            int port = ((InetSocketAddress) listener.localAddress()).getPort();
            try (Socket client = new Socket(TestAddress.HOST, port)) {
                Peer server = proxy.accepted();
                server.awaitText("question");
                server.awaitEnd();
                assertThat(client.isConnected()).isTrue();
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    private static final class ReadAtOnce extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            ctx.fireChannelActive();
            ctx.fireChannelRead(Unpooled.copiedBuffer("question", StandardCharsets.US_ASCII));
            ctx.fireChannelReadComplete();
            ctx.fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void resetOfTheClientIsOneAtTheServer(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            assertResetOfOneIsOneAtTheOther(proxy, client, proxy.accepted());
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void resetOfTheServerIsOneAtTheClient(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            assertResetOfOneIsOneAtTheOther(proxy, proxy.accepted(), client);
        }
    }

    private static void assertResetOfOneIsOneAtTheOther(ProxyFixture proxy, Peer one, Peer other) throws Exception {
        one.send("begun");
        other.awaitText("begun");
        one.reset();
        assertThat(other.awaitClosed()).isInstanceOf(IOException.class);
        assertThat(other.isEnded()).isFalse();
        proxy.awaitNoConnections();
        assertThat(proxy.proxy().counters().failed()).isOne();
    }

    @ParameterizedTest
    @MethodSource("routes")
    void clientOfAServerThatIsNotThereIsReset(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).startProxy(ProxyFixture.freePort(), route.connects(), 0)) {
            Peer client = new Peer(connected -> { });
            // The proxy may reset the connection before the client knows that it is connected.
            TestTimeouts.await(proxy.beginConnect(client).channel().closeFuture());
            assertThat(client.isEnded()).isFalse();
            assertThat(client.received()).isZero();
            proxy.awaitNoConnections();
            assertThat(proxy.proxy().counters().unreachable()).isOne();
            assertThat(proxy.proxy().counters().failed()).isZero();
        }
    }

    @Test
    void serverThatListensForTcpAloneIsReachedByTcp() throws Exception {
        try (ProxyFixture tcp = new ProxyFixture(new Route(Transport.RDMA, Transport.EPOLL)).start();
             ProxyFixture auto = new ProxyFixture(new Route(Transport.EPOLL, Transport.RDMA))) {
            auto.startProxy(tcp.serverAddress(), ProxyTransport.AUTO, 0);
            Peer client = auto.connect();
            client.send("hello");
            tcp.accepted().awaitText("hello");
            assertThat(auto.proxy().counters().connected(RdmaOrTcpTransport.TCP)).isOne();
            client.channel().close();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void slowClientHoldsTheServerBackAndLosesNothing(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            assertSlowOneHoldsTheOtherBack(proxy, client, proxy.accepted(), Tunnel::serverChannel);
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void slowServerHoldsTheClientBackAndLosesNothing(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            assertSlowOneHoldsTheOtherBack(proxy, proxy.accepted(), client, Tunnel::clientChannel);
        }
    }

    /** @param heldBack the proxy's channel to the other one. */
    private static void assertSlowOneHoldsTheOtherBack(ProxyFixture proxy, Peer slow, Peer other,
                                                       Function<Tunnel, Channel> heldBack) throws Exception {
        slow.channel().config().setAutoRead(false);
        other.sendPattern(LARGER_THAN_BUFFERS);
        Tunnel tunnel = proxy.tunnel();
        awaitHeldBack(tunnel, () -> heldBack.apply(tunnel).config());
        slow.channel().config().setAutoRead(true);
        slow.awaitPattern(LARGER_THAN_BUFFERS);
        slow.channel().close();
        other.channel().close();
    }

    /** Waits until one side is not read any more, and looks how much there is in the proxy then. */
    private static void awaitHeldBack(Tunnel tunnel, Supplier<ChannelConfig> source)
            throws Exception {
        RunningServer.await(() -> tunnel.clientChannel().eventLoop().submit(() -> {
            assertThat(tunnel.waitingBytes()).isLessThanOrEqualTo(Tunnel.WATER_MARK.high() + LONGEST_READ);
            return !source.get().isAutoRead() && tunnel.waitingBytes() > Tunnel.WATER_MARK.low();
        }).get());
    }

    @Test
    void whatGoesFromTcpToRdmaIsSentFromWhereItWasRead() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(new Route(Transport.EPOLL, Transport.RDMA)).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            client.sendPattern(LARGE);
            server.awaitPattern(LARGE);
            RdmaMetrics metrics = ((RdmaSocketChannel) ((RdmaOrTcpSocketChannel) proxy.tunnel().serverChannel())
                    .transportChannel()).metrics();
            assertSentInPlace(metrics);
            client.channel().close();
            server.channel().close();
        }
    }

    @Test
    void whatComesBackFromTcpToRdmaIsSentFromWhereItWasRead() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(new Route(Transport.RDMA, Transport.EPOLL)).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            server.sendPattern(LARGE);
            client.awaitPattern(LARGE);
            assertSentInPlace(((RdmaSocketChannel) proxy.tunnel().clientChannel()).metrics());
            client.channel().close();
            server.channel().close();
        }
    }

    private static void assertSentInPlace(RdmaMetrics metrics) {
        assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_FOREIGN)).as(metrics.toString()).isZero();
        assertThat(metrics.bytesCopied(RdmaMetrics.CopyCause.SENT_HEAP)).as(metrics.toString()).isZero();
        // The rest came from TCP in pieces of less than 513 bytes.
        assertThat(metrics.bytesSentInPlace()).as(metrics.toString()).isGreaterThan(LARGE / 10 * 9L);
    }

    @Test
    void whatGoesFromRdmaToTcpIsNotCopiedOutOfTheMemoryWhereItArrived() throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(new Route(Transport.EPOLL, Transport.RDMA)).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            server.sendPattern(LARGE);
            client.awaitPattern(LARGE);
            RdmaMetrics metrics = ((RdmaSocketChannel) ((RdmaOrTcpSocketChannel) proxy.tunnel().serverChannel())
                    .transportChannel()).metrics();
            assertThat(metrics.bytesReceivedInPlace()).as(metrics.toString()).isGreaterThan(LARGE / 10 * 9L);
            client.channel().close();
            server.channel().close();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void manyConnectionsKeepTheirBytesApart(Route route) throws Exception {
        int count = RunningServer.SLOW_MACHINE ? 20 : 200;
        int bytes = 100_003;
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            List<Peer> peers = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                Peer client = proxy.connect();
                Peer server = proxy.accepted();
                client.sendPattern(bytes + i);
                server.sendPattern(bytes - i);
                peers.add(client);
                peers.add(server);
            }
            assertThat(proxy.proxy().counters().open()).isEqualTo(count);
            for (int i = 0; i < count; i++) {
                peers.get(2 * i).awaitPattern(bytes - i);
                peers.get(2 * i + 1).awaitPattern(bytes + i);
            }
            for (Peer peer : peers) {
                TestTimeouts.sync(peer.duplex().shutdownOutput());
            }
            for (Peer peer : peers) {
                peer.awaitEnd();
                peer.channel().close();
            }
            proxy.awaitNoConnections();
            assertThat(proxy.proxy().counters().failed()).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void connectionOnWhichNothingMovesIsReset(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start(() -> new Peer(accepted -> { }), 100)) {
            Peer client = proxy.connect();
            client.awaitClosed();
            assertThat(client.isEnded()).isFalse();
            proxy.awaitNoConnections();
        }
    }

    @ParameterizedTest
    @MethodSource("routes")
    void proxyThatIsStoppedResetsItsConnections(Route route) throws Exception {
        try (ProxyFixture proxy = new ProxyFixture(route).start()) {
            Peer client = proxy.connect();
            Peer server = proxy.accepted();
            proxy.proxy().stop();
            client.awaitClosed();
            server.awaitClosed();
            assertThat(client.isEnded()).isFalse();
            assertThat(server.isEnded()).isFalse();
            proxy.awaitNoConnections();
        }
    }
}
