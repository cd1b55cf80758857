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
import io.netty.handler.ssl.SslProvider;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.NetUtil;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The command line options for TLS, the same for servers and clients.
 */
public final class TlsOptions {
    @Option(names = "--tls", description = "Encrypt, with the TLS engine of: ${COMPLETION-CANDIDATES}.")
    private TlsEngine engine;

    @Option(names = "--certificate", description = "PEM file with the server's certificate. A client trusts it and "
            + "nothing else. A server without --key makes a certificate for itself and writes it there.")
    private Path certificate;

    /** Returns whether to encrypt at all. */
    public boolean isEnabled() {
        return engine != null;
    }

    /** Chosen provider of TLS. */
    SslProvider provider() {
        return engine.provider();
    }

    /** Settings of a client. Without {@code --certificate} it trusts the platform's certificates. */
    public SslContextBuilder clientContext() {
        SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(engine.provider());
        return certificate == null ? builder : builder.trustManager(certificate.toFile());
    }

    /**
     * Settings of a server.
     *
     * @param key  PEM file with the private key of the certificate; {@code null} to make both now
     * @param host address or name for the certificate, besides localhost
     */
    SslContextBuilder serverContext(Path key, String host) throws Exception {
        if (key != null) {
            if (certificate == null) {
                throw new IllegalArgumentException("--key needs --certificate, the certificate of that key");
            }
            return SslContextBuilder.forServer(certificate.toFile(), key.toFile()).sslProvider(engine.provider());
        }
        X509Bundle made = selfSigned(host);
        if (certificate != null) {
            write(made);
        }
        return SslContextBuilder.forServer(made.getKeyPair().getPrivate(), made.getCertificate())
                .sslProvider(engine.provider());
    }

    private void write(X509Bundle made) throws IOException {
        Files.writeString(certificate, made.getCertificatePEM());
    }

    /** Makes a certificate that is its own authority, for tests. */
    public static X509Bundle selfSigned(String host) throws Exception {
        CertificateBuilder builder = new CertificateBuilder().ecp256().subject("CN=" + host)
                .setIsCertificateAuthority(true).addSanDnsName("localhost");
        return (NetUtil.isValidIpV4Address(host) || NetUtil.isValidIpV6Address(host)
                ? builder.addSanIpAddress(host) : builder.addSanDnsName(host)).buildSelfSigned();
    }

    /** Returns a text for users. */
    @Override
    public String toString() {
        return engine == null ? "no TLS" : "TLS of " + engine;
    }
}
