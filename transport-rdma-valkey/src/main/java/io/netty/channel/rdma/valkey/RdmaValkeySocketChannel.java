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

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.AbstractRdmaSocketChannel;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.socket.SocketChannel;

import java.nio.channels.ClosedChannelException;

/**
 * A {@link SocketChannel} to a Valkey server over RDMA, or a connection that {@link RdmaValkeyServerSocketChannel} has
 * accepted: a byte stream for RESP, by the protocol of Valkey 8.0 and later. Needs an event loop of {@code
 * RdmaIoHandler}. The options are those of {@link #config()}, with these differences:
 * <ul>
 * <li>{@link ChannelOption#SO_RCVBUF}: the receive memory has its whole size from the start, and is announced by
 *     halves. A server of Valkey allocates as much as such a half to send from.</li>
 * <li>{@link ChannelOption#SO_KEEPALIVE}: the protocol's keep-alive messages are sent. {@link
 *     RdmaChannelOption#USER_TIMEOUT_MILLIS} ends a connection whose peer registers no memory to write to.</li>
 * <li>{@link ChannelOption#SO_LINGER} 0: a close does not wait until flushed bytes have arrived. The peer sees the same
 *     end as with any close.</li>
 * <li>{@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}: 1024 at a client, as the protocol recommends. A server of Valkey
 *     closes a connection when its send queue is full of messages that find no receive.</li>
 * </ul>
 * The protocol has no half close: {@link #shutdownOutput()} fails. Any thread.
 */
public final class RdmaValkeySocketChannel extends AbstractRdmaSocketChannel {
    private static final int CLIENT_RECEIVES = 1024;

    /**
     * Creates an unconnected channel, which will be a client of the server that it connects to.
     *
     * @throws UnsatisfiedLinkError if the transport is not available: see {@link Rdma#unavailabilityCause()}.
     */
    public RdmaValkeySocketChannel() {
        super(ValkeyProtocol.CLIENT);
        config().setOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, CLIENT_RECEIVES);
    }

    RdmaValkeySocketChannel(RdmaValkeyServerSocketChannel parent, ConnectionEvent request) {
        super(parent, request, ValkeyProtocol.SERVER);
    }

    @Override
    public RdmaValkeyServerSocketChannel parent() {
        return (RdmaValkeyServerSocketChannel) super.parent();
    }

    /**
     * Fails with {@link UnsupportedOperationException}: the protocol has no message that ends only the output. {@link
     * #close()} ends both directions, after all flushed bytes.
     */
    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        promise.tryFailure(new UnsupportedOperationException(
                "Valkey's protocol for RDMA has no half close: use close()"));
        return promise;
    }

    /** Closes the channel, because a write has failed in the middle of the stream, and only a close tells the peer. */
    @Override
    protected void doShutdownOutput() throws ClosedChannelException {
        super.doShutdownOutput();
        eventLoop().execute(this::close);
    }
}
