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

import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static io.netty.channel.rdma.vertx.Vertxes.bytes;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Buffers of Vert.x: see the package description.
 */
@Tag("platforms")
@ExtendWith(Vertxes.Close.class)
class BuffersTest {
    private static final int LENGTH = 1 << 20;
    private static final int EXCHANGES = 8;

    @ParameterizedTest
    @CsvSource({
            "RDMA, HTTP_1_1, ", "RDMA, HTTP_1_1, JDK", "RDMA, HTTP_1_1, OPENSSL", "RDMA, HTTP_2, ",
            "RDMA, HTTP_2, OPENSSL", "RDMA_OR_TCP, HTTP_1_1, ", "RDMA_OR_TCP, HTTP_2, OPENSSL" })
    void whatIsReadHoldsNoReceiveMemory(Vertxes kind, HttpVersion version, Tls tls) throws Exception {
        long before = RdmaMetrics.total().receiveMemory();
        Vertx vertx = kind.start();
        HttpServerOptions serverOptions = new HttpServerOptions().setUseAlpn(tls != null);
        // The answers hold on to what was read.
        List<Buffer> kept = new ArrayList<>();
        HttpServer server = await(vertx.createHttpServer(tls == null ? serverOptions : tls.server(serverOptions))
                .requestHandler(request -> request.body().onSuccess(body -> {
                    kept.add(body);
                    request.response().end(body);
                })).listen(0, TestAddress.HOST));
        HttpClientOptions options = new HttpClientOptions().setProtocolVersion(version).setUseAlpn(tls != null)
                .setDefaultHost(TestAddress.HOST).setDefaultPort(server.actualPort());
        HttpClientAgent client = vertx.createHttpClient(tls == null ? options : tls.client(options),
                new PoolOptions().setHttp1MaxSize(1).setHttp2MaxSize(1));
        Traffic start = new Traffic();
        for (int i = 0; i < EXCHANGES; i++) {
            kept.add(exchange(client));
        }
        await(client.close());
        await(vertx.close());
        Traffic traffic = new Traffic().since(start);
        long exchanged = 2L * EXCHANGES * LENGTH;
        // A Buffer is on the heap, and what TLS makes of it in memory of Netty's allocator: each byte is copied once.
        assertThat(traffic.sentInPlace).isZero();
        assertThat(traffic.sentCopied).isGreaterThan(exchanged);
        // Read where it arrived, to be copied to the heap or to be decrypted, but for what is small.
        assertThat(traffic.receivedInPlace + traffic.receivedCopied).isGreaterThan(exchanged);
        assertThat(traffic.receivedInPlace).isGreaterThan(9 * traffic.receivedCopied);
        // Only buffers that nobody has released can hold receive memory of closed connections.
        TestTimeouts.awaitTrue(() -> RdmaMetrics.total().receiveMemory() == before);
        assertThat(kept).hasSize(2 * EXCHANGES).allSatisfy(body -> assertThat(body).isEqualTo(bytes(LENGTH)));
    }

    private static Buffer exchange(HttpClientAgent client) throws Exception {
        Future<Buffer> body = client.request(HttpMethod.POST, "/")
                .compose(request -> request.send(bytes(LENGTH)).compose(HttpClientResponse::body));
        return await(body);
    }

    /** The bytes of all connections of the process. */
    private static final class Traffic {
        private long sentInPlace = RdmaMetrics.total().bytesSentInPlace();
        private long sentCopied = RdmaMetrics.total().bytesSentCopied();
        private long receivedInPlace = RdmaMetrics.total().bytesReceivedInPlace();
        private long receivedCopied = RdmaMetrics.total().bytesReceivedCopied();

        Traffic since(Traffic start) {
            sentInPlace -= start.sentInPlace;
            sentCopied -= start.sentCopied;
            receivedInPlace -= start.receivedInPlace;
            receivedCopied -= start.receivedCopied;
            return this;
        }
    }
}
