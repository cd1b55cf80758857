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

import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.impl.transports.EpollTransport;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.transport.Transport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.body;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Choice of the transport of a {@code Vertx}.
 */
class TransportChoiceTest {
    /** A server and a client, over what Vert.x has chosen. */
    static final class Program {
        private Program() { }

        public static void main(String[] arguments) throws Exception {
            Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdma()).build();
            HttpServer server = await(vertx.createHttpServer()
                    .requestHandler(request -> request.response().end("answered")).listen(0, TestAddress.HOST));
            HttpClient client = vertx.createHttpClient();
            HttpClientRequest request = await(client.request(HttpMethod.GET, server.actualPort(), TestAddress.HOST,
                    "/"));
            System.out.println("answer " + body(request));
            await(client.close());
            System.out.println("available " + RdmaTransport.rdma().available());
            System.out.println("native " + vertx.isNativeTransportEnabled());
            System.out.println("cause " + vertx.unavailableNativeTransportCause());
            System.out.println("same " + (RdmaTransport.rdma().unavailabilityCause() ==
                    vertx.unavailableNativeTransportCause()));
            await(vertx.close());
        }
    }

    @AfterEach
    void clearProperty() {
        System.clearProperty(RdmaTransport.PROPERTY);
    }

    @Test
    void beingOnTheClassPathChoosesNothing() throws Exception {
        assertThat(transport(Vertx.vertx())).isInstanceOf(NioTransport.class);
        assertThat(transport(Vertx.vertx(new VertxOptions().setPreferNativeTransport(true))))
                .isInstanceOf(EpollTransport.class);
    }

    @Test
    void theBuilderTakesIt() throws Exception {
        assertThat(transport(Vertx.builder().withTransport(RdmaTransport.rdma()).build()))
                .isSameAs(RdmaTransport.rdma().implementation());
        assertThat(RdmaTransport.rdma().name()).isEqualTo("rdma");
        assertThat(RdmaTransport.rdma().available()).isTrue();
        assertThat(RdmaTransport.rdma().unavailabilityCause()).isNull();
    }

    @Test
    void theSystemPropertyChoosesItForApplicationsThatKnowNothingOfIt() throws Exception {
        System.setProperty(RdmaTransport.PROPERTY, "rdma");
        assertThat(transport(Vertx.vertx())).isInstanceOf(RdmaTransportImplementation.class);
        assertThat(transport(Vertx.builder().withTransport(Transport.EPOLL).build()))
                .isInstanceOf(RdmaTransportImplementation.class);
    }

    @Test
    void theSystemPropertyChoosesBothTransports() throws Exception {
        System.setProperty(RdmaTransport.PROPERTY, "rdma-or-tcp");
        assertThat(transport(Vertx.vertx())).isSameAs(RdmaTransport.rdmaOrTcp().implementation());
        assertThat(RdmaTransport.rdmaOrTcp().name()).isEqualTo("rdma-or-tcp");
    }

    @Test
    void theSystemPropertyLeavesWhatTheApplicationHasSetUp() throws Exception {
        System.setProperty(RdmaTransport.PROPERTY, "rdma");
        RdmaTransport transport = RdmaTransport.rdma().withOption(ChannelOption.SO_LINGER, 1);
        assertThat(transport(Vertx.builder().withTransport(transport).build())).isSameAs(transport.implementation());
    }

    @Test
    void theSystemPropertyTurnsItOff() throws Exception {
        System.setProperty(RdmaTransport.PROPERTY, "tcp");
        assertThat(transport(Vertxes.RDMA.start())).isInstanceOf(EpollTransport.class);
        assertThat(transport(Vertx.vertx())).isInstanceOf(NioTransport.class);
    }

    @Test
    void anotherValueOfTheSystemPropertyIsAnError() {
        System.setProperty(RdmaTransport.PROPERTY, "ib");
        assertThatThrownBy(Vertx::vertx).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the system property io.netty.rdma.vertx.transport is 'ib': it must be rdma, " +
                        "rdma-or-tcp or tcp, or not be set");
    }

    @Test
    void withoutRdmaVertxTakesNioAndTellsTheCause() throws Exception {
        try (ChildJvm program = new ChildJvm(Program.class, List.of("io.netty.transport.noNative=true"))) {
            assertThat(program.output()).contains("answer answered", "available false", "native false",
                    "same true", "RDMA is not available, and Vert.x takes NIO instead: ",
                    "native transports are disabled");
        }
    }

    private static io.vertx.core.spi.transport.Transport transport(Vertx vertx) throws Exception {
        io.vertx.core.spi.transport.Transport transport = ((VertxInternal) vertx).transport();
        await(vertx.close());
        return transport;
    }
}
