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
package io.netty.channel.rdma.vertx;

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.TrafficShapingOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.ConnectException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * {@code NetServer} and {@code NetClient}.
 */
@Tag("platforms")
@ExtendWith(Vertxes.Close.class)
class NetSocketTest {
    private static final int LENGTH = 3_000_000;
    /** Long enough for what happens by itself. */
    private static final int QUIET_MILLIS = 500 * TestTimeouts.MULTIPLIER;

    @ParameterizedTest
    @EnumSource
    void socketsAreOfTheTransport(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Promise<RdmaOrTcpTransport> accepted = Promise.promise();
        NetServer server = await(vertx.createNetServer()
                .connectHandler(socket -> accepted.complete(RdmaTransport.transport(socket)))
                .listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, new NetClientOptions());
        NetSocket socket = client.socket;
        RdmaOrTcpTransport expected = kind == Vertxes.EPOLL ? RdmaOrTcpTransport.TCP : RdmaOrTcpTransport.RDMA;
        assertThat(RdmaTransport.transport(socket)).isSameAs(expected);
        assertThat(await(accepted.future())).isSameAs(expected);
        assertThat(socket.remoteAddress().port()).isEqualTo(server.actualPort());
        assertThat(socket.remoteAddress().hostAddress()).isEqualTo(TestAddress.HOST);
        assertThat(socket.localAddress().port()).isPositive();
        assertThat(vertx.isNativeTransportEnabled()).isTrue();
        client.close();
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void bytesComeBackInOrder(Vertxes kind) throws Exception {
        echo(kind, new NetServerOptions(), new NetClientOptions());
    }

    @ParameterizedTest
    @CsvSource({ "RDMA, JDK", "RDMA, OPENSSL", "EPOLL, JDK", "EPOLL, OPENSSL", "RDMA_OR_TCP, OPENSSL" })
    void bytesComeBackInOrderThroughTls(Vertxes kind, Tls tls) throws Exception {
        echo(kind, tls.server(new NetServerOptions()),
                tls.client(new NetClientOptions().setHostnameVerificationAlgorithm("HTTPS")));
    }

    @ParameterizedTest
    @EnumSource
    void bytesComeBackInOrderWithinABandwidth(Vertxes kind) throws Exception {
        echo(kind, new NetServerOptions().setTrafficShapingOptions(new TrafficShapingOptions()
                        .setInboundGlobalBandwidth(20_000_000).setOutboundGlobalBandwidth(20_000_000)),
                new NetClientOptions());
    }

    private static void echo(Vertxes kind, NetServerOptions serverOptions, NetClientOptions clientOptions)
            throws Exception {
        Vertx vertx = kind.start();
        NetServer server = await(vertx.createNetServer(serverOptions).connectHandler(socket -> socket.pipeTo(socket))
                .listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, clientOptions);
        Future<Buffer> echo = client.read(LENGTH);
        await(client.socket.write(bytes(LENGTH)));
        assertThat(await(echo)).isEqualTo(bytes(LENGTH));
        assertThat(client.socket.isSsl()).isEqualTo(clientOptions.isSsl());
        client.close();
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void plainSocketsBecomeTls(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        NetServerOptions serverOptions = Tls.JDK.server(new NetServerOptions());
        serverOptions.setSsl(false);
        NetServer server = await(vertx.createNetServer(serverOptions)
                .connectHandler(socket -> socket.handler(start -> {
                    socket.handler(socket::write);
                    socket.upgradeToSsl(serverOptions.getSslOptions(), Buffer.buffer("go"));
                })).listen(0, TestAddress.HOST));
        NetClientOptions options = Tls.JDK.client(new NetClientOptions().setHostnameVerificationAlgorithm("HTTPS"));
        options.setSsl(false);
        Connection client = connect(vertx, server, options);
        // To be called on the event loop of the socket, which is where the answer is read.
        Future<Void> upgraded = client.read(2).compose(go -> client.socket.upgradeToSsl(options.getSslOptions(),
                TestAddress.HOST));
        await(client.socket.write("STARTTLS"));
        await(upgraded);
        Future<Buffer> echo = client.read(100_000);
        await(client.socket.write(bytes(100_000)));
        assertThat(await(echo)).isEqualTo(bytes(100_000));
        assertThat(client.socket.isSsl()).isTrue();
        client.close();
        await(vertx.close());
    }

    /** By {@code FileRegion} without TLS, in chunks with it. */
    @ParameterizedTest
    @CsvSource({ "RDMA, ", "RDMA, JDK", "EPOLL, ", "EPOLL, JDK", "RDMA_OR_TCP, " })
    void filesAreSent(Vertxes kind, Tls tls, @TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), bytes(LENGTH).getBytes());
        Vertx vertx = kind.start();
        NetServerOptions serverOptions = new NetServerOptions();
        NetClientOptions clientOptions = new NetClientOptions().setHostnameVerificationAlgorithm("HTTPS");
        NetServer server = await(vertx.createNetServer(tls == null ? serverOptions : tls.server(serverOptions))
                .connectHandler(socket -> socket.sendFile(file.toString(), 1000, LENGTH - 2000))
                .listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, tls == null ? clientOptions : tls.client(clientOptions));
        assertThat(await(client.read(LENGTH - 2000))).isEqualTo(bytes(LENGTH).slice(1000, LENGTH - 1000));
        client.close();
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void aReaderThatPausesStopsTheWriter(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Promise<Connection> accepted = Promise.promise();
        NetServer server = await(vertx.createNetServer().connectHandler(socket -> {
            socket.pause();
            accepted.complete(new Connection(null, socket));
        }).listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, new NetClientOptions());
        NetSocket socket = client.socket;
        Connection reader = await(accepted.future());
        int chunks = 0;
        Buffer chunk = bytes(65536);
        BlockingQueue<Boolean> drains = new LinkedBlockingQueue<>();
        socket.drainHandler(drained -> drains.add(true));
        // As long as there is room on the way to the reader, a full queue gets empty by itself.
        do {
            while (!socket.writeQueueFull()) {
                socket.write(chunk);
                chunks++;
                assertThat(chunks).isLessThan(10_000);
            }
        } while (drains.poll(QUIET_MILLIS, TimeUnit.MILLISECONDS) != null);
        Future<Buffer> all = reader.read(chunks * chunk.length());
        reader.socket.resume();
        TestTimeouts.take(drains, "the end of the writer's wait");
        assertThat(await(all).getBuffer(0, chunk.length())).isEqualTo(chunk);
        client.close();
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void anIdleConnectionIsClosed(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        NetServer server = await(vertx.createNetServer(new NetServerOptions().setIdleTimeout(200)
                .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)).connectHandler(socket -> { }).listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, new NetClientOptions());
        await(client.closed.future());
        client.close();
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void aPortWithoutAServerRefuses(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        NetClient client = vertx.createNetClient();
        try (Socket unused = new Socket()) {
            // Nobody listens there, and nobody else can.
            unused.bind(TestAddress.anyPort());
            assertThatThrownBy(() -> await(client.connect(unused.getLocalPort(), TestAddress.HOST)))
                    .hasCauseInstanceOf(ConnectException.class);
        }
        await(client.close());
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void aPortHasOneServerInAProcessThatDoesNotShareIt(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Vertx other = kind.start();
        NetServer server = await(vertx.createNetServer().connectHandler(socket -> { }).listen(0, TestAddress.HOST));
        assertThatThrownBy(() -> await(other.createNetServer().connectHandler(socket -> { })
                .listen(server.actualPort(), TestAddress.HOST)))
                .rootCause().hasMessageContaining("Address already in use");
        await(other.close());
        await(vertx.close());
    }

    /** Written bytes arrive before the end; the peer, of another Vert.x, sees the end. */
    @ParameterizedTest
    @EnumSource
    void closingAClientEndsItsConnectionsAfterWhatWasWritten(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Vertx other = kind.start();
        Promise<Buffer> received = Promise.promise();
        NetServer server = await(other.createNetServer().connectHandler(socket -> {
            Buffer all = Buffer.buffer();
            socket.handler(all::appendBuffer).closeHandler(v -> received.complete(all));
        }).listen(0, TestAddress.HOST));
        Connection client = connect(vertx, server, new NetClientOptions());
        await(client.socket.write(bytes(LENGTH)));
        client.close();
        await(vertx.close());
        assertThat(await(received.future())).isEqualTo(bytes(LENGTH));
        await(other.close());
    }

    private static Connection connect(Vertx vertx, NetServer server, NetClientOptions options) throws Exception {
        NetClient client = vertx.createNetClient(options.setConnectTimeout((int) TestTimeouts.SECONDS * 1000));
        return await(client.connect(server.actualPort(), TestAddress.HOST)
                .map(socket -> new Connection(client, socket)));
    }

    /** A socket, and what it has read. Made on its event loop, so that nothing is missed. */
    private static final class Connection {
        final NetSocket socket;
        /** A client that is garbage is closed by Vert.x, which then waits for its connections for 30 s. */
        private final NetClient client;
        private final Promise<Void> closed = Promise.promise();
        private Buffer received = Buffer.buffer();
        private int wanted;
        private Promise<Buffer> reading;

        Connection(NetClient client, NetSocket socket) {
            this.client = client;
            this.socket = socket;
            socket.handler(this::receive).closeHandler(this::end);
        }

        /** Closes the client. */
        void close() throws Exception {
            await(client.close());
        }

        private synchronized void receive(Buffer buffer) {
            received.appendBuffer(buffer);
            deliver();
        }

        private void deliver() {
            if (reading != null && received.length() >= wanted) {
                reading.complete(received.getBuffer(0, wanted));
                received = received.getBuffer(wanted, received.length());
                reading = null;
            }
        }

        private synchronized void end(Void none) {
            if (reading != null) {
                reading.fail("closed after " + received.length() + " bytes");
            }
            closed.complete();
        }

        /** The next bytes, as many. */
        synchronized Future<Buffer> read(int length) {
            Promise<Buffer> promise = Promise.promise();
            wanted = length;
            reading = promise;
            deliver();
            return promise.future();
        }
    }
}
