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

import io.netty.handler.ssl.SslContextBuilder;
import io.netty.pkitesting.X509Bundle;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.X509TrustManager;

/**
 * A server's certificate, and a client that trusts it and counts how often it has had to look at it: a session that is
 * resumed has no certificates.
 */
public final class TestCertificate {
    private final X509Bundle bundle;
    private final AtomicInteger checked = new AtomicInteger();

    public TestCertificate(String host) throws Exception {
        bundle = TlsOptions.selfSigned(host);
    }

    public SslContextBuilder server(TlsEngine engine, String version) {
        return SslContextBuilder.forServer(bundle.getKeyPair().getPrivate(), bundle.getCertificate())
                .sslProvider(engine.provider()).protocols(version);
    }

    public SslContextBuilder client(TlsEngine engine, String version) {
        return SslContextBuilder.forClient().trustManager(new Trust())
                .sslProvider(engine.provider()).protocols(version);
    }

    /** As PEM, for programs. */
    public String pem() {
        return bundle.getCertificatePEM();
    }

    /** Number of full handshakes of clients. */
    public int checked() {
        return checked.get();
    }

    private final class Trust implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) throws CertificateException {
            throw new CertificateException("there are no clients with certificates");
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) throws CertificateException {
            checked.incrementAndGet();
            if (!Arrays.asList(chain).equals(Arrays.asList(bundle.getCertificate()))) {
                throw new CertificateException("not the server");
            }
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[] {bundle.getCertificate()};
        }
    }
}
