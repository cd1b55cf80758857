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

import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;

/**
 * The command line options of clients.
 */
public final class ClientOptions {
    @Mixin
    private EventLoopOptions eventLoops;

    @Option(names = "--transport", defaultValue = "rdma", description = "One of ${COMPLETION-CANDIDATES} "
            + "(default: ${DEFAULT-VALUE}). AUTO: over RDMA if that works, else over TCP.")
    private ClientTransport transport;

    @Mixin
    private TlsOptions tls;

    @Option(names = "--host", description = "The server (default: where one on this host listens by default).")
    private String host;

    @Option(names = "--port", description = "Its port (default: ${DEFAULT-VALUE}).", defaultValue = "8080")
    private int port;

    public EventLoopGroup newGroup() {
        return eventLoops.newGroup(transport.transport());
    }

    public ClientTransport transport() {
        return transport;
    }

    public String host() throws IOException {
        return host == null ? LocalHost.address() : host;
    }

    public int port() {
        return port;
    }

    /**
     * TLS settings of the client, or {@code null} if it does not encrypt. The server's certificate must have its name
     * or address: pass {@link #host()} and {@link #port()} to {@code SslContext.newHandler}.
     */
    public SslContextBuilder sslContext() {
        return tls.isEnabled() ? tls.clientContext() : null;
    }

    /** Provider of TLS, or {@code null} for no TLS. */
    public SslProvider tlsProvider() {
        return tls.isEnabled() ? tls.provider() : null;
    }

    /** Returns the choices, for users. */
    @Override
    public String toString() {
        return transport + eventLoops.toString() + ", " + tls;
    }
}
