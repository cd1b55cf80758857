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
package io.netty.channel.rdma.grpc;

import io.grpc.Attributes;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.GrpcSslContexts;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
@Timeout(120)
class RdmaGrpcTlsTest {
    private static final int MIB = 1 << 20;

    @RegisterExtension
    final LoopGroupExtension loops = new LoopGroupExtension(2);

    @ParameterizedTest
    @EnumSource(value = SslProvider.class, names = {"JDK", "OPENSSL"})
    void callsAreEncryptedAndOpenSslWritesIntoRegisteredMemory(SslProvider engine) throws Exception {
        X509Bundle certificate = new CertificateBuilder().subject("CN=" + TestAddress.HOST)
                .addSanIpAddress(TestAddress.HOST).setIsCertificateAuthority(true).buildSelfSigned();
        RdmaGrpc rdma = RdmaGrpc.of(loops.group());
        try (EchoEnds ends = new EchoEnds()) {
            Server server = ends.start(rdma.configure(EchoEnds.newServer()).sslContext(GrpcSslContexts.configure(
                    SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(), certificate.getCertificate()),
                    engine).build()));
            ManagedChannel channel = ends.open(rdma.configure(EchoEnds.newChannel(server)).sslContext(
                    GrpcSslContexts.configure(SslContextBuilder.forClient(), engine)
                            .trustManager(certificate.getCertificate()).build()));
            for (int i = 0; i < 4; i++) {
                ends.check(channel, MIB);
            }
            for (Attributes attributes : new Attributes[] {ends.atServer.get(), ends.atClient.get()}) {
                assertThat(attributes.get(Grpc.TRANSPORT_ATTR_SSL_SESSION)).isNotNull();
                assertThat(RdmaGrpc.transport(attributes)).isEqualTo(RdmaOrTcpTransport.RDMA);
                RdmaMetrics metrics = EchoEnds.metrics(attributes);
                // The JDK's engine encrypts into arrays.
                long sent = engine == SslProvider.JDK ? metrics.bytesSentCopied() : metrics.bytesSentInPlace();
                assertThat(sent).as("%s", metrics).isGreaterThan(4L * MIB * 99 / 100);
            }
        }
    }
}
