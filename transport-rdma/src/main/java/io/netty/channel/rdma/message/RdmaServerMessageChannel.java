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
package io.netty.channel.rdma.message;

import io.netty.channel.rdma.AbstractRdmaServerChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.verbs.ConnectionEvent;

/**
 * Listens for connections of {@link RdmaMessageChannel}s. It reads channels whose connections are requested, not made.
 * After such a channel is registered, its pipeline gets an {@link RdmaConnectionRequest}. A request that is not read
 * waits until the peer gives up. Requests beyond {@code SO_BACKLOG} are rejected. The options are those of {@link
 * io.netty.channel.rdma.RdmaServerSocketChannel}.
 */
public final class RdmaServerMessageChannel extends AbstractRdmaServerChannel<RdmaMessageChannel> {
    /**
     * Creates an unbound channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaServerMessageChannel() { }

    @Override
    protected RdmaMessageChannel newChild(ConnectionEvent request) {
        return new RdmaMessageChannel(this, request, null);
    }
}
