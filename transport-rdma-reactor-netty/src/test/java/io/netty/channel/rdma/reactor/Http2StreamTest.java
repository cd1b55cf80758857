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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.handler.codec.http2.Http2StreamChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.HttpProtocol;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

import java.util.concurrent.CompletableFuture;

import static io.netty.channel.rdma.reactor.Transport.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Buffers that applications allocate from streams of HTTP/2 are sent in place.
 */
@Tag("oldest")
class Http2StreamTest {
    private static final int PART = 1 << 14;
    private static final int PARTS = 512;

    private final ConnectionProvider pool = ConnectionProvider.create("test", 1);
    private LoopResources loops;
    private DisposableServer server;

    @AfterEach
    void end() {
        pool.disposeLater().block(LIMIT);
        server.disposeNow(LIMIT);
        Transport.dispose(loops);
    }

    private HttpServer server(Transport transport) {
        loops = transport.newLoops();
        return HttpServer.create().runOn(loops).bindAddress(TestAddress::anyPort).protocol(HttpProtocol.H2C);
    }

    private HttpClient client() {
        return HttpClient.create(pool).runOn(loops).remoteAddress(() -> server.address()).protocol(HttpProtocol.H2C);
    }

    private static Flux<ByteBuf> body(ByteBufAllocator allocator) {
        return Flux.range(0, PARTS).map(i -> allocator.buffer(PART).writeZero(PART));
    }

    @Test
    void bodiesOfBothDirectionsAreSentInPlace() {
        server = server(Transport.RDMA).handle((request, response) ->
                request.receive().then().then(response.send(body(response.alloc())).then())).bindNow(LIMIT);
        RdmaMetrics metrics = RdmaMetrics.total();
        long inPlace = metrics.bytesSentInPlace();
        long copied = metrics.bytesSentCopied();
        Integer received = client().post().send((request, out) -> out.send(body(out.alloc())))
                .responseContent().reduce(0, (sum, part) -> sum + part.readableBytes()).block(LIMIT);
        assertThat(received).isEqualTo(PART * PARTS);
        // The rest is what the codec writes, and parts that the windows of HTTP/2 make so small that they go inline.
        long all = 2L * PART * PARTS;
        assertThat(metrics.bytesSentInPlace() - inPlace).isGreaterThan(all / 100 * 99);
        assertThat(metrics.bytesSentCopied() - copied).isLessThan(all / 100);
    }

    @Test
    void streamsHaveTheAllocatorOfTheirConnection() throws Exception {
        CompletableFuture<Channel> stream = new CompletableFuture<>();
        server = server(Transport.RDMA).doOnConnection(connection -> stream.complete(connection.channel()))
                .handle((request, response) -> response.sendString(Mono.just("a"))).bindNow(LIMIT);
        CompletableFuture<Channel> clients = new CompletableFuture<>();
        client().doOnRequest((request, connection) -> clients.complete(connection.channel())).get().response()
                .block(LIMIT);
        for (Channel channel : new Channel[] {stream.get(), clients.get()}) {
            assertThat(channel).isInstanceOf(Http2StreamChannel.class);
            assertThat(channel.alloc()).isSameAs(channel.parent().alloc()).isSameAs(RdmaByteBufAllocator.DEFAULT);
        }
    }
}
