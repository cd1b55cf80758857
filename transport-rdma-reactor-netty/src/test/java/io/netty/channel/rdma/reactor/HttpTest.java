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

import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.DefaultEventExecutor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.http.server.HttpServerRoutes;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.tcp.SslProvider.GenericSslContextSpec;

import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
class HttpTest {
    /** Versions of HTTP. */
    enum Version {
        HTTP11(HttpProtocol.HTTP11),
        HTTPS11(HttpProtocol.HTTP11),
        H2C(HttpProtocol.H2C),
        H2(HttpProtocol.H2);

        final HttpProtocol protocol;

        Version(HttpProtocol protocol) {
            this.protocol = protocol;
        }

        boolean isSecure() {
            return this == HTTPS11 || this == H2;
        }
    }

    private static X509Bundle certificate;

    private LoopResources loops;
    private ConnectionProvider pool;
    private DisposableServer server;
    /** Connections of the client, not streams. */
    private final Set<Channel> connections = Collections.synchronizedSet(new HashSet<>());

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = new CertificateBuilder().subject("CN=localhost").setIsCertificateAuthority(true)
                .buildSelfSigned();
    }

    @AfterEach
    void end() {
        if (pool != null) {
            pool.disposeLater().block(LIMIT);
        }
        if (server != null) {
            server.disposeNow(LIMIT);
        }
        Transport.dispose(loops);
    }

    static Stream<Arguments> all() {
        return Stream.of(Transport.values()).flatMap(transport ->
                Stream.of(Version.values()).map(version -> Arguments.of(transport, version)));
    }

    private void serve(Transport transport, Version version, Consumer<HttpServerRoutes> routes) {
        loops = transport.newLoops();
        HttpServer http = HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort).protocol(version.protocol)
                .route(routes);
        if (version.isSecure()) {
            PrivateKey key = certificate.getKeyPair().getPrivate();
            GenericSslContextSpec<SslContextBuilder> ssl = version == Version.H2 ?
                    Http2SslContextSpec.forServer(key, certificate.getCertificatePath()) :
                    Http11SslContextSpec.forServer(key, certificate.getCertificatePath());
            http = http.secure(spec -> spec.sslContext(ssl));
        }
        server = http.bindNow(LIMIT);
    }

    private HttpClient client(Transport transport, Version version, int connections) {
        pool = ConnectionProvider.builder("test").maxConnections(connections).pendingAcquireMaxCount(-1).build();
        HttpClient http = HttpClient.create(pool).runOn(loops).remoteAddress(() -> server.address())
                .protocol(version.protocol).responseTimeout(LIMIT).doOnConnected(connection -> {
                    Channel channel = connection.channel();
                    this.connections.add(connectionOf(channel));
                });
        if (!version.isSecure()) {
            return http;
        }
        GenericSslContextSpec<SslContextBuilder> ssl = version == Version.H2 ?
                Http2SslContextSpec.forClient().configure(HttpTest::trustAll) :
                Http11SslContextSpec.forClient().configure(HttpTest::trustAll);
        return http.secure(spec -> spec.sslContext(ssl));
    }

    private static Channel connectionOf(Channel channel) {
        return channel instanceof Http2StreamChannel ? channel.parent() : channel;
    }

    private static void trustAll(SslContextBuilder builder) {
        builder.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm(null);
    }

    private static byte[] sha256(Flux<byte[]> parts) {
        return parts.reduceWith(HttpTest::sha256, (digest, part) -> {
            digest.update(part);
            return digest;
        }).block(LIMIT).digest();
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("all")
    void manyRequestsShareConnections(Transport transport, Version version) {
        serve(transport, version, routes -> routes.get("/hello/{name}",
                (request, response) -> response.sendString(Mono.just("hello " + request.param("name")))));
        HttpClient client = client(transport, version, 2);
        List<String> answers = Flux.range(0, 50)
                .flatMap(i -> client.get().uri("/hello/" + i).responseContent().aggregate().asString(), 6)
                .collectList().block(LIMIT);
        assertThat(answers).hasSize(50).doesNotHaveDuplicates().allMatch(answer -> answer.startsWith("hello "));
        assertThat(connections).isNotEmpty().hasSizeLessThanOrEqualTo(2)
                .allMatch(transport::carries);
    }

    @ParameterizedTest
    @MethodSource("all")
    void largeBodiesBothWays(Transport transport, Version version) {
        serve(transport, version, routes -> routes.post("/echo",
                (request, response) -> response.send(request.receive().retain())));
        byte[] bytes = Transport.bytes(4 << 20, 1);
        HttpClient client = client(transport, version, 1);
        Flux<byte[]> answer = client.post().uri("/echo")
                .send((request, out) -> out.sendByteArray(Flux.range(0, 64)
                        .map(i -> Arrays.copyOfRange(bytes, i << 16, i + 1 << 16))))
                .responseContent().asByteArray();
        assertThat(sha256(answer)).isEqualTo(sha256(Flux.just(bytes)));
    }

    @ParameterizedTest
    @MethodSource("all")
    void responseThatDoesNotComeTimesOut(Transport transport, Version version) {
        serve(transport, version, routes -> routes.get("/never", (request, response) -> Mono.never()));
        HttpClient client = client(transport, version, 1).responseTimeout(Duration.ofMillis(50));
        assertThatThrownBy(() -> client.get().uri("/never").response().block(LIMIT))
                .isInstanceOf(ReadTimeoutException.class);
    }

    @ParameterizedTest
    @MethodSource("all")
    void connectionThatEndsBeforeTheResponseIsToldApart(Transport transport, Version version) {
        serve(transport, version, routes -> routes.get("/abort", (request, response) -> {
            request.withConnection(connection -> connectionOf(connection.channel()).close());
            return Mono.never();
        }));
        HttpClient client = client(transport, version, 1).disableRetry(true);
        assertThatThrownBy(() -> client.get().uri("/abort").response().block(LIMIT))
                .satisfies(error -> assertThat(Exceptions.unwrap(error)).isInstanceOf(IOException.class));
    }

    @ParameterizedTest
    @EnumSource
    void partsArriveWhileTheResponseGoesOn(Transport transport) {
        CompletableFuture<String> second = new CompletableFuture<>();
        serve(transport, Version.HTTP11, routes -> routes.get("/parts", (request, response) -> response
                .send(Flux.just("first").concatWith(Mono.fromFuture(second))
                        .map(text -> ByteBufUtil.writeUtf8(response.alloc(), text)), part -> true)));
        List<String> parts = client(transport, Version.HTTP11, 1).get().uri("/parts").responseContent().asString()
                .doOnNext(part -> second.complete("second")).collectList().block(LIMIT);
        assertThat(parts).containsExactly("first", "second");
    }

    @ParameterizedTest
    @EnumSource
    void messagesOfWebSockets(Transport transport) {
        serve(transport, Version.HTTP11, routes -> routes.ws("/echo",
                (in, out) -> out.sendString(in.receive().asString().map(text -> "got " + text))));
        List<String> answers = client(transport, Version.HTTP11, 1).websocket().uri("/echo")
                .handle((in, out) -> out.sendString(Flux.range(0, 100).map(i -> "message " + i)).then()
                        .thenMany(in.receive().asString().take(100))).collectList().block(LIMIT);
        assertThat(answers).hasSize(100).startsWith("got message 0").endsWith("got message 99");
    }

    @ParameterizedTest
    @EnumSource
    void disposalWaitsForRequestsThatRun(Transport transport) throws Exception {
        loops = transport.newLoops();
        CompletableFuture<Void> arrived = new CompletableFuture<>();
        CompletableFuture<String> answer = new CompletableFuture<>();
        server = HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                .channelGroup(new DefaultChannelGroup(new DefaultEventExecutor()))
                .route(routes -> routes.get("/slow", (request, response) -> {
                    arrived.complete(null);
                    return response.sendString(Mono.fromFuture(answer));
                })).bindNow(LIMIT);
        CompletableFuture<String> received = client(transport, Version.HTTP11, 1).get().uri("/slow").responseContent()
                .aggregate().asString().toFuture();
        TestTimeouts.result(arrived);
        Thread end = new Thread(() -> server.disposeNow(LIMIT));
        end.start();
        server.onDispose().block(LIMIT);
        answer.complete("done");
        assertThat(TestTimeouts.result(received)).isEqualTo("done");
        end.join(LIMIT.toMillis());
        assertThat(end.isAlive()).isFalse();
    }
}
