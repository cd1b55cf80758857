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
package io.netty.example.rdma.proxy;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.example.rdma.http.HttpConnection;
import io.netty.example.rdma.http.HttpServer;
import io.netty.example.rdma.http.HttpServerHandler;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.InstalledProgram;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.ServerProcess;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The proxy as a process, before a server that is another one.
 */
@Timeout(120)
class ProxyServerTest {
    private static final String HOST = TestAddress.HOST;
    private static final int LARGE = RunningServer.SLOW_MACHINE ? 1_000_003 : 100_000_007;
    private static final int STATUS_OF_SIGTERM = 128 + 15;

    @TempDir
    private Path folder;

    @Test
    void serverOnRdmaAloneHasNoTcp() throws Exception {
        try (ServerProcess server = new ServerProcess(HttpServer.class, Transport.RDMA, HOST, "--rdma-only")) {
            assertThatThrownBy(() -> new Socket(HOST, server.address().getPort()).close())
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void onlyRdmaCanBeRdmaOnly() {
        assertThat(Commands.run(new HttpServer(), "--transport", "epoll", "--rdma-only", "--host", HOST,
                "--port", "0")).isOne();
    }

    @Test
    void curlReachesAServerOnRdmaAlone() throws Exception {
        try (ServerProcess server = new ServerProcess(HttpServer.class, Transport.RDMA, HOST, "--rdma-only");
             ChildJvm proxy = proxy("tcp", server, "rdma")) {
            int port = port(proxy);
            assertThat(curl(port, "/plaintext")).isEqualTo(HttpServerHandler.HELLO);
            // Both on one connection.
            assertThat(curl(port, "/plaintext", url(port, "/json"), "-w", "[%{num_connects}]"))
                    .isEqualTo(HttpServerHandler.HELLO + "[1]{\"message\":\"" + HttpServerHandler.HELLO + "\"}[0]");

            Path download = folder.resolve("download");
            curl(port, "/bytes/" + LARGE, "-o", download.toString());
            Path file = pattern();
            assertThat(Files.mismatch(file, download)).isEqualTo(-1);

            String receipt = new String(BodyCheck.receipt(LARGE), StandardCharsets.US_ASCII);
            assertThat(curl(port, "/upload", "-X", "POST", "-T", file.toString())).isEqualTo(receipt);
            assertThat(curl(port, "/upload", "-X", "POST", "-T", file.toString(), "-H", "Transfer-Encoding: chunked",
                    "-H", "Expect: 100-continue")).isEqualTo(receipt);

            proxy.terminate();
            assertThat(proxy.output(STATUS_OF_SIGTERM)).contains("connections: 5, 0 of them open",
                    "5 over RDMA, 0 over TCP", " 0 could not be made; 0 failed");
        }
    }

    @Test
    void clientOnRdmaReachesAServerOnTcp() throws Exception {
        EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(HttpServer.class, Transport.EPOLL, HOST);
             ChildJvm proxy = proxy("rdma", server, "tcp")) {
            HttpConnection connection = HttpConnection.open(ClientTransport.RDMA, group, null, HOST, port(proxy));
            TestTimeouts.result(TestTimeouts.result(connection.channel().eventLoop().submit(
                    () -> connection.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE)))));
            TestTimeouts.sync(connection.channel().close());
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void proxyIsReachedByBothAtOnePort() throws Exception {
        EventLoopGroup group = Transport.RDMA.newGroup(1, Waiting.DEFAULT);
        try (ServerProcess server = new ServerProcess(HttpServer.class, Transport.RDMA, HOST);
             ChildJvm proxy = proxy("auto", server, "auto")) {
            int port = port(proxy);
            for (ClientTransport transport : List.of(ClientTransport.RDMA, ClientTransport.EPOLL)) {
                HttpConnection connection = HttpConnection.open(transport, group, null, HOST, port);
                TestTimeouts.result(TestTimeouts.result(connection.channel().eventLoop().submit(
                        () -> connection.get("/bytes/5", BodyCheck.pattern(5)))));
                TestTimeouts.sync(connection.channel().close());
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"udp:127.0.0.1:8080", "127.0.0.1:8080", "tcp:127.0.0.1", "tcp:127.0.0.1:70000",
        "tcp:::1:1"})
    void whatIsNoAddressIsRefused(String listen) {
        assertThat(Commands.run(new ProxyServer(), "--listen", listen, "--to", "127.0.0.1:1")).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tcp:127.0.0.1:8080", "tcp:0.0.0.0:8080", "tcp:localhost:8080", "auto:[::]:8080"})
    void proxyOfItselfIsRefused(String listen) {
        assertThat(Commands.run(new ProxyServer(), "--listen", listen, "--to", "127.0.0.1:8080")).isOne();
    }

    private static ChildJvm proxy(String listen, ServerProcess server, String transport) throws IOException {
        return new ChildJvm(ProxyServer.class, List.of(), "--listen", listen + ':' + HOST + ":0", "--to",
                HOST + ':' + server.address().getPort(), "--transport", transport, "--quiet");
    }

    private static int port(ChildJvm proxy) throws IOException {
        return Integer.parseInt(ExampleServer.port(proxy.line(ExampleServer.READY.trim())));
    }

    private Path pattern() throws IOException {
        Path file = folder.resolve("file");
        try (OutputStream target = Files.newOutputStream(file)) {
            Pattern.write(target, LARGE);
        }
        return file;
    }

    private static String url(int port, String path) {
        return "http://" + HOST + ':' + port + path;
    }

    private static String curl(int port, String path, String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("--http1.1", url(port, path)));
        all.addAll(List.of(arguments));
        return InstalledProgram.curl(all.toArray(new String[0]));
    }
}
