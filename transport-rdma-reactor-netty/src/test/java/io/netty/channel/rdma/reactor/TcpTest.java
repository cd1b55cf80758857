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
package io.netty.channel.rdma.reactor;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.handler.timeout.ReadTimeoutHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Subscription;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.ByteBufFlux;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("oldest")
class TcpTest {
    /** Long enough for what happens by itself. */
    private static final int QUIET_MILLIS = 500 * TestTimeouts.MULTIPLIER;

    private LoopResources loops;
    private Transport transport;
    private DisposableServer server;
    private final List<Connection> clients = new ArrayList<>();

    private TcpServer server(Transport transport) {
        this.transport = transport;
        loops = transport.newLoops();
        return TcpServer.create().runOn(loops).bindAddress(TestAddress::anyPort);
    }

    private TcpClient client() {
        return TcpClient.create(ConnectionProvider.newConnection()).runOn(loops)
                .remoteAddress(() -> server.address());
    }

    private Connection connect(TcpClient client) {
        Connection connection = client.connectNow(LIMIT);
        clients.add(connection);
        assertThat(transport.carries(connection.channel())).isTrue();
        return connection;
    }

    @AfterEach
    void end() {
        clients.forEach(client -> client.disposeNow(LIMIT));
        if (server != null) {
            server.disposeNow(LIMIT);
        }
        Transport.dispose(loops);
    }

    @ParameterizedTest
    @EnumSource
    void manyBytesBothWays(Transport transport) throws Exception {
        byte[] bytes = Transport.bytes(8 << 20, 1);
        server = server(transport).handle((in, out) -> out.send(in.receive().retain())).bindNow(LIMIT);
        Connection connection = connect(client());
        MessageDigest received = MessageDigest.getInstance("SHA-256");
        AtomicInteger left = new AtomicInteger(bytes.length);
        Mono<Void> echo = connection.inbound().receive().asByteArray()
                .doOnNext(received::update)
                .takeUntil(part -> left.addAndGet(-part.length) == 0)
                .then();
        CompletableFuture<Void> done = echo.toFuture();
        connection.outbound().send(ByteBufFlux.fromInbound(Flux.range(0, 128).map(i ->
                connection.channel().alloc().buffer().writeBytes(bytes, i << 16, 1 << 16)))).then().block(LIMIT);
        TestTimeouts.result(done);
        assertThat(received.digest()).isEqualTo(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    @ParameterizedTest
    @EnumSource
    void readerThatDoesNotAskStopsTheWriter(Transport transport) throws Exception {
        int part = 1 << 16;
        int parts = 512;
        AtomicLong produced = new AtomicLong();
        server = server(transport).handle((in, out) -> out.sendByteArray(
                Flux.range(0, parts).map(i -> Transport.bytes(part, i)).doOnNext(bytes -> produced.incrementAndGet())))
                .bindNow(LIMIT);
        Connection connection = connect(client().option(ChannelOption.SO_RCVBUF, 1 << 17));
        BlockingQueue<Integer> received = new LinkedBlockingQueue<>();
        CompletableFuture<Void> end = new CompletableFuture<>();
        BaseSubscriber<byte[]> reader = new BaseSubscriber<>() {
            @Override
            protected void hookOnSubscribe(Subscription subscription) {
                subscription.request(1);
            }

            @Override
            protected void hookOnNext(byte[] bytes) {
                received.add(bytes.length);
            }

            @Override
            protected void hookOnComplete() {
                end.complete(null);
            }

            @Override
            protected void hookOnError(Throwable throwable) {
                end.completeExceptionally(throwable);
            }
        };
        connection.inbound().receive().asByteArray().subscribe(reader);
        long bytes = TestTimeouts.take(received, "the part that was asked for");
        // All buffers between the ends hold only a fraction of the bytes.
        long before;
        do {
            before = produced.get();
            TimeUnit.MILLISECONDS.sleep(QUIET_MILLIS);
        } while (produced.get() != before);
        assertThat(produced.get()).isLessThan(parts);
        assertThat(received).isEmpty();
        reader.requestUnbounded();
        TestTimeouts.result(end);
        bytes += received.stream().mapToLong(Integer::longValue).sum();
        assertThat(bytes).isEqualTo((long) part * parts);
    }

    @ParameterizedTest
    @EnumSource
    void endOfTheClientsOutputComesAfterItsBytesAndEndsTheConnection(Transport transport) throws Exception {
        StringBuffer received = new StringBuffer();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        server = server(transport).doOnConnection(connection -> connection.onDispose(() -> ended.complete(null)))
                .handle((in, out) -> in.receive().asString().doOnNext(received::append).then()).bindNow(LIMIT);
        Connection connection = connect(client());
        connection.outbound().sendString(Mono.just("all")).then().block(LIMIT);
        TestTimeouts.sync(((SocketChannel) connection.channel()).shutdownOutput());
        TestTimeouts.result(ended);
        assertThat(received).hasToString("all");
        connection.onDispose().block(LIMIT);
    }

    @ParameterizedTest
    @EnumSource
    void abortIsSeenByThePeer(Transport transport) throws Exception {
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        server = server(transport).doOnConnection(connection -> accepted.complete(connection.channel()))
                .handle((in, out) -> in.receive().then().doOnError(failure::complete)).bindNow(LIMIT);
        Connection connection = connect(client().option(ChannelOption.SO_LINGER, 0));
        Channel peer = TestTimeouts.result(accepted);
        connection.channel().close();
        TestTimeouts.await(peer.closeFuture());
        assertThat(TestTimeouts.result(failure)).isInstanceOf(IOException.class);
    }

    @ParameterizedTest
    @EnumSource
    void silenceTimesOut(Transport transport) {
        server = server(transport).handle((in, out) -> out.neverComplete()).bindNow(LIMIT);
        Connection connection = connect(client().doOnConnected(
                connected -> connected.addHandlerLast(new ReadTimeoutHandler(20, TimeUnit.MILLISECONDS))));
        assertThatThrownBy(() -> connection.inbound().receive().then().block(LIMIT))
                .isInstanceOf(ReadTimeoutException.class);
    }

    @ParameterizedTest
    @EnumSource
    void connectingWhereNobodyListensFails(Transport transport) {
        server = server(transport).bindNow(LIMIT);
        InetSocketAddress address = (InetSocketAddress) server.address();
        server.disposeNow(LIMIT);
        assertThatThrownBy(() -> client().remoteAddress(() -> address).connect().block(LIMIT))
                .satisfies(error -> assertThat(Exceptions.unwrap(error))
                        .isInstanceOf(ConnectException.class)
                        .hasMessageContaining(String.valueOf(address.getPort())));
    }
}
