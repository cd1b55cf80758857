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
package io.netty.example.rdma.proxy;

import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;

import java.util.Locale;

/**
 * Transport of connections, as an option of the command line.
 */
public enum ProxyTransport {
    /** RDMA if the server can be reached by it, over shared memory or an adapter, else TCP. */
    AUTO(RdmaOrTcpChoice.RDMA_OR_TCP, true, true),
    RDMA(RdmaOrTcpChoice.RDMA_ONLY, true, false),
    TCP(RdmaOrTcpChoice.TCP_ONLY, false, true);

    private final RdmaOrTcpChoice choice;
    private final boolean rdma;
    private final boolean tcp;

    ProxyTransport(RdmaOrTcpChoice choice, boolean rdma, boolean tcp) {
        this.choice = choice;
        this.rdma = rdma;
        this.tcp = tcp;
    }

    /** Returns the choice for channels. */
    RdmaOrTcpChoice choice() {
        return choice;
    }

    /** Returns whether connections may be over RDMA. */
    boolean mayBeRdma() {
        return rdma;
    }

    /** Returns whether a connection over this transport may reach a listener of the other one. */
    boolean meets(ProxyTransport listener) {
        return rdma && listener.rdma || tcp && listener.tcp;
    }

    /** Returns the name on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
