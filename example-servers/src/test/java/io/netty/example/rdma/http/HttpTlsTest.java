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

import io.netty.channel.Channel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.PatternInput;
import io.netty.example.rdma.util.RawClient;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.TlsOptions;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.CharsetUtil;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509TrustManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class HttpTlsTest {
    private static final HttpLimits LIMITS = new HttpLimits(0, 1L << 30);
    private static final long LARGE = RunningServer.SLOW_MACHINE ? 2_000_003 : 20_000_003;
    private static final byte[] HELLO = HttpServerHandler.HELLO.getBytes(CharsetUtil.US_ASCII);

    private static X509Bundle certificate;

    private RunningServer server;

    static Stream<Arguments> engines() {
        return EachTransport.Source.with((Object[]) TlsEngine.values());
    }

    static Stream<Arguments> enginesAndProtocols() {
        return engines().flatMap(arguments -> Stream.of("TLSv1.2", "TLSv1.3").map(
                protocol -> Arguments.of(arguments.get()[0], arguments.get()[1], protocol)));
    }

    @BeforeAll
    static void makeCertificate() throws Exception {
        certificate = TlsOptions.selfSigned(RunningServer.HOST);
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    @ParameterizedTest
    @MethodSource("engines")
    void largeBodiesGoBothWays(Transport transport, TlsEngine engine) throws Exception {
        serve(transport, engine);
        HttpConnection connection = connect(client(engine).trustManager(certificate.getCertificate()).build());
        get(connection, () -> connection.get("/bytes/" + LARGE, BodyCheck.pattern(LARGE)));
        get(connection, () -> connection.upload("/echo", new PatternInput(LARGE), true, HttpResponseStatus.OK,
                BodyCheck.pattern(LARGE)));
    }

    @ParameterizedTest
    @MethodSource("enginesAndProtocols")
    void clientResumesItsSession(Transport transport, TlsEngine engine, String protocol) throws Exception {
        serve(transport, engine);
        CountingTrust trust = new CountingTrust();
        SslContext ssl = client(engine).trustManager(trust).protocols(protocol).build();
        for (int i = 0; i < 3; i++) {
            HttpConnection connection = connect(ssl);
            get(connection, () -> connection.get("/plaintext", BodyCheck.equalTo(HELLO)));
            assertThat(handler(connection).engine().getSession().getProtocol()).isEqualTo(protocol);
            TestTimeouts.result(connection.channel().close());
        }
        // The certificate is in full handshakes alone.
        assertThat(trust.checks.get()).isOne();
    }

    @ParameterizedTest
    @MethodSource("engines")
    void clientThatRenegotiatesIsDisconnected(Transport transport, TlsEngine engine) throws Exception {
        serve(transport, engine);
        // OpenSSL's engine can't even ask for it.
        HttpConnection connection = connect(client(TlsEngine.JDK).trustManager(certificate.getCertificate())
                .protocols("TLSv1.2").build());
        Channel other = server.accepted();
        get(connection, () -> connection.get("/plaintext", BodyCheck.equalTo(HELLO)));
        Future<Channel> renegotiation = TestTimeouts.result(connection.channel().eventLoop().submit(
                () -> handler(connection).renegotiate()));
        assertThatThrownBy(() -> TestTimeouts.result(renegotiation)).isInstanceOf(ExecutionException.class);
        TestTimeouts.result(other.closeFuture());
        TestTimeouts.result(connection.channel().closeFuture());
    }

    @ParameterizedTest
    @MethodSource("engines")
    void serverWithAnotherCertificateIsNotTrusted(Transport transport, TlsEngine engine) throws Exception {
        serve(transport, engine);
        HttpConnection connection = connect(client(engine)
                .trustManager(TlsOptions.selfSigned(RunningServer.HOST).getCertificate()).build());
        assertThatThrownBy(() -> get(connection, () -> connection.get("/plaintext", BodyCheck.equalTo(HELLO))))
                .isInstanceOf(ExecutionException.class).hasCauseInstanceOf(SSLException.class);
        TestTimeouts.result(server.accepted().closeFuture());
    }

    @ParameterizedTest
    @MethodSource("engines")
    void clientWithoutTlsIsDisconnected(Transport transport, TlsEngine engine) throws Exception {
        serve(transport, engine);
        assertThat(RawClient.exchange(server, "GET /plaintext HTTP/1.1\r\nHost: a\r\n\r\n"))
                .doesNotContain(HttpServerHandler.HELLO);
        TestTimeouts.result(server.accepted().closeFuture());
        // The server is there for others.
        HttpConnection connection = connect(client(engine).trustManager(certificate.getCertificate()).build());
        get(connection, () -> connection.get("/plaintext", BodyCheck.equalTo(HELLO)));
    }

    private void serve(Transport transport, TlsEngine engine) throws Exception {
        SslContext ssl = SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(),
                certificate.getCertificate()).sslProvider(engine.provider()).build();
        server = new RunningServer(transport, new HttpServerInitializer(ssl, LIMITS,
                () -> new HttpServerHandler(LIMITS)));
    }

    private static SslContextBuilder client(TlsEngine engine) {
        return SslContextBuilder.forClient().sslProvider(engine.provider());
    }

    private HttpConnection connect(SslContext ssl) throws InterruptedException {
        return HttpConnection.open(server.clientTransport(), server.clientGroup(), ssl, RunningServer.HOST,
                server.port());
    }

    private static SslHandler handler(HttpConnection connection) {
        return connection.channel().pipeline().get(SslHandler.class);
    }

    private static HttpResponse get(HttpConnection connection, Callable<Future<HttpResponse>> request)
            throws Exception {
        return TestTimeouts.result(TestTimeouts.result(connection.channel().eventLoop().submit(request)));
    }

    /** Trusts the certificate of these tests, and counts how often it is asked to. */
    private static final class CountingTrust implements X509TrustManager {
        private final AtomicInteger checks = new AtomicInteger();

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            throw new CertificateException("not a server");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            checks.incrementAndGet();
            if (!chain[0].equals(certificate.getCertificate())) {
                throw new CertificateException("another certificate");
            }
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
