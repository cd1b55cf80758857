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
package io.netty.channel.rdma;

import io.netty.channel.rdma.connection.ConnectionResources;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.socket.ServerSocketChannel;

import java.nio.ByteBuffer;

/**
 * A {@link ServerSocketChannel} over RDMA. It reads {@link RdmaSocketChannel}s, whose connections are accepted when
 * they are registered with their event loops.
 */
public final class RdmaServerSocketChannel extends AbstractRdmaServerChannel<RdmaSocketChannel>
        implements ServerSocketChannel {
    /**
     * Creates an unbound channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaServerSocketChannel() { }

    @Override
    protected RdmaSocketChannel newChild(ConnectionEvent request) throws Exception {
        ConnectionData.read(ByteBuffer.wrap(request.privateData()));
        return new RdmaSocketChannel(this, request);
    }

    @Override
    protected long halfOpenMemory() {
        return ConnectionResources.FIRST_MEMORY;
    }
}
