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
import io.netty.channel.rdma.TestTimeouts;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.net.OpenSSLEngineOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.TCPSSLOptions;
import io.vertx.core.net.ClientOptionsBase;

/**
 * TLS by one engine or the other, with a certificate for {@link TestAddress}.
 */
enum Tls {
    JDK,
    OPENSSL;

    private static final X509Bundle CERTIFICATE = certificate();

    private static X509Bundle certificate() {
        try {
            return new CertificateBuilder().ecp256().subject("CN=localhost").setIsCertificateAuthority(true)
                    .addSanIpAddress(TestAddress.HOST).buildSelfSigned();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    <O extends TCPSSLOptions> O server(O options) {
        set(options);
        options.setKeyCertOptions(new PemKeyCertOptions()
                .setCertValue(Buffer.buffer(CERTIFICATE.getCertificatePathPEM()))
                .setKeyValue(Buffer.buffer(CERTIFICATE.getPrivateKeyPEM())));
        return options;
    }

    <O extends ClientOptionsBase> O client(O options) {
        set(options);
        options.setTrustOptions(new PemTrustOptions()
                .addCertValue(Buffer.buffer(CERTIFICATE.getCertificatePathPEM())));
        return options;
    }

    private void set(TCPSSLOptions options) {
        // The 10 s of Vert.x are too few for a machine that is busy.
        options.setSsl(true).setSslHandshakeTimeout(TestTimeouts.SECONDS)
                .setSslEngineOptions(this == JDK ? new JdkSSLEngineOptions() : new OpenSSLEngineOptions());
    }
}
