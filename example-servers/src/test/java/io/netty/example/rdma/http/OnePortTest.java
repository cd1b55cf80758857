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
package io.netty.example.rdma.http;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.InstalledProgram;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.TlsOptions;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server on RDMA has TCP clients at the same port, unmodified ones among them.
 */
class OnePortTest {
    private static final HttpLimits LIMITS = new HttpLimits(0, 1L << 30);
    private static final int LARGE = RunningServer.SLOW_MACHINE ? 1_000_003 : 10_000_019;

    @TempDir
    private Path folder;
    private RunningServer server;
    private final List<EventLoopGroup> clientGroups = new ArrayList<>();

    @AfterEach
    void stopServer() {
        clientGroups.forEach(group -> group.shutdownGracefully(10, 10_000, TimeUnit.MILLISECONDS)
                .syncUninterruptibly());
        server.close();
    }

    @Test
    void clientsOfRdmaAndTcpAreServedAtOnce() throws Exception {
        serve(Transport.RDMA, null);
        List<HttpConnection> connections = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            for (ClientTransport transport : List.of(ClientTransport.RDMA, ClientTransport.EPOLL, ClientTransport.NIO,
                    ClientTransport.AUTO)) {
                connections.add(connect(transport));
            }
        }
        List<Future<HttpResponse>> answers = new ArrayList<>();
        for (HttpConnection connection : connections) {
            answers.add(TestTimeouts.result(connection.channel().eventLoop().submit(() -> connection.upload("/echo",
                    new PatternInput(LARGE), false, HttpResponseStatus.OK, BodyCheck.pattern(LARGE)))));
            answers.add(TestTimeouts.result(connection.channel().eventLoop().submit(
                    () -> connection.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE)))));
        }
        for (Future<HttpResponse> answer : answers) {
            TestTimeouts.result(answer);
        }
    }

    @ParameterizedTest
    @EachTransport(tcp = true)
    void clientThatMayFallBackTakesRdmaWhereItIs(Transport transport) throws Exception {
        serve(transport, null);
        HttpConnection connection = connect(ClientTransport.AUTO);
        TestTimeouts.result(TestTimeouts.result(connection.channel().eventLoop().submit(
                () -> connection.get("/bytes/5", BodyCheck.pattern(5)))));
        boolean rdma = transport == Transport.RDMA;
        assertThat(connection.channel().attr(RdmaOrTcp.TRANSPORT).get())
                .isEqualTo(rdma ? RdmaOrTcpTransport.RDMA : RdmaOrTcpTransport.TCP);
        assertThat(ClientTransport.AUTO.describe(connection.channel())).startsWith(rdma ? "auto: RDMA" : "auto: TCP");
    }

    @Test
    void curlIsAnsweredByTheServerOnRdma() throws Exception {
        serve(Transport.RDMA, null);
        assertThat(curl("http://", "/plaintext")).isEqualTo(HttpServerHandler.HELLO);
        // Two on one connection.
        assertThat(curl("http://", "/plaintext", url("http://", "/json")))
                .isEqualTo(HttpServerHandler.HELLO + "{\"message\":\"" + HttpServerHandler.HELLO + "\"}");
        assertThat(curl("http://", "/nothing", "-o", "/dev/null", "-w", "%{http_code}")).isEqualTo("404");
    }

    @Test
    void curlUploadsToTheServerOnRdma() throws Exception {
        serve(Transport.RDMA, null);
        Path file = folder.resolve("file");
        try (OutputStream target = Files.newOutputStream(file)) {
            Pattern.write(target, LARGE);
        }
        String receipt = new String(BodyCheck.receipt(LARGE), StandardCharsets.US_ASCII);
        assertThat(curl("http://", "/upload", "-X", "POST", "-T", file.toString())).isEqualTo(receipt);
        assertThat(curl("http://", "/upload", "-X", "POST", "-T", file.toString(), "-H", "Transfer-Encoding: chunked",
                "-H", "Expect: 100-continue")).isEqualTo(receipt);
        Path copy = folder.resolve("copy");
        assertThat(curl("http://", "/echo", "--data-binary", '@' + file.toString(), "-o", copy.toString())).isEmpty();
        assertThat(Files.mismatch(file, copy)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void curlIsAnsweredWithTls(TlsEngine engine) throws Exception {
        X509Bundle certificate = serve(Transport.RDMA, engine);
        Path pem = Files.writeString(folder.resolve("certificate.pem"), certificate.getCertificatePEM());
        assertThat(curl("https://", "/plaintext", "--cacert", pem.toString())).isEqualTo(HttpServerHandler.HELLO);
    }

    private X509Bundle serve(Transport transport, TlsEngine engine) throws Exception {
        X509Bundle certificate = engine == null ? null : TlsOptions.selfSigned(RunningServer.HOST);
        server = new RunningServer(transport, new HttpServerInitializer(engine == null ? null
                : SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(), certificate.getCertificate())
                        .sslProvider(engine.provider()).build(), LIMITS, () -> new HttpServerHandler(LIMITS)));
        return certificate;
    }

    private HttpConnection connect(ClientTransport transport) throws InterruptedException {
        EventLoopGroup group = transport.transport().newGroup(1, Waiting.DEFAULT);
        clientGroups.add(group);
        return HttpConnection.open(transport, group, null, RunningServer.HOST, server.port());
    }

    private String url(String scheme, String path) {
        return scheme + RunningServer.HOST + ':' + server.port() + path;
    }

    private String curl(String scheme, String path, String... arguments) throws Exception {
        List<String> all = new ArrayList<>(List.of("--http1.1", url(scheme, path)));
        all.addAll(List.of(arguments));
        return InstalledProgram.curl(all.toArray(new String[0]));
    }
}
