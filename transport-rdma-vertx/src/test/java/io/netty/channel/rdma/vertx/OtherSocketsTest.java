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
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.datagram.DatagramPacket;
import io.vertx.core.datagram.DatagramSocket;
import io.vertx.core.dns.AddressResolverOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.SocketAddress;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Path;
import java.util.List;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.body;
import static io.netty.channel.rdma.vertx.Vertxes.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sockets of epoll on the event loops of RDMA.
 */
@ExtendWith(Vertxes.Close.class)
class OtherSocketsTest {
    private static final String LOOPBACK = "127.0.0.1";

    @ParameterizedTest
    @EnumSource
    void datagramsComeBack(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        DatagramSocket server = await(vertx.createDatagramSocket().listen(0, LOOPBACK));
        server.handler(packet -> server.send(packet.data(), packet.sender().port(), packet.sender().host()));
        DatagramSocket client = await(vertx.createDatagramSocket().listen(0, LOOPBACK));
        Promise<DatagramPacket> answer = Promise.promise();
        client.handler(answer::tryComplete);
        await(client.send(bytes(1000), server.localAddress().port(), LOOPBACK));
        assertThat(await(answer.future()).data()).isEqualTo(bytes(1000));
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void unixDomainSocketsEcho(Vertxes kind, @TempDir Path folder) throws Exception {
        Vertx vertx = kind.start();
        SocketAddress address = SocketAddress.domainSocketAddress(folder.resolve("socket").toString());
        NetServer server = await(vertx.createNetServer().connectHandler(socket -> socket.pipeTo(socket))
                .listen(address));
        NetClient client = vertx.createNetClient();
        NetSocket socket = await(client.connect(address));
        assertThat(socket.remoteAddress()).isEqualTo(address);
        Promise<Buffer> echo = Promise.promise();
        Buffer all = Buffer.buffer();
        socket.handler(buffer -> {
            if (all.appendBuffer(buffer).length() == 200_000) {
                echo.complete(all);
            }
        });
        await(socket.write(bytes(200_000)));
        assertThat(await(echo.future())).isEqualTo(bytes(200_000));
        await(client.close());
        await(server.close());
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void httpGoesOverUnixDomainSockets(Vertxes kind, @TempDir Path folder) throws Exception {
        Vertx vertx = kind.start();
        SocketAddress address = SocketAddress.domainSocketAddress(folder.resolve("http").toString());
        HttpServer server = await(vertx.createHttpServer().requestHandler(request -> request.response().end("here"))
                .listen(address));
        HttpClient client = vertx.createHttpClient();
        HttpClientRequest request = await(client.request(new RequestOptions().setServer(address)
                .setHost("localhost").setMethod(HttpMethod.GET).setURI("/")));
        assertThat(body(request)).isEqualTo(Buffer.buffer("here"));
        // One that becomes garbage is closed by Vert.x, in the middle of a request.
        await(client.close());
        await(server.close());
        await(vertx.close());
    }

    /** The resolver asks over UDP; the connection to what it finds is the transport's. */
    @ParameterizedTest
    @EnumSource
    void namesAreResolved(Vertxes kind) throws Exception {
        Vertx dns = Vertx.vertx();
        DatagramSocket names = await(dns.createDatagramSocket().listen(0, LOOPBACK));
        names.handler(packet -> names.send(answer(packet.data()), packet.sender().port(), packet.sender().host()));
        Vertx vertx = kind.start(new VertxOptions().setAddressResolverOptions(new AddressResolverOptions()
                .setServers(List.of(LOOPBACK + ':' + names.localAddress().port())).setMaxQueries(4)));
        HttpServer server = await(vertx.createHttpServer().requestHandler(request -> request.response().end("found"))
                .listen(0, TestAddress.HOST));
        HttpClient client = vertx.createHttpClient();
        HttpClientRequest request = await(client.request(HttpMethod.GET, server.actualPort(), "service.example", "/"));
        assertThat(body(request)).isEqualTo(Buffer.buffer("found"));
        await(client.close());
        await(vertx.close());
        await(dns.close());
    }

    /** To each question for an IPv4 address: that of the tests. To another one: nothing. RFC 1035, 4.1. */
    private static Buffer answer(Buffer query) {
        int end = 12;
        while (query.getByte(end) != 0) {
            end += query.getByte(end) + 1;
        }
        int type = query.getUnsignedShort(end + 1);
        boolean address = type == 1 && TestAddress.HOST.indexOf('.') > 0;
        Buffer answer = Buffer.buffer().appendBuffer(query, 0, 2).appendShort((short) 0x8180)
                .appendShort((short) 1).appendShort((short) (address ? 1 : 0)).appendInt(0)
                .appendBuffer(query, 12, end + 5 - 12);
        if (address) {
            answer.appendShort((short) 0xc00c).appendShort((short) 1).appendShort((short) 1).appendInt(60)
                    .appendShort((short) 4);
            for (String part : TestAddress.HOST.split("\\.")) {
                answer.appendUnsignedByte((short) Integer.parseInt(part));
            }
        }
        return answer;
    }
}
