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

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsSection;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.NetUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;
import reactor.netty.udp.UdpClient;
import reactor.netty.udp.UdpServer;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Datagrams, Unix domain sockets and RDMA on one event loop.
 */
@Tag("oldest")
class OtherChannelsTest {
    private static final String NAME = "server.rdma.test.";

    private final ConnectionProvider pool = ConnectionProvider.create("test", 4);
    private final Set<EventLoop> eventLoops = ConcurrentHashMap.newKeySet();
    private LoopResources loops;

    @BeforeEach
    void start() {
        loops = RdmaLoopResources.create("test", 1, true);
    }

    @AfterEach
    void end() {
        pool.disposeLater().block(LIMIT);
        Transport.dispose(loops);
    }

    private void seen(Connection connection, Class<? extends Channel> type) {
        assertThat(connection.channel()).isInstanceOf(type);
        eventLoops.add(connection.channel().eventLoop());
    }

    @Test
    void datagrams() throws Exception {
        Connection server = UdpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                .handle((in, out) -> out.sendObject(in.receiveObject().cast(DatagramPacket.class)
                        .map(packet -> new DatagramPacket(packet.content().retain(), packet.sender()))))
                .bindNow(LIMIT);
        seen(server, EpollDatagramChannel.class);
        Connection client = UdpClient.create().runOn(loops).remoteAddress(() -> server.channel().localAddress())
                .connectNow(LIMIT);
        seen(client, EpollDatagramChannel.class);
        CompletableFuture<String> answer = client.inbound().receive().asString().next().toFuture();
        client.outbound().sendString(Mono.just("over UDP")).then().block(LIMIT);
        assertThat(TestTimeouts.result(answer)).isEqualTo("over UDP");
        assertThat(eventLoops).hasSize(1);
        client.disposeNow(LIMIT);
        server.disposeNow(LIMIT);
    }

    @Test
    void unixDomainSocketsBesideRdma(@TempDir Path folder) {
        DomainSocketAddress path = new DomainSocketAddress(folder.resolve("socket").toFile());
        HttpServer http = HttpServer.create().runOn(loops).handle((request, response) -> response
                .sendString(Mono.just(request.uri())));
        DisposableServer unix = http.bindAddress(() -> path).bindNow(LIMIT);
        DisposableServer rdma = http.bindAddress(TestAddress::anyPort).bindNow(LIMIT);
        HttpClient client = HttpClient.create(pool).runOn(loops);
        HttpClient unixClient = client.remoteAddress(() -> path)
                .doOnConnected(connection -> seen(connection, EpollDomainSocketChannel.class));
        HttpClient rdmaClient = client.remoteAddress(rdma::address)
                .doOnConnected(connection -> seen(connection, RdmaOrTcpSocketChannel.class));
        assertThat(Flux.range(0, 20).flatMap(i -> (i % 2 == 0 ? unixClient : rdmaClient).get().uri("/" + i)
                .responseContent().aggregate().asString(), 4).collectList().block(LIMIT))
                .hasSize(20).doesNotHaveDuplicates();
        assertThat(eventLoops).hasSize(1);
        unix.disposeNow(LIMIT);
        rdma.disposeNow(LIMIT);
    }

    @Test
    void namesAreResolvedByDns() {
        DnsServer dns = new DnsServer(loops);
        DisposableServer server = HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                .handle((request, response) -> response.sendString(Mono.just("resolved"))).bindNow(LIMIT);
        HttpClient client = HttpClient.create(pool).runOn(loops)
                .resolver(spec -> spec.dnsAddressResolverGroupProvider(builder -> new DnsAddressResolverGroup(
                        builder.nameServerProvider(new SingletonDnsServerAddressStreamProvider(dns.address())))))
                .host(NAME).port(server.port())
                .doOnConnected(connection -> seen(connection, RdmaOrTcpSocketChannel.class));
        assertThat(client.get().uri("/").responseContent().aggregate().asString().block(LIMIT))
                .isEqualTo("resolved");
        assertThat(dns.questions).contains(NAME);
        server.disposeNow(LIMIT);
        dns.server.disposeNow(LIMIT);
    }

    /** Knows one name. */
    private static final class DnsServer {
        final Set<String> questions = ConcurrentHashMap.newKeySet();
        final Connection server;

        DnsServer(LoopResources loops) {
            server = UdpServer.create().runOn(loops).bindAddress(() -> new InetSocketAddress("127.0.0.1", 0))
                    .doOnBound(connection -> connection.addHandlerLast(new DatagramDnsQueryDecoder())
                            .addHandlerLast(new DatagramDnsResponseEncoder()))
                    .handle((in, out) -> out.sendObject(in.receiveObject().cast(DatagramDnsQuery.class)
                            .map(this::answer))).bindNow(LIMIT);
        }

        InetSocketAddress address() {
            return (InetSocketAddress) server.channel().localAddress();
        }

        private DatagramDnsResponse answer(DatagramDnsQuery query) {
            DnsQuestion question = query.recordAt(DnsSection.QUESTION);
            questions.add(question.name());
            DatagramDnsResponse response =
                    new DatagramDnsResponse(query.recipient(), query.sender(), query.id());
            response.addRecord(DnsSection.QUESTION, question);
            if (question.type().equals(DnsRecordType.A) && question.name().equals(NAME)) {
                response.addRecord(DnsSection.ANSWER, new DefaultDnsRawRecord(NAME, DnsRecordType.A, 60,
                        Unpooled.wrappedBuffer(NetUtil.createByteArrayFromIpAddressString(
                                TestAddress.HOST))));
            }
            return response;
        }
    }
}
