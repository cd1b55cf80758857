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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.AbstractRdmaServerChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.socket.ServerSocketChannel;

/**
 * A {@link ServerSocketChannel} that stands in for a Valkey server over RDMA, for tests and for applications that speak
 * RESP to clients of Valkey. It reads {@link RdmaValkeySocketChannel}s. Its options are those of {@link #config()}; the
 * options of {@link RdmaValkeySocketChannel} are set by {@code childOption}.
 */
public final class RdmaValkeyServerSocketChannel extends AbstractRdmaServerChannel<RdmaValkeySocketChannel>
        implements ServerSocketChannel {
    /** Registered memory of a connection for messages, in addition to its receive memory. */
    private static final int MESSAGES = 16 << 10;

    /**
     * Creates an unbound channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaValkeyServerSocketChannel() { }

    @Override
    protected RdmaValkeySocketChannel newChild(ConnectionEvent request) {
        return new RdmaValkeySocketChannel(this, request);
    }

    /** The listener's {@code SO_RCVBUF} stands for the children's, which is not set yet. */
    @Override
    protected long halfOpenMemory() {
        return config().getReceiveBufferSize() + MESSAGES;
    }
}
