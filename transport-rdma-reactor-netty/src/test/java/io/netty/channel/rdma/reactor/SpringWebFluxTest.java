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
import io.netty.channel.rdma.reactor.example.WebFluxApplication;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.reactor.netty.NettyServerCustomizer;
import org.springframework.boot.web.server.reactive.context.ReactiveWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.MediaType;
import org.springframework.http.client.ReactorResourceFactory;
import org.springframework.http.client.MultipartBodyBuilder;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping;
import org.springframework.web.reactive.socket.WebSocketHandler;
import org.springframework.web.reactive.socket.client.ReactorNettyWebSocketClient;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.http.client.HttpClient;

import java.net.URI;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application of Spring Boot, as in docs/reactor-netty.md, with more to do.
 */
class SpringWebFluxTest {
    /** Connections of the servers. */
    private static final Queue<Channel> connections = new ConcurrentLinkedQueue<>();
    private static final Map<Integer, Channel> listeners = new ConcurrentHashMap<>();
    private static CompletableFuture<Void> slowArrived = new CompletableFuture<>();
    private static CompletableFuture<String> slowAnswer = new CompletableFuture<>();

    private static ReactiveWebServerApplicationContext application;
    private static WebClient client;

    @RestController
    @Configuration(proxyBeanMethods = false)
    static class Endpoints {
        @Bean
        NettyServerCustomizer recordChannels() {
            return server -> server.doOnBound(bound -> listeners.put(bound.port(), bound.channel()))
                    .doOnConnection(connection -> connections.add(connection.channel()));
        }

        @GetMapping(path = "/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
        Flux<Map<String, Integer>> events() {
            return Flux.range(0, 100).map(i -> Map.of("number", i));
        }

        @PostMapping("/digest")
        Mono<String> digest(@RequestBody Flux<DataBuffer> body) {
            return sha256(body);
        }

        @PostMapping(path = "/upload", consumes = MediaType.MULTIPART_FORM_DATA_VALUE)
        Mono<String> upload(@RequestPart("file") FilePart file) {
            return sha256(file.content()).map(digest -> file.filename() + ' ' + digest);
        }

        @PostMapping("/echo")
        Flux<DataBuffer> echo(@RequestBody Flux<DataBuffer> body) {
            return body;
        }

        @GetMapping("/slow")
        Mono<String> slow() {
            slowArrived.complete(null);
            return Mono.fromFuture(slowAnswer);
        }

        @Bean
        HandlerMapping webSockets() {
            WebSocketHandler echo = session -> session.send(session.receive()
                    .map(message -> session.textMessage("got " + message.getPayloadAsText())));
            return new SimpleUrlHandlerMapping(Map.of("/socket", echo), -1);
        }
    }

    private static Mono<String> sha256(Flux<DataBuffer> body) {
        return body.reduceWith(SpringWebFluxTest::newDigest, (digest, buffer) -> {
            byte[] bytes = new byte[buffer.readableByteCount()];
            buffer.read(bytes);
            DataBufferUtils.release(buffer);
            digest.update(bytes);
            return digest;
        }).map(digest -> HexFormat.of().formatHex(digest.digest()));
    }

    private static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(newDigest().digest(bytes));
    }

    private static ReactiveWebServerApplicationContext run() {
        return (ReactiveWebServerApplicationContext) new SpringApplicationBuilder(
                WebFluxApplication.class, Endpoints.class).web(WebApplicationType.REACTIVE)
                .properties(Map.of("server.address", TestAddress.HOST, "server.port", "0",
                        "spring.main.banner-mode", "off", "spring.codec.max-in-memory-size", "1MB",
                        "server.shutdown", "graceful")).run();
    }

    private static WebClient client(ReactiveWebServerApplicationContext application) {
        return WebClient.builder().baseUrl("http://" + TestAddress.HOST + ':' + port(application))
                .clientConnector(new ReactorClientHttpConnector(application.getBean(ReactorResourceFactory.class),
                        http -> http.responseTimeout(LIMIT))).build();
    }

