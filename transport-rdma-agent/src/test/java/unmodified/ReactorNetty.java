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
package unmodified;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.core.RSocketConnector;
import io.rsocket.core.RSocketServer;
import io.rsocket.transport.netty.client.TcpClientTransport;
import io.rsocket.transport.netty.server.CloseableChannel;
import io.rsocket.transport.netty.server.TcpServerTransport;
import io.rsocket.util.DefaultPayload;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.HttpResources;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

import java.time.Duration;
import java.util.Arrays;

/** Reactor Netty's server and client, by HTTP/1.1, by HTTP/2 and by WebSocket, and RSocket on it. */
public final class ReactorNetty {
    private static final int BYTES = 1024 * 1024;
    private static final int MESSAGES = 10;
    private static final Duration LIMIT = Duration.ofSeconds(Ends.SECONDS);

    private ReactorNetty() { }

    public static void main(String... args) {
        DisposableServer server = HttpServer.create().host("127.0.0.1").port(0)
                .protocol(HttpProtocol.HTTP11, HttpProtocol.H2C).route(routes -> routes
                        .post("/echo", (request, response) -> response.send(request.receive().retain()))
                        .ws("/messages", (in, out) -> out.send(in.receive().retain()))).bindNow();
        HttpClient client = HttpClient.create();
        post(client.protocol(HttpProtocol.HTTP11), server.port());
        post(client.protocol(HttpProtocol.H2C), server.port());
        ByteBuf message = Unpooled.buffer().writeZero(BYTES / 32);
        System.out.println("WebSocket: " + client.websocket().uri("ws://127.0.0.1:" + server.port() + "/messages")
                .handle((in, out) -> Flux.merge(out.send(Flux.range(0, MESSAGES)
                                .map(i -> message.retainedDuplicate())).then().then(Mono.<byte[]>empty()),
                        in.receive().asByteArray().take(MESSAGES)))
                .map(bytes -> bytes.length).collectList().block(LIMIT));
        message.release();
        server.disposeNow(LIMIT);
        rsocket();
        end();
    }

    /** Posts and prints what comes back, with a pool of connections that the process has. */
    static void post(HttpClient client, int port) {
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < MESSAGES; i++) {
            Arrays.fill(bytes, (byte) i);
            System.out.println(client.post().uri("http://127.0.0.1:" + port + "/echo")
                    .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(bytes)))
                    .responseSingle((response, body) -> body.asByteArray().map(received ->
                            response.version() + " " + response.status() + ' ' + Arrays.equals(bytes, received)))
                    .block(LIMIT));
        }
    }

    static void end() {
        HttpResources.disposeLoopsAndConnectionsLater(Duration.ZERO, LIMIT).block(LIMIT);
    }

    private static void rsocket() {
        CloseableChannel server = RSocketServer.create(SocketAcceptor.forRequestResponse(Mono::just))
                .bindNow(TcpServerTransport.create("127.0.0.1", 0));
        RSocket client = RSocketConnector.connectWith(TcpClientTransport.create(server.address())).block(LIMIT);
        byte[] bytes = new byte[BYTES];
        for (int i = 0; i < MESSAGES; i++) {
            Arrays.fill(bytes, (byte) i);
            System.out.println("RSocket: " + client.requestResponse(DefaultPayload.create(bytes)).map(answer -> {
                boolean same = answer.data().equals(Unpooled.wrappedBuffer(bytes));
                answer.release();
                return same;
            }).block(LIMIT));
        }
        client.dispose();
        server.dispose();
        server.onClose().block(LIMIT);
    }
}
