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
package io.netty.channel.rdma.ortcp;

import java.net.ConnectException;
import java.net.SocketAddress;

/**
 * A connection could be made neither over RDMA nor over TCP. The cause is that of TCP.
 */
public final class RdmaOrTcpConnectException extends ConnectException {
    private static final long serialVersionUID = 2963317504881265349L;

    private final transient RdmaOrTcpFallback rdma;

    RdmaOrTcpConnectException(SocketAddress address, RdmaOrTcpFallback rdma, Throwable rdmaCause, Throwable tcpCause) {
        super("cannot connect to " + address + " (over RDMA: " + rdma + "; over TCP: " + text(tcpCause) + ')');
        this.rdma = rdma;
        initCause(tcpCause);
        if (rdmaCause != null) {
            addSuppressed(rdmaCause);
        }
    }

    private static String text(Throwable cause) {
        return cause.getMessage() != null ? cause.getMessage() : cause.toString();
    }

    /** The reason why there is no connection over RDMA; {@code null} in a copy that was serialised. */
    public RdmaOrTcpFallback rdma() {
        return rdma;
    }
}
