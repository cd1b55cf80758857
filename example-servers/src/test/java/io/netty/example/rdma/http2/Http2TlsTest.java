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
package io.netty.example.rdma.http2;

import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.TestCertificate;
import io.netty.example.rdma.util.TlsCases;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class Http2TlsTest {
    private static final int BODY_BYTES = 1 << 20;

    @ParameterizedTest
    @ArgumentsSource(TlsCases.class)
    void protocolIsNegotiatedAndTheNextConnectionResumesTheSession(Transport transport, TlsEngine engine,
                                                                   String version) throws Exception {
        TestCertificate certificate = new TestCertificate(Http2Pair.HOST);
        SslContext server = Http2Tls.configure(certificate.server(engine, version),
                ApplicationProtocolNames.HTTP_2, ApplicationProtocolNames.HTTP_1_1);
        SslContext client = Http2Tls.configure(certificate.client(engine, version), ApplicationProtocolNames.HTTP_2);
        try (Http2Pair pair = new Http2Pair(transport, server, client)) {
            for (int i = 0; i < 2; i++) {
                Http2Client connection = pair.connect();
                SslHandler tls = connection.channel().pipeline().get(SslHandler.class);
                assertThat(tls.applicationProtocol()).isEqualTo(ApplicationProtocolNames.HTTP_2);
                assertThat(tls.engine().getSession().getProtocol()).isEqualTo(version);
                assertThat(TestTimeouts.result(Http2Pair.echo(connection, BODY_BYTES).answer()))
                        .isEqualTo(new Exchange.Answer(200, BODY_BYTES));
                TestTimeouts.sync(connection.close());
            }
            assertThat(certificate.checked()).isOne();
        }
    }

    @ParameterizedTest
    @ArgumentsSource(TlsCases.class)
    void serverWithoutHttp2IsAnError(Transport transport, TlsEngine engine, String version) throws Exception {
        TestCertificate certificate = new TestCertificate(Http2Pair.HOST);
        SslContext server =
                Http2Tls.configure(certificate.server(engine, version), ApplicationProtocolNames.HTTP_1_1);
        SslContext client = Http2Tls.configure(certificate.client(engine, version), ApplicationProtocolNames.HTTP_2);
        try (Http2Pair pair = new Http2Pair(transport, server, client)) {
            assertThatThrownBy(pair::connect).hasStackTraceContaining("does not offer HTTP/2");
        }
    }
}
