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
package io.netty.microbench.rdma.bench;

import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpConnection;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import picocli.CommandLine.Command;

import java.util.ArrayDeque;
import java.util.Collections;
import java.util.List;
import java.util.Queue;

/**
 * The measuring client of the part "http": one request is in flight on each connection.
 */
@Command(name = "plaintext-load", description = "Measures an http server by its shortest answer, which it checks.")
final class PlaintextLoad extends LoadClient {
    private static final byte[] HELLO = "Hello, World!".getBytes(CharsetUtil.US_ASCII);

    private PlaintextLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new PlaintextLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        Queue<HttpConnection> free = new ArrayDeque<>();
        for (int i = 0; i < Collections.max(Section.PLAINTEXT_CONNECTIONS); i++) {
            free.add(HttpConnection.open(options, group));
        }
        return Section.PLAINTEXT_CONNECTIONS.stream().map(connections ->
                new Scenario(Section.plaintext(connections), connections, 0, () -> get(free))).toList();
    }

    /** Sends a request. There is only one event loop, so the queue needs no lock. */
    private static Future<?> get(Queue<HttpConnection> free) {
        HttpConnection connection = free.remove();
        Future<HttpResponse> answer = connection.get("/plaintext", BodyCheck.equalTo(HELLO));
        answer.addListener(done -> free.add(connection));
        return answer;
    }
}
