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
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * RDMA or TCP: what the default is, what rules change, and what tells it.
 */
class TransportTest {
    private final ConnectionProvider pool = ConnectionProvider.create("test", 4);
    private final BlockingQueue<RdmaOrTcpTransport> accepted = new LinkedBlockingQueue<>();
    private final AtomicReference<RdmaOrTcpTransport> connected = new AtomicReference<>();
    private final AtomicReference<RdmaOrTcpFallback> fallback = new AtomicReference<>();
    private RdmaLoopResources loops;
    private LoopResources epoll;
    private DisposableServer server;

    @BeforeEach
    void start() {
        loops = RdmaLoopResources.create("test", 2, true);
        epoll = LoopResources.create("epoll", 1, true);
    }

    @AfterEach
    void end() {
        pool.disposeLater().block(LIMIT);
        if (server != null) {
            server.disposeNow(LIMIT);
        }
        Transport.dispose(loops);
        Transport.dispose(epoll);
    }

    private static RdmaOrTcpRule always(RdmaOrTcpChoice choice) {
        return RdmaOrTcpRule.always(choice);
    }

    private void serve(LoopResources on) {
        server = HttpServer.create().runOn(on).bindAddress(TestAddress::anyPort)
                .doOnConnection(connection -> {
                    RdmaOrTcpTransport transport = connection.channel().attr(RdmaOrTcp.TRANSPORT).get();
                    accepted.add(transport == null ? RdmaOrTcpTransport.TCP : transport);
                }).handle((request, response) -> response.sendString(Mono.just("a"))).bindNow(LIMIT);
    }

    private String get(LoopResources on) {
        SocketAddress address = server.address();
        return HttpClient.create(pool).runOn(on).remoteAddress(() -> address)
                .doOnConnected(connection -> {
                    connected.set(connection.channel().attr(RdmaOrTcp.TRANSPORT).get());
                    fallback.set(connection.channel().attr(RdmaOrTcp.FALLBACK).get());
                }).get().uri("/").responseContent().aggregate().asString().block(LIMIT);
    }

