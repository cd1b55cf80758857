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

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;

/** The example of docs/vertx.md. */
public final class VertxExample {
    private VertxExample() { }

    public static void main(String[] arguments) {
        String host = arguments.length > 0 ? arguments[0] : "127.0.0.1";
        Vertx vertx = Vertx.builder().withTransport(RdmaTransport.rdmaOrTcp()).build();
        HttpClient client = vertx.createHttpClient();
        vertx.createHttpServer().requestHandler(request ->
                request.response().end("Hello over " + RdmaTransport.transport(request.connection()))).listen(0, host)
                .compose(server -> client.request(HttpMethod.GET, server.actualPort(), host, "/"))
                .compose(request -> request.send().compose(HttpClientResponse::body)).onComplete(answer -> {
                    System.out.println(answer.succeeded() ? answer.result() : answer.cause());
                    client.close().onComplete(closed -> vertx.close());
                });
    }
}
