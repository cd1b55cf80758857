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

import io.netty.channel.rdma.stream.StreamConnection;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.UnstableApi;

/**
 * A {@link SocketChannel} over RDMA. To handlers it behaves like a channel over TCP; the package description has the
 * differences.
 */
public final class RdmaSocketChannel extends AbstractRdmaSocketChannel {
    /**
     * Creates an unconnected channel.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaSocketChannel() {
        super(StreamConnection.PROTOCOL);
    }

    RdmaSocketChannel(RdmaServerSocketChannel parent, ConnectionEvent request) {
        super(parent, request, StreamConnection.PROTOCOL);
    }

    @Override
    public RdmaServerSocketChannel parent() {
        return (RdmaServerSocketChannel) super.parent();
    }

    /**
     * Returns a configuration with the defaults of a channel of this class, which checks and keeps the options that are
     * set. It is for a channel that decides only when it connects whether it uses this class or another one. Any
     * thread.
     *
     * @param channel asked for its metadata.
     */
    @UnstableApi
    public static SocketChannelConfig newConfig(SocketChannel channel) {
        return new RdmaSocketChannelConfig(channel);
    }
}