    @Test
    void serversAnswerOverBothTransportsAndClientsTakeRdma() {
        long connects = RdmaOrTcpMetrics.total().connects(RdmaOrTcpTransport.RDMA);
        long accepts = RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.TCP);
        serve(loops);
        assertThat(get(loops)).isEqualTo("a");
        assertThat(connected).hasValue(RdmaOrTcpTransport.RDMA);
        assertThat(accepted.poll()).isEqualTo(RdmaOrTcpTransport.RDMA);
        assertThat(get(epoll)).isEqualTo("a");
        assertThat(accepted.poll()).isEqualTo(RdmaOrTcpTransport.TCP);
        assertThat(RdmaOrTcpMetrics.total().connects(RdmaOrTcpTransport.RDMA)).isGreaterThan(connects);
        assertThat(RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.TCP)).isGreaterThan(accepts);
    }

    @Test
    void clientsTakeTcpWhereNobodyListensForRdma() {
        serve(epoll);
        assertThat(get(loops)).isEqualTo("a");
        assertThat(connected).hasValue(RdmaOrTcpTransport.TCP);
        assertThat(fallback.get()).isNotNull();
    }

    /** A pool keeps its connections: docs/reactor-netty.md. */
    @Test
    void poolThatIsOnTcpIsOnRdmaWhenThatAnswers() throws Exception {
        serve(epoll);
        SocketAddress address = server.address();
        RdmaOrTcpFailures failures = new RdmaOrTcpFailures(1);
        AtomicReference<Channel> channel = new AtomicReference<>();
        // A request waits for the connection to be given back.
        ConnectionProvider one = ConnectionProvider.create("one", 1);
        failures.probe(Duration.ofMillis(20), one::disposeWhen);
        HttpClient client = HttpClient.create(one).runOn(loops).remoteAddress(() -> address)
                .option(RdmaOrTcpChannelOption.FAILURES, failures)
                .doOnConnected(connection -> channel.set(connection.channel()));
        assertThat(text(client)).isEqualTo("a");
        Channel first = channel.get();
        assertThat(first.attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.TCP);
        assertThat(text(client)).isEqualTo("a");
        assertThat(channel).as("the pool has one").hasValue(first);
        DisposableServer overRdma = HttpServer.create()
                .runOn(loops.withTransportRule(always(RdmaOrTcpChoice.RDMA_ONLY)))
                .bindAddress(() -> address).handle((request, response) -> response.sendString(Mono.just("b")))
                .bindNow(LIMIT);
        try {
            TestTimeouts.awaitTrue(() -> text(client).equals("b"));
            assertThat(channel.get().attr(RdmaOrTcp.TRANSPORT).get()).isEqualTo(RdmaOrTcpTransport.RDMA);
        } finally {
            one.disposeLater().block(LIMIT);
            overRdma.disposeNow(LIMIT);
        }
    }

    private static String text(HttpClient client) {
        return client.get().uri("/").responseContent().aggregate().asString().block(LIMIT);
    }

    @Test
    void tcpOnly() {
        serve(loops);
        assertThat(get(loops.withTransportRule(always(RdmaOrTcpChoice.TCP_ONLY)))).isEqualTo("a");
        assertThat(connected).hasValue(RdmaOrTcpTransport.TCP);
        assertThat(fallback.get().reason()).isEqualTo(RdmaOrTcpFallback.Reason.RULE);
        assertThat(accepted.poll()).isEqualTo(RdmaOrTcpTransport.TCP);
    }

    @Test
    void rdmaOnly() {
        serve(epoll);
        RdmaLoopResources rdmaOnly = loops.withTransportRule(always(RdmaOrTcpChoice.RDMA_ONLY));
        assertThatThrownBy(() -> get(rdmaOnly)).hasRootCauseInstanceOf(ConnectException.class);
        server.disposeNow(LIMIT);
        serve(rdmaOnly);
        assertThat(get(rdmaOnly)).isEqualTo("a");
        assertThat(accepted.poll()).isEqualTo(RdmaOrTcpTransport.RDMA);
        assertThatThrownBy(() -> get(epoll)).hasRootCauseInstanceOf(ConnectException.class);
    }

    @Test
    void ruleByPort() {
        serve(loops);
        int port = server.port();
        RdmaLoopResources rules = RdmaLoopResources.builder("rules").workerCount(1).transportRule(
                address -> address.getPort() == port ? RdmaOrTcpChoice.TCP_ONLY : RdmaOrTcpChoice.RDMA_ONLY).build();
        try {
            assertThat(get(rules)).isEqualTo("a");
            assertThat(connected).hasValue(RdmaOrTcpTransport.TCP);
            DisposableServer other = server;
            serve(loops);
            assertThat(get(rules)).isEqualTo("a");
            assertThat(connected).hasValue(RdmaOrTcpTransport.RDMA);
            other.disposeNow(LIMIT);
        } finally {
            Transport.dispose(rules);
        }
    }

    @Test
    void dnsServersAreAskedOverTcpWhateverTheRule() {
        RdmaLoopResources rdmaOnly = loops.withTransportRule(always(RdmaOrTcpChoice.RDMA_ONLY));
        InetSocketAddress dns = new InetSocketAddress(TestAddress.HOST, 53);
        // Nobody listens there, and the one attempt is over TCP.
        long failures = RdmaOrTcpMetrics.total().fallbacks(RdmaOrTcpFallback.Reason.RULE);
        assertThatThrownBy(() -> HttpClient.create(pool).runOn(rdmaOnly).remoteAddress(() -> dns).get().uri("/")
                .response().block(LIMIT)).isInstanceOf(Exception.class);
        assertThat(RdmaOrTcpMetrics.total().fallbacks(RdmaOrTcpFallback.Reason.RULE)).isGreaterThan(failures);
    }

    /** Asks a server of its own, and prints what it goes over. */
    static final class OneRequest {
        private OneRequest() {
        }

        public static void main(String[] arguments) {
            RdmaLoopResources loops = RdmaLoopResources.create("test", 1, true);
            DisposableServer server = HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                    .handle((request, response) -> response.sendString(Mono.just("a"))).bindNow(LIMIT);
            System.out.println("RDMA is available: " + Rdma.isAvailable());
            HttpClient.create().runOn(loops).remoteAddress(server::address).doOnConnected(connection ->
                    System.out.println("transport " + connection.channel().attr(RdmaOrTcp.TRANSPORT).get() + " on " +
                            Thread.currentThread().getName())).get().uri("/").response().block(LIMIT);
            server.disposeNow(LIMIT);
            Transport.dispose(loops);
        }
    }

    @Test
    void whereRdmaIsNotAvailableEverythingIsTcp() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "kernel verbs are available");
        try (ChildJvm child = new ChildJvm(OneRequest.class, List.of("io.netty.rdma.provider=ibverbs"))) {
            assertThat(child.output()).contains("RDMA is available: false", "transport TCP on test-epoll-1");
        }
    }
}
