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
package io.netty.example.rdma.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.grpc.proto.EchoGrpc;
import io.netty.example.rdma.grpc.proto.Payload;
import io.netty.example.rdma.grpc.proto.UnaryRequest;
import io.netty.example.rdma.util.EachTransport;
import io.netty.example.rdma.util.TestCertificate;
import io.netty.example.rdma.util.TlsCases;
import io.netty.example.rdma.util.TlsEngine;
import io.netty.example.rdma.util.Transport;
import io.netty.handler.ssl.SslContext;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(120)
class GrpcTlsTest {
    private static final int MIB = 1 << 20;

    @ParameterizedTest
    @ArgumentsSource(TlsCases.class)
    void callsAreMadeAndTheNextConnectionResumesTheSession(Transport transport, TlsEngine engine, String version)
            throws Exception {
        TestCertificate certificate = new TestCertificate(GrpcPair.HOST);
        SslContext client = GrpcSslContexts.configure(certificate.client(engine, version), engine.provider()).build();
        SslContext server = GrpcSslContexts.configure(certificate.server(engine, version), engine.provider()).build();
        try (GrpcPair pair = new GrpcPair(transport, server, client)) {
            Payload payload = Payloads.of(1, 4 * MIB);
            UnaryRequest request = UnaryRequest.newBuilder().setPayload(payload).build();
            assertThat(pair.blocking().unary(request)).isEqualTo(payload);
            assertThat(certificate.checked()).isOne();
            ManagedChannel second = pair.newChannel(transport, client);
            try {
                assertThat(EchoGrpc.newBlockingStub(second).withDeadlineAfter(TestTimeouts.SECONDS, TimeUnit.SECONDS)
                        .unary(request)).isEqualTo(payload);
            } finally {
                GrpcPair.close(second);
            }
            assertThat(certificate.checked()).isOne();
        }
    }

    @ParameterizedTest
    @EachTransport
    void clientThatDoesNotTrustTheServerSaysSo(Transport transport) throws Exception {
        TestCertificate certificate = new TestCertificate(GrpcPair.HOST);
        TestCertificate other = new TestCertificate(GrpcPair.HOST);
        SslContext server = GrpcSslContexts.configure(certificate.server(TlsEngine.JDK, "TLSv1.3"),
                TlsEngine.JDK.provider()).build();
        SslContext client = GrpcSslContexts.configure(other.client(TlsEngine.JDK, "TLSv1.3"),
                TlsEngine.JDK.provider()).build();
        try (GrpcPair pair = new GrpcPair(transport, server, client)) {
            assertThatThrownBy(() -> pair.blocking().unary(UnaryRequest.getDefaultInstance()))
                    .satisfies(failure -> assertThat(Status.fromThrowable(failure).getCode())
                            .isEqualTo(Status.Code.UNAVAILABLE))
                    .hasStackTraceContaining("not the server");
        }
    }
}
