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

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.bootstrap.RdmaOrTcp;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServer;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServerBootstrap;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.bootstrap.RdmaOrTcpTransport;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.Verbs;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A server that listens for both: where it can, where it can't, and how it ends.
 */
@Tag("platforms")
@Tag("quick")
class RdmaOrTcpServerTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
    private final EchoServer.Initializer echo = new EchoServer.Initializer();

    @Test
    void portThatRdmaHasInUseIsUsedByNeither() throws InterruptedException {
        // A port that is free for TCP, of which there are fewer.
        EchoServer tcp = ends.tcpServer(anyPort());
        try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
            tcp.close();
            assertThat(TestTimeouts.await(bootstrap().bind(rdma.address())).cause()).isInstanceOf(BindException.class)
                    .hasMessageContaining(rdma.address().toString()).hasMessageContaining("for RDMA");
            ends.tcpServer(rdma.address()).close();
        }
    }

    @Test
    void portThatTcpHasInUseIsUsedByNeither() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            assertThat(TestTimeouts.await(bootstrap().bind(tcp.address())).cause()).isInstanceOf(BindException.class)
                    .hasMessageContaining(tcp.address().toString()).hasMessageContaining("for TCP");
            ends.rdmaServer(tcp.address()).close();
        }
    }

    @Test
    void anyPortIsOneThatIsFreeForBoth() throws InterruptedException, IOException {
        try (PortThief thief = new PortThief(3)) {
            RdmaOrTcpServer server = bind(bootstrap().handler(thief), anyPort());
            assertThat(thief.stolen).hasSize(3);
            assertThat(thief.stolen).extracting(EchoServer::address).doesNotContain(server.localAddress());
            assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.tcpChannel().localAddress());
            assertReachable(server, RdmaOrTcpTransport.RDMA);
            TestTimeouts.sync(server.close());
        }
    }

    @Test
    void searchForAFreePortHasAnEnd() throws InterruptedException, IOException {
        try (PortThief thief = new PortThief(1000)) {
            assertThat(TestTimeouts.await(bootstrap().handler(thief).bind(anyPort())).cause())
                    .isInstanceOf(BindException.class).hasMessageContaining("for RDMA");
            assertThat(thief.stolen.size()).isBetween(2, 100);
        }
    }

    @Test
    void oneListenerMayEndBeforeTheOther() throws InterruptedException {
        RdmaOrTcpServer server = bind(bootstrap(), anyPort());
        try (LogRecorder log = new LogRecorder()) {
            TestTimeouts.sync(server.rdmaChannel().close());
            assertReachable(server, RdmaOrTcpTransport.TCP);
            assertThat(log.messages(Level.WARN)).singleElement().asString()
                    .contains(server.localAddress().toString(), "the other one goes on");
            assertThat(server.closeFuture().isDone()).isFalse();
            TestTimeouts.sync(server.close());
            assertThat(server.tcpChannel().isOpen()).isFalse();
            assertThat(log.messages(Level.WARN)).hasSize(1);
        }
        assertThat(server.close()).as("once more").isSameAs(server.closeFuture());
    }

    @Test
    void endOfTheEventLoopsEndsTheServer() throws InterruptedException {
        EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(2);
        assertThat(group).isInstanceOf(RdmaEventLoopGroup.class);
        RdmaOrTcpServerBootstrap bootstrap = new RdmaOrTcpServerBootstrap().group(group).childHandler(echo);
        RdmaOrTcpServer server = bind(bootstrap, anyPort());
        TestTimeouts.shutdown(group);
        TestTimeouts.sync(server.closeFuture());
        assertThat(TestTimeouts.await(bootstrap.bind(anyPort())).cause())
                .isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void loopsThatServeNoRdmaListenForTcpAndSayWhy() throws InterruptedException {
        for (EventLoopGroup group : new EventLoopGroup[] {
                new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()),
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory())}) {
            try (LogRecorder log = new LogRecorder()) {
                RdmaOrTcpServerBootstrap bootstrap = new RdmaOrTcpServerBootstrap().group(group).childHandler(echo);
                RdmaOrTcpServer server = bind(bootstrap, anyPort());
                assertThat(server.rdmaChannel()).isNull();
                assertThat(server.channels()).containsExactly(server.tcpChannel());
                assertThat(server.rdmaUnavailabilityCause()).hasMessageContaining("newEventLoopGroup");
                assertThat(log.messages(Level.INFO)).singleElement().asString().contains("listens for TCP alone, as " +
                        "RDMA is not available: the event loops of ");
                assertThat(log.messages(Level.WARN)).hasSize(1);
                assertThat(log.hasTrace(Level.INFO)).isFalse();
                assertReachable(server, RdmaOrTcpTransport.TCP);
                TestTimeouts.sync(server.close());

                assertThat(TestTimeouts.await(bootstrap.require(RdmaOrTcpTransport.RDMA).bind(server.localAddress()))
                        .cause()).isInstanceOf(BindException.class).hasMessageContaining("newEventLoopGroup");
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    @Test
    void parentAndChildLoopsMustServeTheSame() throws InterruptedException {
        EventLoopGroup epoll = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        EventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            assertThatThrownBy(() -> new RdmaOrTcpServerBootstrap().group(LOOPS.group(), nio).childHandler(echo)
                    .bind(anyPort())).isInstanceOf(IllegalArgumentException.class);
            RdmaOrTcpServer server = bind(new RdmaOrTcpServerBootstrap().group(LOOPS.group(), epoll)
                    .childHandler(echo), anyPort());
            assertThat(server.rdmaUnavailabilityCause()).isNotNull();
            TestTimeouts.sync(server.close());
            RdmaOrTcpServer both = bind(new RdmaOrTcpServerBootstrap().group(LOOPS.group(), LOOPS.group())
                    .childHandler(echo), anyPort());
            assertReachable(both, RdmaOrTcpTransport.RDMA);
            TestTimeouts.sync(both.close());
        } finally {
            TestTimeouts.shutdown(epoll);
            TestTimeouts.shutdown(nio);
        }
    }

    @Test
    void wildcardAddressIsOneForBoth() throws Exception {
        RdmaOrTcpServer server = bind(bootstrap(), new InetSocketAddress(0));
        assertThat(server.rdmaChannel().localAddress().getAddress().isAnyLocalAddress()).isTrue();
        int port = server.localAddress().getPort();
        assertReachable(new InetSocketAddress(anyPort().getAddress(), port), RdmaOrTcpTransport.RDMA);
        assertReachable(new InetSocketAddress(address6(), port), RdmaOrTcpTransport.RDMA);
        assertReachable(server, RdmaOrTcpTransport.RDMA);
        TestTimeouts.sync(server.close());
    }

    @Test
    void addressOfIpv6() throws Exception {
        RdmaOrTcpServer server = bind(bootstrap(), new InetSocketAddress(address6(), 0));
        assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.tcpChannel().localAddress());
        assertReachable(server, RdmaOrTcpTransport.RDMA);
        TestTimeouts.sync(server.close());
    }

    @Test
    void addressOfNoRdmaDeviceHasTcpAlone() throws InterruptedException {
        assumeTrue(Verbs.preferred().provider() == VerbsProvider.IBVERBS,
                "needs kernel verbs: the embedded provider's device has all addresses");
        InetSocketAddress loopback = new InetSocketAddress("127.0.0.1", 0);
        RdmaOrTcpServer server = bind(bootstrap(), loopback);
        assertThat(server.rdmaUnavailabilityCause()).isInstanceOf(NoRdmaDeviceException.class);
        assertReachable(server, RdmaOrTcpTransport.TCP);
        TestTimeouts.sync(server.close());
        assertThat(TestTimeouts.await(bootstrap().require(RdmaOrTcpTransport.RDMA).bind(loopback)).cause())
                .isInstanceOf(BindException.class).hasMessageContaining("no RDMA device has this address");
    }

    /** Binds the name of a port of the embedded provider, as any user may, and does not listen. */
    private static final String HOLD_NAME = """
            use Socket;
            socket(my $name, AF_UNIX, SOCK_SEQPACKET, 0) or die $!;
            bind($name, pack('S a*', AF_UNIX, "\\0netty-rdma/$>/cm/106/%d")) or die $!;
            $| = 1;
            print "bound\\n";
            <STDIN>;
            """;

    @Test
    void portWhoseNameAnotherUserHoldsHasTcpAlone() throws Exception {
        assumeTrue(Verbs.preferred().provider() == VerbsProvider.EMBEDDED, "needs the embedded provider's names");
        EchoServer free = ends.tcpServer(anyPort());
        InetSocketAddress address = free.address();
        free.close();
        Process holder = new ProcessBuilder("perl", "-e", HOLD_NAME.formatted(address.getPort()))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("bound");
            RdmaOrTcpServer server = bind(bootstrap(), address);
            assertThat(server.rdmaUnavailabilityCause()).hasMessageContaining("another user holds the port");
            assertReachable(server, RdmaOrTcpTransport.TCP);
            TestTimeouts.sync(server.close());

            Channel listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(echo).bind(address)).channel();
            assertReachable(address, RdmaOrTcpTransport.TCP);
            TestTimeouts.sync(listener.close());

            assertThat(TestTimeouts.await(bootstrap().require(RdmaOrTcpTransport.RDMA).bind(address)).cause())
                    .isInstanceOf(BindException.class).hasMessageContaining("another user holds the port");
        } finally {
            holder.destroy();
            holder.waitFor();
        }
    }

    @Test
    void optionsOfOneChannelClassAreGivenToThatOne() throws InterruptedException {
        try (LogRecorder log = new LogRecorder()) {
            RdmaOrTcpServer server = bind(bootstrap().option(ChannelOption.SO_BACKLOG, 77)
                    .option(EpollChannelOption.TCP_DEFER_ACCEPT, 0).option(RdmaChannelOption.IPV6_ONLY, false)
                    .option(ChannelOption.AUTO_READ, true)
                    .childOption(EpollChannelOption.TCP_KEEPIDLE, 77).childOption(RdmaChannelOption.MAX_INLINE, 100),
                    anyPort());
            assertThat(server.rdmaChannel().config().getBacklog()).isEqualTo(77);
            assertThat(server.tcpChannel().config().getBacklog()).isEqualTo(77);
            Channel overRdma = RdmaOrTcpEnds.connect(ends.bootstrap(), server.localAddress());
            assertThat(echo.nextConnection().channel().config().getOption(RdmaChannelOption.MAX_INLINE)).isEqualTo(100);
            Channel overTcp = ends.connectTcp(server.localAddress());
            assertThat(echo.nextConnection().channel().config().getOption(EpollChannelOption.TCP_KEEPIDLE))
                    .isEqualTo(77);
            TestTimeouts.sync(overRdma.close());
            TestTimeouts.sync(overTcp.close());
            TestTimeouts.sync(server.close());
            assertThat(log.messages(Level.WARN)).isEmpty();

            TestTimeouts.sync(bind(bootstrap().option(ChannelOption.valueOf("RdmaOrTcpServerTest"), 1), anyPort())
                    .close());
            assertThat(log.messages(Level.WARN)).hasSize(2).allMatch(line ->
                    line.contains("Unknown channel option") && line.contains("RdmaOrTcpServerTest"));
        }
    }

    @Test
    void badOptionFailsTheBindOfBoth() throws InterruptedException {
        RdmaOrTcpServer earlier = bind(bootstrap(), anyPort());
        TestTimeouts.sync(earlier.close());
        // The first one is checked by both, the second one by RDMA's alone.
        assertThat(TestTimeouts.await(bootstrap().option(ChannelOption.SO_BACKLOG, -1).bind(earlier.localAddress()))
                .cause()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("-1");
        assertThat(TestTimeouts.await(bootstrap().option(ChannelOption.IP_TOS, 256).bind(earlier.localAddress()))
                .cause()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("256");
        TestTimeouts.sync(bind(bootstrap(), earlier.localAddress()).close());
    }

    @Test
    void listenersThatAreToldNotToReadDoNot() throws InterruptedException {
        RdmaOrTcpServer server = bind(bootstrap().option(ChannelOption.AUTO_READ, false), anyPort());
        for (ServerChannel channel : server.channels()) {
            assertThat(channel.config().isAutoRead()).isFalse();
        }
        TestTimeouts.sync(server.close());
        RdmaOrTcpServer reads = bind(bootstrap(), anyPort());
        for (ServerChannel channel : reads.channels()) {
            assertThat(channel.config().isAutoRead()).isTrue();
        }
        TestTimeouts.sync(reads.close());
    }

    @Test
    void cancelledBindLeavesNoListener() throws InterruptedException {
        RdmaOrTcpServer earlier = bind(bootstrap(), anyPort());
        TestTimeouts.sync(earlier.close());
        Future<RdmaOrTcpServer> binding = bootstrap().bind(earlier.localAddress());
        if (!binding.cancel(false)) {
            TestTimeouts.sync(binding.getNow().close());
        }
        // It does not wait for the cancelled one, which has to be bound before it can be closed.
        TestTimeouts.awaitTrue(() -> {
            Future<RdmaOrTcpServer> again = bootstrap().bind(earlier.localAddress()).awaitUninterruptibly();
            return again.isSuccess() && again.getNow().close().awaitUninterruptibly().isSuccess();
        });
    }

    @Test
    void badArgumentsAreToldAtOnce() {
        RdmaOrTcpServerBootstrap empty = new RdmaOrTcpServerBootstrap();
        assertThatThrownBy(() -> empty.bind(0)).isInstanceOf(IllegalStateException.class).hasMessageContaining("group");
        assertThatThrownBy(() -> empty.clone().group(LOOPS.group()).bind(0)).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("childHandler");
        assertThatThrownBy(() -> bootstrap().bind(LocalAddress.ANY)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("InetSocketAddress");
    }

    // ---- ends

    /** Listens for RDMA at the port that TCP has just got, some times. */
    private static final class PortThief extends ChannelInitializer<ServerChannel> implements AutoCloseable {
        final List<EchoServer> stolen = new ArrayList<>();
        private final EventLoopGroup group = new RdmaEventLoopGroup(1);
        private final int times;

        PortThief(int times) {
            this.times = times;
        }

        @Override
        protected void initChannel(ServerChannel listener) {
            if (listener instanceof RdmaServerSocketChannel) {
                return;
            }
            listener.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
                @Override
                public void bind(ChannelHandlerContext ctx, SocketAddress address, ChannelPromise promise) {
                    ctx.bind(address, ctx.newPromise()).addListener(bound -> {
                        if (stolen.size() < times) {
                            steal(ctx.channel().localAddress(), promise);
                        }
                        promise.trySuccess();
                    });
                }
            });
        }

        private void steal(SocketAddress address, ChannelPromise promise) {
            try {
                stolen.add(new EchoServer(group, RdmaServerSocketChannel.class, address));
            } catch (Exception e) {
                // If somebody else has the port for RDMA already, that serves as well.
                if (!(e instanceof BindException)) {
                    promise.setFailure(e);
                }
            }
        }

        @Override
        public void close() throws IOException {
            stolen.forEach(EchoServer::close);
            try {
                TestTimeouts.shutdown(group);
            } catch (InterruptedException e) {
                throw new InterruptedIOException("interrupted while the loops of the thief end");
            }
        }
    }

    private RdmaOrTcpServerBootstrap bootstrap() {
        return new RdmaOrTcpServerBootstrap().group(LOOPS.group()).childHandler(echo);
    }

    private static RdmaOrTcpServer bind(RdmaOrTcpServerBootstrap bootstrap, InetSocketAddress address)
            throws InterruptedException {
        return TestTimeouts.sync(bootstrap.bind(address)).getNow();
    }

    private void assertReachable(RdmaOrTcpServer server, RdmaOrTcpTransport transport) throws InterruptedException {
        assertReachable(server.localAddress(), transport);
    }

    private void assertReachable(InetSocketAddress address, RdmaOrTcpTransport transport) throws InterruptedException {
        Channel channel = RdmaOrTcpEnds.connect(ends.bootstrap(), address);
        assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).as("transport to %s", address).isEqualTo(transport);
        TestTimeouts.sync(EchoClient.exchange(channel));
        TestTimeouts.sync(channel.close());
    }

    private static InetAddress address6() throws IOException {
        return InetAddress.getByName(System.getProperty("io.netty.rdma.test.address6", "::1"));
    }
}
