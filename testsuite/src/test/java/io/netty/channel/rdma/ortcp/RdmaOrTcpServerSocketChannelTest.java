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
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaOrTcpEnds;
import io.netty.channel.rdma.verbs.NoRdmaDeviceException;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.unix.IntegerUnixChannelOption;
import io.netty.util.concurrent.EventExecutor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.support.RdmaOrTcpEnds.anyPort;
import static io.netty.channel.rdma.support.RdmaOrTcpEnds.close;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A channel that listens for RDMA and TCP at one port: where it can, where it can't, and how it ends.
 */
class RdmaOrTcpServerSocketChannelTest {
    /** {@code IP_LOCAL_PORT_RANGE}: the first port, and the last one times 65536. */
    private static final IntegerUnixChannelOption PORT_RANGE =
            new IntegerUnixChannelOption("IP_LOCAL_PORT_RANGE", 0, 51);

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaOrTcpEnds ends = new RdmaOrTcpEnds(LOOPS.group());
    private final EchoServer.Initializer echo = new EchoServer.Initializer();

    @Test
    void connectionsOfBothTransportsComeThroughOneChannel() throws InterruptedException {
        RdmaOrTcpMetrics metrics = RdmaOrTcpMetrics.total();
        long acceptsOfRdma = metrics.accepts(RdmaOrTcpTransport.RDMA);
        long acceptsOfTcp = metrics.accepts(RdmaOrTcpTransport.TCP);
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), anyPort());
        assertThat(server.localAddress().getPort()).isPositive();
        assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.localAddress());
        assertThat(server.tcpChannel().localAddress()).isEqualTo(server.localAddress());
        assertThat(server.rdmaUnavailabilityCause()).isNull();
        assertThat(server.rdmaChannel().attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
        assertThat(server.tcpChannel().attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.TCP);
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            Channel client = connect(transport, server.localAddress());
            SocketChannel child = (SocketChannel) echo.nextConnection().channel();
            assertThat(child).isInstanceOf(
                    transport == RdmaOrTcpTransport.RDMA ? RdmaSocketChannel.class : EpollSocketChannel.class);
            assertThat(child.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(transport);
            assertThat(child.parent()).isSameAs(
                    transport == RdmaOrTcpTransport.RDMA ? server.rdmaChannel() : server.tcpChannel());
            assertThat(child.parent().localAddress()).isEqualTo(server.localAddress());
            TestTimeouts.sync(EchoClient.exchange(client));
            close(client);
        }
        assertThat(metrics.accepts(RdmaOrTcpTransport.RDMA) - acceptsOfRdma).isOne();
        assertThat(metrics.accepts(RdmaOrTcpTransport.TCP) - acceptsOfTcp).isOne();
        close(server);
        assertThat(server.rdmaChannel().isOpen()).isFalse();
        assertThat(server.tcpChannel().isOpen()).isFalse();
    }

    @Test
    void handlersSeeOneChannel() throws InterruptedException {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        RdmaOrTcpServerSocketChannel server = bind(bootstrap().handler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                events.add("registered " + ctx.channel().getClass().getSimpleName());
                ctx.fireChannelRegistered();
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active");
                ctx.fireChannelActive();
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                events.add("read " + msg.getClass().getSimpleName());
                ctx.fireChannelRead(msg);
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
            }
        }), anyPort());
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            close(connect(transport, server.localAddress()));
            echo.nextConnection();
        }
        close(server);
        for (String expected : new String[] {"registered RdmaOrTcpServerSocketChannel", "active",
                "read RdmaSocketChannel", "read EpollSocketChannel", "inactive", "unregistered"}) {
            assertThat(TestTimeouts.take(events, expected)).isEqualTo(expected);
        }
    }

    @Test
    void oneReadIsOneConnectionOfWhicheverTransport() throws InterruptedException {
        RdmaOrTcpServerSocketChannel server = bind(bootstrap().option(ChannelOption.AUTO_READ, false), anyPort());
        Channel[] clients = new Channel[4];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = connect(RdmaOrTcpTransport.values()[i % 2], server.localAddress());
        }
        for (int i = 0; i < clients.length; i++) {
            server.read();
            echo.nextConnection();
            // Messages of the same turn are handed on by tasks of this loop and of the child's.
            for (int turn = 0; turn < 3; turn++) {
                for (Object loop : new Object[] {server.eventLoop(), LOOPS.group().next(), LOOPS.group().next()}) {
                    TestTimeouts.sync(((EventLoop) loop).submit(() -> { }));
                }
            }
            assertThat(echo.hasConnection()).as("after read %d", i).isFalse();
        }
        for (Channel client : clients) {
            TestTimeouts.sync(EchoClient.exchange(client));
            close(client);
        }
        server.config().setAutoRead(true);
        close(connect(RdmaOrTcpTransport.TCP, server.localAddress()));
        close(connect(RdmaOrTcpTransport.RDMA, server.localAddress()));
        echo.nextConnection();
        echo.nextConnection();
        close(server);
    }

    @Test
    void portThatOneOfThemHasInUseIsUsedByNeither() throws InterruptedException {
        // A port that is free for TCP, of which there are fewer.
        EchoServer tcp = ends.tcpServer(anyPort());
        assertThat(TestTimeouts.await(bootstrap().bind(tcp.address())).cause()).isInstanceOf(BindException.class)
                .hasMessageContaining(tcp.address().toString()).hasMessageContaining("for TCP");
        try (EchoServer rdma = ends.rdmaServer(tcp.address())) {
            tcp.close();
            assertThat(TestTimeouts.await(bootstrap().bind(rdma.address())).cause()).isInstanceOf(BindException.class)
                    .hasMessageContaining(rdma.address().toString()).hasMessageContaining("for RDMA");
            ends.tcpServer(rdma.address()).close();
        }
        close(bind(bootstrap(), tcp.address()));
    }

    @Test
    void portThatIsInUseForRdmaAloneHasTcpIfRdmaIsToBeHadIfPossible() throws InterruptedException {
        ServerBootstrap bootstrap = bootstrap(RdmaOrTcpChoice.RDMA_IF_POSSIBLE);
        InetSocketAddress address;
        try (EchoServer rdma = rdmaServer()) {
            address = rdma.address();
            RdmaOrTcpServerSocketChannel server = bind(bootstrap, address);
            assertThat(server.rdmaChannel()).isNull();
            assertThat(server.rdmaUnavailabilityCause()).isInstanceOf(BindException.class);
            Channel client = connect(RdmaOrTcpTransport.TCP, address);
            TestTimeouts.sync(EchoClient.exchange(client));
            close(client);
            close(server);
        }
        RdmaOrTcpServerSocketChannel server = bind(bootstrap, address);
        assertReachable(address, RdmaOrTcpTransport.RDMA);
        // TCP fails, with its own exception.
        Throwable cause = TestTimeouts.await(bootstrap.bind(address)).cause();
        Throwable ofTcp = TestTimeouts.await(new ServerBootstrap().group(LOOPS.group()).childHandler(echo)
                .channel(EpollServerSocketChannel.class).bind(address)).cause();
        assertThat(cause).hasSameClassAs(ofTcp).hasMessage(ofTcp.getMessage());
        close(server);
    }

    @Test
    void listenersThatShareAPortHaveRdmaOnce() throws InterruptedException {
        ServerBootstrap bootstrap = bootstrap(RdmaOrTcpChoice.RDMA_IF_POSSIBLE)
                .option(EpollChannelOption.SO_REUSEPORT, true);
        RdmaOrTcpServerSocketChannel first = bind(bootstrap, anyPort());
        RdmaOrTcpServerSocketChannel second = bind(bootstrap, first.localAddress());
        assertThat(first.rdmaChannel()).isNotNull();
        assertThat(second.rdmaChannel()).isNull();
        assertThat(second.tcpChannel().isActive()).isTrue();
        assertReachable(first.localAddress(), RdmaOrTcpTransport.RDMA);
        close(first);
        close(second);
    }

    /** Listens for RDMA at a port that is free for TCP. */
    private EchoServer rdmaServer() throws InterruptedException {
        try (EchoServer tcp = ends.tcpServer(anyPort())) {
            return ends.rdmaServer(tcp.address());
        }
    }

    /** Lets port 0 be one of these. */
    private ServerBootstrap withPorts(int first, int last) throws InterruptedException {
        // So that nothing but the option is a reason to skip.
        close(TestTimeouts.sync(bootstrap().register()).channel());
        ServerBootstrap bootstrap = bootstrap().option(PORT_RANGE, last << 16 | first);
        ChannelFuture registered = TestTimeouts.await(bootstrap.register());
        assumeTrue(registered.isSuccess(), () -> "needs Linux 6.3: " + registered.cause());
        close(registered.channel());
        return bootstrap;
    }

    private static long otherPorts(LogRecorder log) {
        return log.messages(Level.DEBUG).stream().filter(line -> line.contains("trying another port")).count();
    }

    @Test
    void anyPortIsOneThatIsFreeForBoth() throws InterruptedException {
        try (LogRecorder log = new LogRecorder(RdmaOrTcpServerSocketChannel.class.getName(), Level.DEBUG)) {
            // The kernel begins with any of a quarter of the ports.
            for (int i = 0; i < 50 && otherPorts(log) == 0; i++) {
                try (EchoServer rdma = rdmaServer()) {
                    int taken = rdma.address().getPort();
                    RdmaOrTcpServerSocketChannel server = bind(withPorts(taken - 7, taken + 8), anyPort());
                    assertThat(server.localAddress().getPort()).isBetween(taken - 7, taken + 8).isNotEqualTo(taken);
                    assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.localAddress());
                    assertThat(server.tcpChannel().localAddress()).isEqualTo(server.localAddress());
                    assertReachable(server.localAddress(), RdmaOrTcpTransport.RDMA);
                    close(server);
                }
            }
            assertThat(otherPorts(log)).isPositive();
        }
    }

    @Test
    void searchForAFreePortHasAnEnd() throws InterruptedException {
        try (EchoServer rdma = rdmaServer();
             LogRecorder log = new LogRecorder(RdmaOrTcpServerSocketChannel.class.getName(), Level.DEBUG)) {
            int taken = rdma.address().getPort();
            assertThat(TestTimeouts.await(withPorts(taken, taken).bind(anyPort())).cause())
                    .isInstanceOf(BindException.class).hasMessageContaining("for RDMA");
            assertThat(otherPorts(log)).isBetween(1L, 100L);
            ends.tcpServer(rdma.address()).close();
        }
    }

    @Test
    void wildcardAddressIsOneForBoth() throws Exception {
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), new InetSocketAddress(0));
        assertThat(server.rdmaChannel().localAddress().getAddress().isAnyLocalAddress()).isTrue();
        int port = server.localAddress().getPort();
        assertReachable(new InetSocketAddress(anyPort().getAddress(), port), RdmaOrTcpTransport.RDMA);
        assertReachable(new InetSocketAddress(address6(), port), RdmaOrTcpTransport.RDMA);
        assertReachable(server.localAddress(), RdmaOrTcpTransport.RDMA);
        close(server);
    }

    @Test
    void addressOfIpv6() throws Exception {
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), new InetSocketAddress(address6(), 0));
        assertThat(server.rdmaChannel().localAddress()).isEqualTo(server.tcpChannel().localAddress());
        assertReachable(server.localAddress(), RdmaOrTcpTransport.RDMA);
        close(server);
    }

    @Test
    void addressOfNoRdmaDeviceHasTcpAlone() throws InterruptedException {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.IBVERBS,
                "needs kernel verbs: the embedded provider's device has all addresses");
        InetSocketAddress loopback = new InetSocketAddress("127.0.0.1", 0);
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), loopback);
        assertThat(server.rdmaUnavailabilityCause()).isInstanceOf(NoRdmaDeviceException.class);
        assertReachable(server.localAddress(), RdmaOrTcpTransport.TCP);
        close(server);
        assertThat(TestTimeouts.await(bootstrap(RdmaOrTcpChoice.RDMA_AND_TCP).bind(loopback)).cause())
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
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "needs the embedded provider's names");
        EchoServer free = ends.tcpServer(anyPort());
        InetSocketAddress address = free.address();
        free.close();
        Process holder = new ProcessBuilder("perl", "-e", HOLD_NAME.formatted(address.getPort()))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("bound");
            RdmaOrTcpServerSocketChannel server = bind(bootstrap(), address);
            assertThat(server.rdmaUnavailabilityCause()).hasMessageContaining("another user holds the port");
            assertReachable(address, RdmaOrTcpTransport.TCP);
            close(server);
            assertThat(TestTimeouts.await(bootstrap(RdmaOrTcpChoice.RDMA_AND_TCP).bind(address)).cause())
                    .isInstanceOf(BindException.class).hasMessageContaining("another user holds the port");
            ends.tcpServer(address).close();
        } finally {
            holder.destroy();
            holder.waitFor();
        }
    }

    @Test
    void badOptionFailsTheBindOfBoth() throws InterruptedException {
        RdmaOrTcpServerSocketChannel earlier = bind(bootstrap(), anyPort());
        close(earlier);
        // The first one is checked by both, the second one by RDMA's alone.
        assertThat(TestTimeouts.await(bootstrap().option(ChannelOption.SO_BACKLOG, -1).bind(earlier.localAddress()))
                .cause()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("-1");
        assertThat(TestTimeouts.await(bootstrap().option(ChannelOption.IP_TOS, 256).bind(earlier.localAddress()))
                .cause()).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("256");
        close(bind(bootstrap(), earlier.localAddress()));
    }

    @Test
    void bindThatIsCancelledBeforeItBeginsLeavesNoListener() throws InterruptedException {
        RdmaOrTcpServerSocketChannel earlier = bind(bootstrap(), anyPort());
        close(earlier);
        CountDownLatch cancelled = new CountDownLatch(1);
        for (EventExecutor loop : LOOPS.group()) {
            loop.submit(() -> cancelled.await(TestTimeouts.SECONDS, TimeUnit.SECONDS));
        }
        ChannelFuture binding;
        try {
            binding = bootstrap().bind(earlier.localAddress());
            assertThat(binding.cancel(false)).isTrue();
        } finally {
            cancelled.countDown();
        }
        TestTimeouts.sync(binding.channel().closeFuture());
        close(bind(bootstrap(), earlier.localAddress()));
    }

    @Test
    void bindThatIsCancelledAtSomeMomentLeavesNoListener() throws InterruptedException {
        RdmaOrTcpServerSocketChannel earlier = bind(bootstrap(), anyPort());
        close(earlier);
        ChannelFuture binding = bootstrap().bind(earlier.localAddress());
        if (!binding.cancel(false)) {
            close(binding.channel());
        }
        TestTimeouts.sync(binding.channel().closeFuture());
        close(bind(bootstrap(), earlier.localAddress()));
    }

    @Test
    void connectionsWhoseLoopsServeNoRdmaAreOverTcp() throws InterruptedException {
        EventLoopGroup epoll = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try {
            RdmaOrTcpServerSocketChannel server = bind(new ServerBootstrap().group(LOOPS.group(), epoll)
                    .channel(RdmaOrTcpServerSocketChannel.class).childHandler(echo), anyPort());
            assertReachable(server.localAddress(), RdmaOrTcpTransport.TCP);
            close(server);
        } finally {
            TestTimeouts.shutdown(epoll);
        }
    }

    @Test
    void loopsThatServeNeitherAreToldWhatToUse() throws InterruptedException {
        EventLoopGroup local = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
        try {
            assertThat(TestTimeouts.await(serverBootstrap(local).bind(anyPort())).cause())
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("newEventLoopGroup");
        } finally {
            TestTimeouts.shutdown(local);
        }
    }

    @Test
    void ruleSaysForWhatItListens() throws InterruptedException {
        RdmaOrTcpServerSocketChannel both = bind(bootstrap(RdmaOrTcpChoice.RDMA_AND_TCP), anyPort());
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            close(connect(transport, both.localAddress()));
            echo.nextConnection();
        }
        close(both);

        RdmaOrTcpServerSocketChannel rdmaOnly = bind(bootstrap(RdmaOrTcpChoice.RDMA_ONLY), anyPort());
        assertThat(rdmaOnly.tcpChannel()).isNull();
        assertThat(rdmaOnly.localAddress()).isEqualTo(rdmaOnly.rdmaChannel().localAddress());
        close(connect(RdmaOrTcpTransport.RDMA, rdmaOnly.localAddress()));
        echo.nextConnection();
        close(rdmaOnly);

        RdmaOrTcpServerSocketChannel tcpOnly = bind(new ServerBootstrap().group(LOOPS.group())
                .channelFactory(() -> new RdmaOrTcpServerSocketChannel(RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY)))
                .childHandler(echo), anyPort());
        assertThat(tcpOnly.rdmaChannel()).isNull();
        assertThat(tcpOnly.rdmaUnavailabilityCause()).isNull();
        ends.rdmaServer(tcpOnly.localAddress()).close();
        close(connect(RdmaOrTcpTransport.TCP, tcpOnly.localAddress()));
        echo.nextConnection();
        close(tcpOnly);
    }

    @Test
    void loopsThatServeNoRdmaListenForTcpAndSayWhy() throws InterruptedException {
        for (EventLoopGroup group : new EventLoopGroup[] {
                new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory()),
                new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory())}) {
            try (LogRecorder log = new LogRecorder()) {
                RdmaOrTcpServerSocketChannel server = bind(serverBootstrap(group), anyPort());
                assertThat(server.rdmaChannel()).isNull();
                assertThat(server.rdmaUnavailabilityCause()).hasMessageContaining("newEventLoopGroup");
                assertThat(log.messages(Level.INFO)).singleElement().asString().contains("listens for TCP alone, as " +
                        "RDMA is not available: the event loops of ");
                assertThat(log.messages(Level.WARN)).hasSize(1);
                assertThat(log.hasTrace(Level.INFO)).isFalse();
                Channel client = connect(RdmaOrTcpTransport.TCP, server.localAddress());
                TestTimeouts.sync(EchoClient.exchange(client));
                close(client);
                close(server);
                for (RdmaOrTcpChoice choice : List.of(RdmaOrTcpChoice.RDMA_ONLY, RdmaOrTcpChoice.RDMA_AND_TCP)) {
                    assertThat(TestTimeouts.await(serverBootstrap(group).option(RdmaOrTcpChannelOption.TRANSPORT_RULE,
                            RdmaOrTcpRule.always(choice)).bind(server.localAddress())).cause())
                            .isInstanceOf(BindException.class).hasMessageContaining("newEventLoopGroup");
                }
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    @Test
    void optionsAreGivenToThoseThatKnowThem() throws InterruptedException {
        try (LogRecorder log = new LogRecorder()) {
            RdmaOrTcpServerSocketChannel server = bind(bootstrap().option(ChannelOption.SO_BACKLOG, 77)
                    .option(EpollChannelOption.TCP_DEFER_ACCEPT, 0).option(RdmaChannelOption.IPV6_ONLY, false)
                    .option(RdmaOrTcpChannelOption.CHILD_OPTIONS, Map.of(RdmaChannelOption.MAX_INLINE, 100,
                            EpollChannelOption.TCP_QUICKACK, true, ChannelOption.SO_KEEPALIVE, true)), anyPort());
            assertThat(server.config().getBacklog()).isEqualTo(77);
            assertThat(server.rdmaChannel().config().getBacklog()).isEqualTo(77);
            assertThat(server.tcpChannel().config().getBacklog()).isEqualTo(77);
            assertThat(server.config().getOptions()).containsEntry(ChannelOption.SO_BACKLOG, 77);
            Channel overRdma = connect(RdmaOrTcpTransport.RDMA, server.localAddress());
            SocketChannel rdmaChild = (SocketChannel) echo.nextConnection().channel();
            assertThat(rdmaChild.config().getOption(RdmaChannelOption.MAX_INLINE)).isEqualTo(100);
            assertThat(rdmaChild.config().isKeepAlive()).isTrue();
            Channel overTcp = connect(RdmaOrTcpTransport.TCP, server.localAddress());
            assertThat(((SocketChannel) echo.nextConnection().channel()).config().isKeepAlive()).isTrue();
            close(overRdma);
            close(overTcp);
            close(server);
            assertThat(log.messages(Level.WARN)).isEmpty();

            close(bind(bootstrap().option(ChannelOption.valueOf("RdmaOrTcpServerSocketChannelTest"), 1), anyPort()));
            assertThat(log.messages(Level.WARN)).singleElement().asString().contains("Unknown channel option",
                    "RdmaOrTcpServerSocketChannelTest");
        }
    }

    @Test
    void oneListenerMayEndBeforeTheOther() throws InterruptedException {
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), anyPort());
        try (LogRecorder log = new LogRecorder()) {
            close(server.rdmaChannel());
            Channel client = connect(RdmaOrTcpTransport.TCP, server.localAddress());
            TestTimeouts.sync(EchoClient.exchange(client));
            close(client);
            assertThat(log.messages(Level.WARN)).singleElement().asString()
                    .contains(server.localAddress().toString(), "the other one goes on");
            assertThat(server.isActive()).isTrue();
            close(server.tcpChannel());
            TestTimeouts.sync(server.closeFuture());
            assertThat(log.messages(Level.WARN)).hasSize(1);
        }
    }

    @Test
    void listenerGoesOnOnAnotherLoop() throws InterruptedException {
        RdmaOrTcpServerSocketChannel server = bind(bootstrap(), anyPort());
        EventLoop before = server.eventLoop();
        TestTimeouts.sync(server.deregister());
        EventLoop next;
        do {
            next = LOOPS.group().next();
        } while (next == before);
        TestTimeouts.sync(next.register(server));
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            Channel client = connect(transport, server.localAddress());
            TestTimeouts.sync(EchoClient.exchange(client));
            close(client);
        }
        close(server);
    }

    @Test
    void endOfTheEventLoopsEndsTheListeners() throws InterruptedException {
        EventLoopGroup group = RdmaOrTcp.newEventLoopGroup(1);
        RdmaOrTcpServerSocketChannel unbound = (RdmaOrTcpServerSocketChannel) TestTimeouts.sync(
                serverBootstrap(group).register()).channel();
        RdmaOrTcpServerSocketChannel server = bind(serverBootstrap(group), anyPort());
        TestTimeouts.shutdown(group);
        for (Channel channel : new Channel[] {unbound, server, server.rdmaChannel(), server.tcpChannel()}) {
            assertThat(channel.closeFuture().await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        }
    }

    // ---- ends

    private ServerBootstrap bootstrap() {
        return serverBootstrap(LOOPS.group());
    }

    private ServerBootstrap bootstrap(RdmaOrTcpChoice choice) {
        return bootstrap().option(RdmaOrTcpChannelOption.TRANSPORT_RULE, RdmaOrTcpRule.always(choice));
    }

    private ServerBootstrap serverBootstrap(EventLoopGroup group) {
        return new ServerBootstrap().group(group).channel(RdmaOrTcpServerSocketChannel.class).childHandler(echo);
    }

    private static RdmaOrTcpServerSocketChannel bind(ServerBootstrap bootstrap, InetSocketAddress address)
            throws InterruptedException {
        return (RdmaOrTcpServerSocketChannel) TestTimeouts.sync(bootstrap.bind(address)).channel();
    }

    private Channel connect(RdmaOrTcpTransport transport, InetSocketAddress address) throws InterruptedException {
        return TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                .channel(transport == RdmaOrTcpTransport.RDMA ? RdmaSocketChannel.class : EpollSocketChannel.class)
                .handler(new RdmaOrTcpEnds.Nothing()).connect(address)).channel();
    }

    private void assertReachable(InetSocketAddress address, RdmaOrTcpTransport transport) throws InterruptedException {
        Channel channel = RdmaOrTcpEnds.connect(ends.bootstrap(), address);
        assertThat(channel.attr(RdmaOrTcp.TRANSPORT).get()).as("transport to %s", address).isEqualTo(transport);
        TestTimeouts.sync(EchoClient.exchange(channel));
        close(channel);
    }

    private static InetAddress address6() throws IOException {
        return InetAddress.getByName(System.getProperty("io.netty.rdma.test.address6", "::1"));
    }
}
