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
package io.netty.channel.rdma.reactor.example;

import io.netty.channel.rdma.reactor.RdmaLoopResources;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;

public final class HelloHttp {
    private HelloHttp() {
    }

    public static void main(String[] args) {
        RdmaLoopResources loops = RdmaLoopResources.create("http");
        DisposableServer server = HttpServer.create().runOn(loops).host("127.0.0.1").port(0)
                .route(routes -> routes.get("/hello", (request, response) -> response.sendString(Mono.just("Hello!"))))
                .bindNow();
        HttpClient client = HttpClient.create().runOn(loops).host("127.0.0.1").port(server.port());
        System.out.println(client.get().uri("/hello").responseContent().aggregate().asString().block());
        server.disposeNow();
        loops.disposeLater().block();
    }
}
