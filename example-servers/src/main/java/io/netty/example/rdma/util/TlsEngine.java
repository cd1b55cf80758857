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

import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.SslProvider;

import java.util.Locale;

/**
 * Implementations of TLS.
 */
public enum TlsEngine {
    JDK(SslProvider.JDK) {
        @Override
        public SslProvider provider() {
            // The property forbids renegotiation of TLS 1.2, which OpenSSL's engine never allows. The JDK reads it
            // once, at the first ClientHello that a server gets (JSSE Reference Guide, "TLS Renegotiation").
            System.setProperty("jdk.tls.rejectClientInitiatedRenegotiation", "true");
            return super.provider();
        }
    },
    /** BoringSSL, by netty-tcnative. */
    OPENSSL(SslProvider.OPENSSL) {
        @Override
        public SslProvider provider() {
            OpenSsl.ensureAvailability();
            return super.provider();
        }
    };

    private final SslProvider provider;

    TlsEngine(SslProvider provider) {
        this.provider = provider;
    }

    /**
     * Returns the provider for an {@code SslContextBuilder}. Servers of this process don't let clients renegotiate.
     *
     * @throws UnsatisfiedLinkError if its native library is missing
     */
    public SslProvider provider() {
        return provider;
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
