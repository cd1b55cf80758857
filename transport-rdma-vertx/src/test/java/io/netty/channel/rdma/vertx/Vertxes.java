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

import io.netty.channel.rdma.TestTimeouts;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.transport.Transport;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The transports that tests compare, and what they all do with Vert.x.
 */
enum Vertxes {
    RDMA(RdmaTransport.rdma()),
    RDMA_OR_TCP(RdmaTransport.rdmaOrTcp()),
    EPOLL(Transport.EPOLL);

    /** Closes what a test has started and not closed: one that fails must leave nothing to the next one. */
    static final class Close implements AfterEachCallback {
        @Override
        public void afterEach(ExtensionContext context) throws Exception {
            for (Vertx vertx; (vertx = STARTED.poll()) != null;) {
                await(vertx.close());
            }
        }
    }

    private static final Queue<Vertx> STARTED = new ConcurrentLinkedQueue<>();

    final Transport transport;

    Vertxes(Transport transport) {
        this.transport = transport;
    }

    Vertx start() {
        return start(new VertxOptions());
    }

    Vertx start(VertxOptions options) {
        Vertx vertx = Vertx.builder().with(options).withTransport(transport).build();
        STARTED.add(vertx);
        return vertx;
    }

    static <T> T await(Future<T> future) throws Exception {
        return TestTimeouts.result(future.toCompletionStage().toCompletableFuture());
    }

    /**
     * The body of the answer to a request without a body. A body that arrives before it is asked for is lost, and the
     * future never complete: it is asked for before the request is sent, or on the event loop.
     */
    static Buffer body(HttpClientRequest request) throws Exception {
        Future<Buffer> body = request.response().compose(HttpClientResponse::body);
        request.send();
        return await(body);
    }

    /** Bytes that are the same each time, and differ from place to place. */
    static Buffer bytes(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return Buffer.buffer(bytes);
    }
}
