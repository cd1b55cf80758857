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
package consumer;

import io.netty.channel.rdma.vertx.RdmaTransport;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;

import java.util.concurrent.TimeUnit;

/** A server of Vert.x over RDMA. */
public final class VertxHttp {
    private VertxHttp() {
    }

    public static void main(String[] args) throws Exception {
        Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdma()).build();
        try {
            HttpClient client = vertx.createHttpClient();
            Answer.print(vertx.createHttpServer().requestHandler(request -> request.response().end("hello"))
                    .listen(0, "127.0.0.1")
                    .compose(server -> client.request(HttpMethod.GET, server.actualPort(), "127.0.0.1", "/"))
                    .compose(request -> request.send().compose(HttpClientResponse::body))
                    .toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS).toString());
            client.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        }
    }
}
