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
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.WebSocket;
import io.vertx.core.http.WebSocketClient;
import io.vertx.core.http.WebSocketClientOptions;
import io.vertx.core.http.WebSocketConnectOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.body;
import static io.netty.channel.rdma.vertx.Vertxes.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code HttpServer}, {@code HttpClient} and {@code WebSocketClient}.
 */
@Tag("platforms")
@ExtendWith(Vertxes.Close.class)
class HttpTest {
    private static final int LENGTH = 1_500_000;

    @ParameterizedTest
    @CsvSource({
            "RDMA, HTTP_1_1, ", "RDMA, HTTP_1_1, JDK", "RDMA, HTTP_1_1, OPENSSL",
            "RDMA, HTTP_2, ", "RDMA, HTTP_2, JDK", "RDMA, HTTP_2, OPENSSL",
            "RDMA_OR_TCP, HTTP_1_1, ", "RDMA_OR_TCP, HTTP_2, ", "RDMA_OR_TCP, HTTP_2, OPENSSL",
            "EPOLL, HTTP_1_1, ", "EPOLL, HTTP_1_1, JDK", "EPOLL, HTTP_1_1, OPENSSL",
            "EPOLL, HTTP_2, ", "EPOLL, HTTP_2, JDK", "EPOLL, HTTP_2, OPENSSL" })
    void bodiesAndFilesComeWhole(Vertxes kind, HttpVersion version, Tls tls, @TempDir Path folder) throws Exception {
        Path file = Files.write(folder.resolve("file"), bytes(LENGTH).getBytes());
        Vertx vertx = kind.start();
        HttpServer server = await(vertx.createHttpServer(server(tls))
                .requestHandler(request -> answer(request, file)).listen(0, TestAddress.HOST));
        HttpClientOptions options = new HttpClientOptions().setProtocolVersion(version)
                .setUseAlpn(tls != null).setDefaultHost(TestAddress.HOST).setDefaultPort(server.actualPort());
        // More than one exchange on a connection: in turn with HTTP/1.1, at the same time with HTTP/2.
        PoolOptions pool = new PoolOptions().setHttp1MaxSize(2).setHttp2MaxSize(1);
        HttpClientAgent client = vertx.createHttpClient(tls == null ? options : tls.client(options), pool);
        List<Future<Buffer>> answers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            String path = i % 3 == 0 ? "/echo" : i % 3 == 1 ? "/chunked" : "/file";
            answers.add(client.request(HttpMethod.POST, path)
                    .compose(request -> request.send(bytes(LENGTH)).compose(response -> {
                        assertThat(response.statusCode()).isEqualTo(200);
                        assertThat(response.version()).isEqualTo(version);
                        assertThat(response.request().connection().isSsl()).isEqualTo(tls != null);
                        return response.body();
                    })));
        }
        for (Future<Buffer> answer : answers) {
            assertThat(await(answer)).isEqualTo(bytes(LENGTH));
        }
        await(client.close());
        await(vertx.close());
    }

    private static HttpServerOptions server(Tls tls) {
        HttpServerOptions options = new HttpServerOptions().setUseAlpn(tls != null);
        return tls == null ? options : tls.server(options);
    }

    private static void answer(HttpServerRequest request, Path file) {
        switch (request.path()) {
            case "/echo":
                request.body().onSuccess(request.response()::end);
                break;
            case "/chunked":
                request.pipeTo(request.response().setChunked(request.version() == HttpVersion.HTTP_1_1));
                break;
            default:
                request.body().onSuccess(body -> request.response().sendFile(file.toString()));
        }
    }

    @ParameterizedTest
    @CsvSource({ "RDMA, ", "RDMA, JDK", "EPOLL, ", "EPOLL, JDK" })
    void webSocketMessagesComeBack(Vertxes kind, Tls tls) throws Exception {
        Vertx vertx = kind.start();
        HttpServerOptions serverOptions = new HttpServerOptions().setMaxWebSocketMessageSize(1 << 20);
        HttpServer server = await(vertx.createHttpServer(tls == null ? serverOptions : tls.server(serverOptions))
                .webSocketHandler(socket -> {
                    socket.textMessageHandler(text -> socket.writeTextMessage(text));
                    socket.binaryMessageHandler(socket::writeBinaryMessage);
                }).listen(0, TestAddress.HOST));
        WebSocketClientOptions options = new WebSocketClientOptions().setMaxMessageSize(1 << 20);
        WebSocketClient client = vertx.createWebSocketClient(tls == null ? options : tls.client(options));
        WebSocket socket = await(client.connect(new WebSocketConnectOptions().setHost(TestAddress.HOST)
                .setPort(server.actualPort()).setSsl(tls != null).setURI("/")));
        Promise<String> text = Promise.promise();
        Promise<Buffer> binary = Promise.promise();
        socket.textMessageHandler(text::complete);
        socket.binaryMessageHandler(binary::complete);
        await(socket.writeTextMessage("hello"));
        assertThat(await(text.future())).isEqualTo("hello");
        await(socket.writeBinaryMessage(bytes(700_000)));
        assertThat(await(binary.future())).isEqualTo(bytes(700_000));
        Promise<Void> closed = Promise.promise();
        socket.closeHandler(closed::complete);
        await(socket.close());
        await(closed.future());
        await(client.close());
        await(vertx.close());
    }

    @ParameterizedTest
    @CsvSource({ "RDMA", "EPOLL" })
    void compressedAnswersAreTheSame(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Buffer content = Buffer.buffer("compress me ".repeat(20_000));
        HttpServer server = await(vertx.createHttpServer(new HttpServerOptions().setCompressionSupported(true))
                .requestHandler(request -> request.response().end(content)).listen(0, TestAddress.HOST));
        HttpClientOptions options = new HttpClientOptions().setDecompressionSupported(true);
        HttpClientAgent client = vertx.createHttpClient(options);
        HttpClientRequest request = await(client
                .request(HttpMethod.GET, server.actualPort(), TestAddress.HOST, "/"));
        assertThat(body(request)).isEqualTo(content);
        await(client.close());
        await(vertx.close());
    }
}
