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
package io.netty.example.rdma.util;

import io.netty.example.rdma.files.FileServer;
import io.netty.example.rdma.grpc.GrpcClientCommand;
import io.netty.example.rdma.grpc.GrpcServerCommand;
import io.netty.example.rdma.http.HttpClient;
import io.netty.example.rdma.http.HttpServer;
import io.netty.example.rdma.http2.Http2ClientCommand;
import io.netty.example.rdma.http2.Http2Server;
import io.netty.example.rdma.websocket.WebSocketClient;
import io.netty.example.rdma.websocket.WebSocketServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Output of the clients of byte streams, with a server that is a process of its own.
 */
@Timeout(180)
class StreamProgramsOutputTest {
    private static final String TEXT = "Hello, World!";

    @TempDir
    private Path folder;

    @Test
    void http() throws Exception {
        assertThat(lines(HttpServer.class, List.of(), new HttpClient(), "/plaintext"))
                .contains(TEXT).anyMatch(line -> line.matches("200 OK, 13 bytes, SHA-256 [0-9a-f]{64} \\(.+\\)"));
    }

    @Test
    void http2() throws Exception {
        assertThat(lines(Http2Server.class, List.of(), new Http2ClientCommand(), "/plaintext"))
                .contains(TEXT).anyMatch(line -> line.matches("status 200, 13 bytes \\(.+\\)"));
    }

    @Test
    void grpc() throws Exception {
        assertThat(lines(GrpcServerCommand.class, List.of(), new GrpcClientCommand(), "--bytes", "100"))
                .anyMatch(line -> line.matches("unary: 100 bytes there and back in .+ ms, equal \\(.+\\)"))
                .anyMatch(line -> line.matches("server streaming: \\d+ messages, all of them right"))
                .contains("deadline: DEADLINE_EXCEEDED");
    }

    @Test
    void webSocket() throws Exception {
        assertThat(lines(WebSocketServer.class, List.of(), new WebSocketClient(), "a text", "another one"))
                .containsSubsequence("a text", "another one");
    }

    @Test
    void files() throws Exception {
        Files.writeString(folder.resolve("file.txt"), TEXT);
        assertThat(lines(FileServer.class, List.of("--root", folder.toString()), new HttpClient(), "/file.txt"))
                .contains(TEXT).anyMatch(line -> line.startsWith("200 OK, 13 bytes, SHA-256 "));
    }

    private static List<String> lines(Class<?> server, List<String> serverArguments, Callable<Integer> client,
                                      String... arguments) throws Exception {
        try (ServerProcess process = new ServerProcess(server, Transport.RDMA, RunningServer.HOST,
                serverArguments.toArray(new String[0]));
             Printed printed = new Printed()) {
            List<String> all = new ArrayList<>(List.of("--transport", "rdma", "--host", RunningServer.HOST, "--port",
                    Integer.toString(process.address().getPort())));
            all.addAll(List.of(arguments));
            return printed.linesAtTheEnd(0, List.of(Printed.start(client, all.toArray(new String[0]))));
        }
    }
}