    private static int port(ReactiveWebServerApplicationContext application) {
        return application.getWebServer().getPort();
    }

    @BeforeAll
    static void start() {
        application = run();
        client = client(application);
    }

    @AfterAll
    static void stop() {
        application.close();
        assertThat(connections).isNotEmpty().allMatch(Transport.RDMA::carries);
    }

    @Test
    void answersRequests() {
        assertThat(client.get().uri("/hello/RDMA").retrieve().bodyToMono(String.class).block(LIMIT))
                .isEqualTo("Hello, RDMA!");
        assertThat(connections).isNotEmpty();
    }

    @Test
    void serverSentEvents() {
        List<Map<String, Integer>> events = client.get().uri("/events").retrieve()
                .bodyToFlux(new ParameterizedTypeReference<Map<String, Integer>>() { })
                .collectList().block(LIMIT);
        assertThat(events).hasSize(100).startsWith(Map.of("number", 0)).endsWith(Map.of("number", 99));
    }

    @Test
    void largeBodies() {
        byte[] bytes = Transport.bytes(8 << 20, 1);
        assertThat(client.post().uri("/digest").contentType(MediaType.APPLICATION_OCTET_STREAM)
                .body(BodyInserters.fromResource(new ByteArrayResource(bytes))).retrieve().bodyToMono(String.class)
                .block(LIMIT)).isEqualTo(sha256(bytes));
        assertThat(sha256(client.post().uri("/echo").contentType(MediaType.APPLICATION_OCTET_STREAM)
                .body(BodyInserters.fromResource(new ByteArrayResource(bytes))).retrieve().bodyToFlux(DataBuffer.class))
                .block(LIMIT)).isEqualTo(sha256(bytes));
    }

    @Test
    void multipart() {
        byte[] bytes = Transport.bytes(2 << 20, 2);
        MultipartBodyBuilder body = new MultipartBodyBuilder();
        body.part("file", new ByteArrayResource(bytes)).filename("bytes.bin");
        assertThat(client.post().uri("/upload").body(BodyInserters.fromMultipartData(body.build())).retrieve()
                .bodyToMono(String.class).block(LIMIT)).isEqualTo("bytes.bin " + sha256(bytes));
    }

    @Test
    void webSockets() {
        CompletableFuture<List<String>> answers = new CompletableFuture<>();
        new ReactorNettyWebSocketClient(HttpClient.create(
                application.getBean(ReactorResourceFactory.class).getConnectionProvider())
                .runOn(application.getBean(ReactorResourceFactory.class).getLoopResources()))
                .execute(URI.create("ws://" + TestAddress.HOST + ':' + port(application) + "/socket"),
                        session -> session.send(Flux.range(0, 10).map(i -> session.textMessage("message " + i)))
                                .thenMany(session.receive().take(10).map(message -> message.getPayloadAsText()))
                                .collectList().doOnNext(answers::complete).then()).block(LIMIT);
        assertThat(answers.join()).hasSize(10).startsWith("got message 0").endsWith("got message 9");
    }

    @Test
    void shutdownWaitsForRequestsThatRun() throws Exception {
        slowArrived = new CompletableFuture<>();
        slowAnswer = new CompletableFuture<>();
        ReactiveWebServerApplicationContext other = run();
        // The event loop tells it after it is known that the server has started.
        TestTimeouts.awaitTrue(() -> listeners.containsKey(port(other)));
        Channel listener = listeners.get(port(other));
        CompletableFuture<String> received;
        Thread end = new Thread(other::close);
        try {
            // With connections of its own: those of the application end with it.
            received = client.mutate().baseUrl("http://" + TestAddress.HOST + ':' + port(other)).build().get()
                    .uri("/slow").retrieve().bodyToMono(String.class).toFuture();
            TestTimeouts.result(slowArrived);
            end.start();
            TestTimeouts.await(listener.closeFuture());
        } finally {
            slowAnswer.complete("done");
        }
        assertThat(TestTimeouts.result(received)).isEqualTo("done");
        end.join(LIMIT.toMillis());
        assertThat(end.isAlive()).isFalse();
    }
}
