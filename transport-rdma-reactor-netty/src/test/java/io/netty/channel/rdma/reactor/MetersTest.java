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

import io.micrometer.core.instrument.Metrics;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

import java.util.List;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactor Netty's own meters, on connections over RDMA.
 */
class MetersTest {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @BeforeEach
    void start() {
        Metrics.addRegistry(registry);
    }

    @AfterEach
    void end() {
        Metrics.removeRegistry(registry);
        registry.close();
    }

    @Test
    void countServersClientsPoolsAndEventLoops() throws Exception {
        LoopResources loops = Transport.RDMA.newLoops();
        ConnectionProvider pool = ConnectionProvider.builder("metered").maxConnections(1).metrics(true).build();
        DisposableServer server = HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort)
                .metrics(true, uri -> uri).handle((request, response) -> response.send(request.receive().retain()))
                .bindNow(LIMIT);
        HttpClient client = HttpClient.create(pool).runOn(loops).remoteAddress(server::address)
                .metrics(true, uri -> uri);
        assertThat(client.post().uri("/measured").send((request, out) -> out.sendString(Mono.just("12345678")))
                .responseContent().aggregate().asString().block(LIMIT)).isEqualTo("12345678");
        // Servers record what they have sent when it is sent: the client may know before.
        for (String name : List.of("reactor.netty.http.server.data.received", "reactor.netty.http.server.data.sent",
                "reactor.netty.http.server.connections.total", "reactor.netty.http.client.data.received",
                "reactor.netty.http.client.response.time", "reactor.netty.http.client.connect.time",
                "reactor.netty.connection.provider.total.connections", "reactor.netty.eventloop.pending.tasks")) {
            TestTimeouts.awaitTrue(() -> registry.find(name).meter() != null);
        }
        TestTimeouts.awaitTrue(() -> registry.get("reactor.netty.http.server.data.received").tag("uri", "/measured")
                .summary().totalAmount() == 8);
        assertThat(registry.get("reactor.netty.connection.provider.total.connections").tag("name", "metered").gauge()
                .value()).isEqualTo(1);
        pool.disposeLater().block(LIMIT);
        server.disposeNow(LIMIT);
        Transport.dispose(loops);
    }
}
