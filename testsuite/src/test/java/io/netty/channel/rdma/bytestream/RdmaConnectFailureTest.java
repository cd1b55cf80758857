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
package io.netty.channel.rdma.bytestream;

import ch.qos.logback.classic.Level;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.rdma.support.VerbsPeer;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Failures before there is a connection: each has its own error, and then an echo proves that the event loops
 * and the listener go on.
 */
@Tag("quick")
@Tag("rxe-quick")
@Tag("stalls")
class RdmaConnectFailureTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);
    private EchoServer server;

    @BeforeEach
    void startServer() throws InterruptedException {
        server = new EchoServer(LOOPS.group());
    }

    @AfterEach
    void echoAndStop() throws InterruptedException {
        EchoClient.check(LOOPS.group(), server.address());
        server.close();
    }

    @Test
    void nobodyListens() throws InterruptedException {
        InetSocketAddress free = server.address();
        server.close();

        Throwable failure = connectFailure(free);
        assertThat(failure).isInstanceOf(ConnectException.class)
                .hasMessageContaining("Connection refused").hasMessageContaining(Integer.toString(free.getPort()));
        if (VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED) {
            assertThat(failure.getMessage()).as("where there may be one that was not found").containsPattern(
                    "no process of user [0-9]+ in this network namespace listens for RDMA; TCP listeners do not count");
        }

        server = new EchoServer(LOOPS.group());
    }

    /** At some moments its refusal meets the client's last message, for which the connection is there already. */
    @Test
    void serverThatClosesAtAnyMomentOfTheEstablishmentIsNoticed() throws InterruptedException {
        BlockingQueue<Channel> children = new LinkedBlockingQueue<>();
        EventLoopGroup serverGroup = new RdmaEventLoopGroup(1);
        try {
            Channel listener = TestTimeouts.await(new ServerBootstrap().group(serverGroup)
                    .channel(RdmaServerSocketChannel.class).childOption(ChannelOption.SO_LINGER, 0)
                    .childHandler(new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel child) {
                            children.add(child);
                        }
                    }).bind(RdmaSocketTestPermutation.newSocketAddress())).channel();
            for (int i = 0; i < 200; i++) {
                ChannelFuture connected = bootstrap().connect(listener.localAddress());
                TestTimeouts.take(children, "a connection").close();
                if (TestTimeouts.await(connected).isSuccess()) {
                    TestTimeouts.await(connected.channel().closeFuture());
                }
            }
            TestTimeouts.await(listener.close());
        } finally {
            TestTimeouts.shutdown(serverGroup);
        }
    }

    @Test
    void unknownHost() throws InterruptedException {
        // RFC 2606: never exists.
        ChannelFuture future = TestTimeouts.await(bootstrap().connect("no-such-host.invalid", 7));
        assertThat(future.cause()).isInstanceOf(UnknownHostException.class)
                .hasMessageContaining("no-such-host.invalid");
    }

    @Test
    void addressThatNoDeviceReaches() throws InterruptedException {
        // RFC 5737: an address for documentation, which is nobody's.
        Throwable failure = connectFailure(new InetSocketAddress("192.0.2.1", 7));
        assertThat(failure).isInstanceOf(IOException.class).hasMessageContaining("192.0.2.1");
        if (failure instanceof NoRouteToHostException) {
            assertThat(failure.getMessage().split("192\\.0\\.2\\.1", -1)).as("the address is told once").hasSize(2);
            assertThat(failure.getCause()).as("a class that applications know").asString()
                    .startsWith(NoRouteToHostException.class.getName() + ": No RDMA route (");
        }
    }

    @Test
    void portInUse() throws InterruptedException {
        ServerBootstrap second = new ServerBootstrap().group(LOOPS.group()).channel(RdmaServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter());
        ChannelFuture future = TestTimeouts.await(second.bind(server.address()));
        assertThat(future.cause()).isInstanceOf(BindException.class)
                .hasMessageContaining(Integer.toString(server.address().getPort()));
    }

    @ParameterizedTest
    @ValueSource(ints = {15, 32769, -1})
    void badOptionValue(int depth) throws InterruptedException {
        assertThatThrownBy(() -> new RdmaSocketChannel().config()
                .setOption(RdmaChannelOption.SEND_QUEUE_DEPTH, depth)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(depth)).hasMessageContaining("16").hasMessageContaining("32768");

        Bootstrap bootstrap = bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, depth);
        ChannelFuture future = TestTimeouts.await(bootstrap.connect(server.address()));
        assertThat(future.cause()).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(Integer.toString(depth));
    }

    @Test
    void serverSpeaksAnotherProtocol() throws Exception {
        try (VerbsPeer other = VerbsPeer.listen((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress())) {
            ChannelFuture future = bootstrap().connect(other.localAddress());
            other.accept("220 smtp.example.org ESMTP".getBytes(StandardCharsets.US_ASCII));

            TestTimeouts.await(future);
            assertThat(future.cause()).isInstanceOf(IOException.class).hasMessageContaining("rsockets");
            TestTimeouts.await(future.channel().closeFuture());
        }
    }

    @Test
    void serverSpeaksAnotherVersion() throws Exception {
        try (VerbsPeer other = VerbsPeer.listen((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress())) {
            ChannelFuture future = bootstrap().connect(other.localAddress());
            byte[] data = new byte[40];
            data[0] = 2;
            other.accept(data);

            TestTimeouts.await(future);
            assertThat(future.cause()).isInstanceOf(IOException.class).hasMessageContaining("version 2");
        }
    }

    @Test
    void serverRejects() throws Exception {
        try (VerbsPeer other = VerbsPeer.listen((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress())) {
            ChannelFuture future = bootstrap().connect(other.localAddress());
            other.reject(new byte[0]);

            TestTimeouts.await(future);
            assertThat(future.cause()).isInstanceOf(ConnectException.class).hasMessageContaining("gives no reason");
        }
    }

    @Test
    void serverNeverAnswers() throws Exception {
        try (VerbsPeer silent = VerbsPeer.listen((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress())) {
            ChannelFuture future = bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 300)
                    .connect(silent.localAddress());
            TestTimeouts.await(future);
            assertThat(future.cause()).isInstanceOf(ConnectTimeoutException.class).hasMessageContaining("300 ms");
            TestTimeouts.await(future.channel().closeFuture());
        }
    }

    @Test
    void connectIsCancelled() throws Exception {
        try (VerbsPeer silent = VerbsPeer.listen((InetSocketAddress) RdmaSocketTestPermutation.newSocketAddress())) {
            ChannelFuture future = bootstrap().connect(silent.localAddress());
            silent.awaitRequest();
            assertThat(future.cancel(true)).isTrue();
            TestTimeouts.await(future.channel().closeFuture());
            assertThat(future.isCancelled()).isTrue();
        }
    }

    @Test
    void clientGivesUpBeforeTheListenerReads() throws Exception {
        try (EchoServer busy = new EchoServer(LOOPS.group())) {
            busy.pause();
            ChannelFuture future = TestTimeouts.sync(bootstrap().connect(busy.address()));
            TestTimeouts.await(future.channel().close());
            busy.resume();
            // The connection that is over already must not keep the next one from being served.
            EchoClient.check(LOOPS.group(), busy.address());
        }
    }

    @Test
    void clientsThatVanishWhileTheyConnectDoNotFillTheLog() throws Exception {
        try (LogRecorder log = new LogRecorder()) {
            for (int i = 0; i < 5; i++) {
                CountDownLatch gone = new CountDownLatch(1);
                Future<?> busy = LOOPS.group().submit(() -> gone.await(TestTimeouts.SECONDS, TimeUnit.SECONDS));
                try (VerbsPeer client = VerbsPeer.resolve(server.address())) {
                    client.request();
                }
                gone.countDown();
                TestTimeouts.await(busy);
            }
            // The requests are handled in their order.
            EchoClient.check(LOOPS.group(), server.address());
            assertThat(log.messages(Level.WARN)).isEmpty();
        }
    }

    @Test
    void clientSpeaksAnotherProtocol() throws Exception {
        try (VerbsPeer other = VerbsPeer.resolve(server.address())) {
            ConnectionEvent event = other.connect("GET / HTTP/1.1".getBytes(StandardCharsets.US_ASCII));
            assertThat(event.type()).isEqualTo(ConnectionEventType.REJECTED);
            assertThat(event.isRejectedByApplication()).isTrue();
            assertThat(new String(event.privateData(), StandardCharsets.US_ASCII)).contains("rsockets");
        }
    }

    @Test
    void clientSendsConnectionDataThatCannotBe() throws Exception {
        try (VerbsPeer other = VerbsPeer.resolve(server.address())) {
            byte[] data = other.connectionData();
            data[2] = 0;
            data[3] = 0;
            ConnectionEvent event = other.connect(data);
            assertThat(event.type()).isEqualTo(ConnectionEventType.REJECTED);
            assertThat(new String(event.privateData(), StandardCharsets.US_ASCII)).contains("credits");
        }
    }

    private static Throwable connectFailure(InetSocketAddress address) throws InterruptedException {
        ChannelFuture future = TestTimeouts.await(bootstrap().connect(address));
        assertThat(future.isSuccess()).isFalse();
        TestTimeouts.await(future.channel().closeFuture());
        return future.cause();
    }

    private static Bootstrap bootstrap() {
        return new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
    }
}
