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

import io.netty.channel.Channel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChannelOption;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFailures;
import io.netty.channel.rdma.ortcp.RdmaOrTcpFallback;
import io.netty.channel.rdma.ortcp.RdmaOrTcpMetrics;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.body;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * RDMA or TCP, and how an application sees which.
 */
@ExtendWith(Vertxes.Close.class)
class TransportTest {
    /** Prints what a connection goes over. */
    static final class Program {
        private Program() { }

        public static void main(String[] arguments) throws Exception {
            Vertx vertx = Vertxes.RDMA_OR_TCP.start();
            HttpServer server = await(vertx.createHttpServer().requestHandler(TransportTest::answer)
                    .listen(0, TestAddress.HOST));
            System.out.println("server " + ask(vertx, server.actualPort()));
            System.out.println("native " + vertx.isNativeTransportEnabled());
            await(vertx.close());
        }
    }

    /** A service of several verticles. */
    private static final class Service extends AbstractVerticle {
        private final Promise<Integer> port;

        Service(Promise<Integer> port) {
            this.port = port;
        }

        @Override
        public void start(Promise<Void> started) {
            vertx.createHttpServer().requestHandler(TransportTest::answer).listen(-1, TestAddress.HOST)
                    .onSuccess(server -> port.tryComplete(server.actualPort())).<Void>mapEmpty().onComplete(started);
        }
    }

    private static void answer(HttpServerRequest request) {
        request.response().end(RdmaTransport.transport(request.connection()).name());
    }

    /** Transport as the server reports it, and as the client does. */
    private static String ask(Vertx vertx, int port) throws Exception {
        HttpClientAgent client = vertx.createHttpClient();
        HttpClientRequest request = await(client.request(HttpMethod.GET, port, TestAddress.HOST, "/"));
        String answer = body(request) + ", client " + RdmaTransport.transport(request.connection());
        await(client.close());
        return answer;
    }

    @Test
    void verticlesAnswerOverRdmaAndTcpAtOnePort() throws Exception {
        Vertx vertx = Vertxes.RDMA_OR_TCP.start();
        Vertx tcp = Vertxes.EPOLL.start();
        Promise<Integer> port = Promise.promise();
        await(vertx.deployVerticle(() -> new Service(port), new DeploymentOptions().setInstances(3)));
        long rdmaAccepts = RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA);
        long tcpAccepts = RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.TCP);
        for (int i = 0; i < 3; i++) {
            assertThat(ask(vertx, await(port.future()))).isEqualTo("RDMA, client RDMA");
            assertThat(ask(tcp, await(port.future()))).isEqualTo("TCP, client TCP");
        }
        assertThat(curl(await(port.future()))).isEqualTo("TCP");
        assertThat(RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.RDMA) - rdmaAccepts).isEqualTo(3);
        assertThat(RdmaOrTcpMetrics.total().accepts(RdmaOrTcpTransport.TCP) - tcpAccepts).isEqualTo(4);
        await(tcp.close());
        await(vertx.close());
    }

    private static String curl(int port) throws Exception {
        assumeTrue(new File("/usr/bin/curl").canExecute(), "no curl: apt-get install curl");
        Process curl = new ProcessBuilder("/usr/bin/curl", "-sS", "-f", "http://" + TestAddress.HOST + ':' + port + '/')
                .redirectErrorStream(true).start();
        String output = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(curl.waitFor(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(curl.exitValue()).as(output).isZero();
        return output;
    }

    @Test
    void aServerOfTcpIsReachedOverTcpAndTheReasonIsKept() throws Exception {
        Vertx tcp = Vertxes.EPOLL.start();
        NetServer server = await(tcp.createNetServer().connectHandler(socket -> { }).listen(0, TestAddress.HOST));
        Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdmaOrTcp()
                .withOption(RdmaOrTcpChannelOption.FAILURES, new RdmaOrTcpFailures(10))).build();
        NetClient client = vertx.createNetClient();
        NetSocket socket = await(client.connect(server.actualPort(), TestAddress.HOST));
        assertThat(RdmaTransport.transport(socket)).isSameAs(RdmaOrTcpTransport.TCP);
        Channel channel = ((NetSocketInternal) socket).channelHandlerContext().channel();
        RdmaOrTcpFallback fallback = channel.attr(RdmaOrTcp.FALLBACK).get();
        assertThat(fallback).isNotNull();
        await(client.close());
        await(vertx.close());
        await(tcp.close());
    }

    @Test
    void aRuleChoosesByPort() throws Exception {
        Vertx both = Vertxes.RDMA_OR_TCP.start();
        HttpServer first = await(both.createHttpServer().requestHandler(TransportTest::answer)
                .listen(0, TestAddress.HOST));
        HttpServer second = await(both.createHttpServer().requestHandler(TransportTest::answer)
                .listen(0, TestAddress.HOST));
        Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdmaOrTcp(address ->
                address.getPort() == second.actualPort() ? RdmaOrTcpChoice.TCP_ONLY : RdmaOrTcpChoice.RDMA_ONLY))
                .build();
        assertThat(ask(vertx, first.actualPort())).isEqualTo("RDMA, client RDMA");
        assertThat(ask(vertx, second.actualPort())).isEqualTo("TCP, client TCP");
        await(vertx.close());
        await(both.close());
    }

    @Test
    void aServerOfRdmaAloneIsNotReachedOverTcp() throws Exception {
        Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdmaOrTcp(address -> RdmaOrTcpChoice.RDMA_ONLY))
                .build();
        HttpServer server = await(vertx.createHttpServer().requestHandler(TransportTest::answer)
                .listen(0, TestAddress.HOST));
        Vertx tcp = Vertxes.EPOLL.start();
        assertThat(ask(vertx, server.actualPort())).isEqualTo("RDMA, client RDMA");
        assertThatThrownBy(() -> ask(tcp, server.actualPort())).rootCause().hasMessageContaining("refused");
        await(tcp.close());
        await(vertx.close());
    }

    @Test
    void withoutRdmaItIsTcpByEpoll() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "there is kernel RDMA here");
        try (ChildJvm program = new ChildJvm(Program.class, List.of("io.netty.rdma.provider=ibverbs"))) {
            assertThat(program.output()).contains("server TCP, client TCP", "native true");
        }
    }
}
