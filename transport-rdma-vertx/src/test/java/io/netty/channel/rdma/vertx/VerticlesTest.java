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

import io.netty.channel.rdma.TestAddress;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetSocket;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import static io.netty.channel.rdma.vertx.Vertxes.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Servers of verticles.
 */
@ExtendWith(Vertxes.Close.class)
class VerticlesTest {
    private static final int INSTANCES = 4;

    /** Answers with the name of its thread. */
    private static final class Server extends AbstractVerticle {
        private final Promise<Integer> port;

        Server(Promise<Integer> port) {
            this.port = port;
        }

        @Override
        public void start(Promise<Void> started) {
            vertx.createHttpServer()
                    .requestHandler(request -> request.response().end(Thread.currentThread().getName()))
                    // Servers of one Vert.x with the same negative port share what the system gives the first of them.
                    .listen(-1, TestAddress.HOST)
                    .onSuccess(server -> port.tryComplete(server.actualPort()))
                    .<Void>mapEmpty().onComplete(started);
        }
    }

    @ParameterizedTest
    @CsvSource({ "RDMA, EVENT_LOOP", "RDMA, WORKER", "EPOLL, EVENT_LOOP", "EPOLL, WORKER" })
    void instancesShareAPort(Vertxes kind, ThreadingModel model) throws Exception {
        Vertx vertx = kind.start(new VertxOptions().setEventLoopPoolSize(INSTANCES).setWorkerPoolSize(INSTANCES));
        Promise<Integer> port = Promise.promise();
        String deployment = await(vertx.deployVerticle(() -> new Server(port),
                new DeploymentOptions().setInstances(INSTANCES).setThreadingModel(model)));
        Set<String> threads = ConcurrentHashMap.newKeySet();
        List<Future<?>> connections = new ArrayList<>();
        HttpClientAgent client = vertx.createHttpClient(new HttpClientOptions().setKeepAlive(false),
                new PoolOptions().setHttp1MaxSize(2 * INSTANCES));
        for (int i = 0; i < 2 * INSTANCES; i++) {
            connections.add(client.request(HttpMethod.GET, await(port.future()), TestAddress.HOST, "/")
                    .compose(request -> request.send().compose(HttpClientResponse::body))
                    .onSuccess(body -> threads.add(body.toString())));
        }
        for (Future<?> connection : connections) {
            await(connection);
        }
        if (model == ThreadingModel.EVENT_LOOP) {
            assertThat(threads).hasSize(INSTANCES).allMatch(name -> name.startsWith("vert.x-eventloop-thread-"));
        } else {
            assertThat(threads).isNotEmpty().allMatch(name -> name.startsWith("vert.x-worker-thread-"));
        }
        await(client.close());
        await(vertx.undeploy(deployment));
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void thereAreAsManyEventLoopsAsAskedFor(Vertxes kind) throws Exception {
        Vertx vertx = kind.start(new VertxOptions().setEventLoopPoolSize(3));
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        for (int i = 0; i < 12; i++) {
            Promise<Void> ran = Promise.promise();
            Context context = ((io.vertx.core.internal.VertxInternal) vertx).createEventLoopContext();
            context.runOnContext(v -> {
                threads.add(Thread.currentThread());
                ran.complete();
            });
            await(ran.future());
        }
        assertThat(threads).hasSize(3);
        await(vertx.close());
    }

    @ParameterizedTest
    @EnumSource
    void undeployingClosesTheServersAndTheirConnections(Vertxes kind) throws Exception {
        Vertx vertx = kind.start();
        Vertx other = kind.start();
        Promise<Integer> port = Promise.promise();
        String deployment = await(vertx.deployVerticle(() -> new Server(port),
                new DeploymentOptions().setInstances(2)));
        NetClient client = other.createNetClient();
        NetSocket socket = await(client.connect(await(port.future()), TestAddress.HOST));
        Promise<Void> closed = Promise.promise();
        socket.closeHandler(closed::complete);
        socket.resume();
        // Accepted: it answers.
        Promise<Void> answered = Promise.promise();
        socket.handler(buffer -> answered.tryComplete());
        await(socket.write("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
        await(answered.future());
        await(vertx.undeploy(deployment));
        await(closed.future());
        int closedPort = await(port.future());
        assertThatThrownBy(() -> await(client.connect(closedPort, TestAddress.HOST)))
                .hasCauseInstanceOf(ConnectException.class);
        await(client.close());
        await(other.close());
        await(vertx.close());
    }
}
