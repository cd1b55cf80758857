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
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.core.Resume;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.client.WebsocketClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.transport.netty.server.WebsocketServerTransport;
import io.rsocket.util.DefaultPayload;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;
import reactor.util.retry.Retry;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests beyond {@link RSocketTransportTest}: the kind of connection, and its loss.
 */
class RSocketTest {
    private final BlockingQueue<String> forgotten = new LinkedBlockingQueue<>();
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    private LoopResources loops;
    private CloseableChannel server;
    private RSocket client;

    private final RSocket echo = new RSocket() {
        @Override
        public Mono<Void> fireAndForget(Payload payload) {
            forgotten.add(payload.getDataUtf8());
            payload.release();
            return Mono.empty();
        }

        @Override
        public Mono<Payload> requestResponse(Payload payload) {
            return Mono.just(payload);
        }

        @Override
        public Flux<Payload> requestStream(Payload payload) {
            int count = Integer.parseInt(payload.getDataUtf8());
            payload.release();
            return Flux.range(0, count).map(i -> DefaultPayload.create(String.valueOf(i)));
        }

        @Override
        public Flux<Payload> requestChannel(Publisher<Payload> payloads) {
            return Flux.from(payloads);
        }
    };

    @BeforeEach
    void start() {
        loops = Transport.RDMA.newLoops();
    }

    @AfterEach
    void end() {
        if (client != null) {
            client.dispose();
            client.onClose().onErrorComplete().block(LIMIT);
        }
        server.dispose();
        server.onClose().block(LIMIT);
        Transport.dispose(loops);
    }

    private TcpServer tcpServer() {
        return TcpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                .doOnConnection(connection -> accepted.add(connection.channel()));
    }

    private TcpClient tcpClient() {
        return TcpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(server::address);
    }

    private static Payload text(Object text) {
        return DefaultPayload.create(String.valueOf(text));
    }

    private void checkInteractions() throws Exception {
        client.fireAndForget(text("forgotten")).block(LIMIT);
        assertThat(TestTimeouts.take(forgotten, "the request")).isEqualTo("forgotten");
        assertThat(client.requestResponse(text("echo")).map(Payload::getDataUtf8).block(LIMIT)).isEqualTo("echo");
        assertThat(client.requestStream(text(1000)).count().block(LIMIT)).isEqualTo(1000);
        assertThat(client.requestChannel(Flux.range(0, 1000).map(RSocketTest::text)).count().block(LIMIT))
                .isEqualTo(1000);
        String large = "large".repeat(1 << 17);
        assertThat(client.requestResponse(text(large)).map(Payload::getDataUtf8).block(LIMIT)).isEqualTo(large);
        assertThat(TestTimeouts.take(accepted, "the connection")).matches(Transport.RDMA::carries);
    }

    @Test
    void interactionsInFragments() throws Exception {
        server = RSocketServer.create(SocketAcceptor.with(echo)).fragment(1 << 14)
                .bind(TcpServerTransport.create(tcpServer())).block(LIMIT);
        client = RSocketConnector.create().fragment(1 << 14).connect(TcpClientTransport.create(tcpClient()))
                .block(LIMIT);
        checkInteractions();
    }

    @Test
    void interactionsOverWebSockets() throws Exception {
        server = RSocketServer.create(SocketAcceptor.with(echo)).bind(WebsocketServerTransport.create(
                HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                        .doOnConnection(connection -> accepted.add(connection.channel())))).block(LIMIT);
        client = RSocketConnector.create().connect(WebsocketClientTransport.create(
                HttpClient.create(ConnectionProvider.newConnection()).runOn(loops).remoteAddress(server::address), "/"))
                .block(LIMIT);
        checkInteractions();
    }

    @Test
    void streamGoesOnOverAnotherConnection() throws Exception {
        Resume resume = new Resume().sessionDuration(LIMIT).retry(Retry.fixedDelay(100, Duration.ofMillis(10)));
        server = RSocketServer.create(SocketAcceptor.with(echo)).resume(resume)
                .bind(TcpServerTransport.create(tcpServer())).block(LIMIT);
        client = RSocketConnector.create().resume(resume).connect(TcpClientTransport.create(tcpClient()))
                .block(LIMIT);
        Channel first = TestTimeouts.take(accepted, "the connection");
        List<String> received = client.requestStream(text(2000)).map(Payload::getDataUtf8).doOnNext(number -> {
            if (number.equals("500")) {
                first.close();
            }
        }).limitRate(16).collectList().block(LIMIT);
        assertThat(received).isEqualTo(IntStream.range(0, 2000).mapToObj(String::valueOf)
                .collect(Collectors.toList()));
        assertThat(TestTimeouts.take(accepted, "another connection")).matches(Transport.RDMA::carries)
                .isNotSameAs(first);
    }

    @Test
    void clientReconnects() throws Exception {
        server = RSocketServer.create(SocketAcceptor.with(echo)).bind(TcpServerTransport.create(tcpServer()))
                .block(LIMIT);
        Mono<RSocket> source = RSocketConnector.create().reconnect(Retry.fixedDelay(100, Duration.ofMillis(10)))
                .connect(TcpClientTransport.create(tcpClient()));
        RSocket first = source.block(LIMIT);
        TestTimeouts.sync(TestTimeouts.take(accepted, "the connection").close());
        first.onClose().onErrorComplete().block(LIMIT);
        // The close is reported before the connection is replaced.
        TestTimeouts.awaitTrue(() -> {
            client = source.block(LIMIT);
            return client != first;
        });
        assertThat(client.requestResponse(text("again")).map(Payload::getDataUtf8).block(LIMIT)).isEqualTo("again");
    }
}
