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
package io.netty.channel.rdma.differential;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;

/** Both ends of TLS, by the JDK's engine. */
final class Tls {
    private static final SslContext CLIENT;
    private static final SslContext SERVER;

    static {
        try {
            X509Bundle certificate = new CertificateBuilder().subject("cn=localhost").setIsCertificateAuthority(true)
                    .buildSelfSigned();
            SERVER = SslContextBuilder.forServer(certificate.getKeyPair().getPrivate(),
                    certificate.getCertificatePath()).sslProvider(SslProvider.JDK).build();
            CLIENT = SslContextBuilder.forClient().trustManager(certificate.getCertificate())
                    .endpointIdentificationAlgorithm(null).sslProvider(SslProvider.JDK).build();
        } catch (Exception e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Tls() {
    }

    /** Making a certificate may take seconds on a busy machine, which an event loop should not wait for. */
    static void load() {
        assert SERVER != null;
    }

    static SslHandler handler(Side side, ByteBufAllocator allocator) {
        return (side == Side.CLIENT ? CLIENT : SERVER).newHandler(allocator);
    }
}
