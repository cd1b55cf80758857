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
package unmodified;

import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Vert.x's server and client, on its own choice of transport. */
public final class VertxHttp {
    private VertxHttp() { }

    public static void main(String... args) throws Exception {
        Vertx vertx = Vertx.vertx();
        HttpServer server = vertx.createHttpServer()
                .requestHandler(request -> request.body().onSuccess(body -> request.response().end(body)))
                .listen(0, "127.0.0.1").await(Ends.SECONDS, TimeUnit.SECONDS);
        HttpClient client = vertx.createHttpClient();
        byte[] bytes = new byte[1024 * 1024];
        for (int i = 0; i < 10; i++) {
            Arrays.fill(bytes, (byte) i);
            // On the event loop, the body is asked for before it can have arrived: one that has is lost.
            System.out.println(client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", "/")
                    .compose(request -> request.send(Buffer.buffer(bytes)).compose(response -> response.body()
                            .map(body -> response.statusCode() + " " + Arrays.equals(bytes, body.getBytes()))))
                    .await(Ends.SECONDS, TimeUnit.SECONDS));
        }
        vertx.close().await(Ends.SECONDS, TimeUnit.SECONDS);
        System.out.println("closed");
    }
}
