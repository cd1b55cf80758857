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

import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Makes one incoming connection. The request waits in the backlog of the listener until its channel is registered;
 * then it moves to the channel's event loop, where it gets its queue pair and is accepted. The registration is done
 * when the peer has answered.
 *
 * <p>On the loop of the channel, except where said.
 */
final class RdmaAcceptor {
    private final RdmaSocketChannel channel;
    private final RdmaServerSocketChannel listener;
    private final ConnectionData peer;
    /** {@code null} once it belongs to the connection, or is closed. */
    private ConnectionId id;
    private RdmaConnection connection;
    /** Set on the loop of the listener. */
    private volatile IOException lost;
    private boolean migrating;
    private ChannelPromise promise;

    RdmaAcceptor(RdmaSocketChannel channel, RdmaServerSocketChannel listener, ConnectionId id, ConnectionData peer) {
        this.channel = channel;
        this.listener = listener;
        this.id = id;
        this.peer = peer;
    }

    /** Something happened to the request before it was accepted. On the loop of the listener. */
    void requestLost(ConnectionEvent event) {
        lost = new IOException("the connection request of " + channel.remote + " was withdrawn: " + event.describe());
    }

    /** Accepts the request, and completes the promise when that is done. */
    void start(ChannelPromise registered) {
        promise = registered;
        try {
            EventChannel events = channel.handler().events().channel();
            if (id.eventChannel() == events) {
                accept();
                return;
            }
            // Only the thread that reads the events of the listener may move the id away.
            migrating = true;
            listener.eventLoop().execute(() -> {
                Throwable failure = null;
                try {
                    listener.migrate(id, events);
                } catch (Throwable t) {
                    failure = t;
                }
                migrated(failure);
            });
        } catch (Throwable t) {
            migrating = false;
            fail(t);
        }
    }

    /** On the loop of the listener. */
    private void migrated(Throwable failure) {
        try {
            channel.eventLoop().execute(() -> {
                migrating = false;
                if (failure != null) {
                    fail(failure);
                } else {
                    accept();
                }
            });
        } catch (RejectedExecutionException e) {
            // The loop of the channel has just ended: nobody else closes the id any more.
            id.close();
            promise.tryFailure(e);
        }
    }

    private void accept() {
        try {
            if (!channel.isOpen()) {
                throw new ClosedChannelException();
            }
            if (lost != null) {
                throw lost;
            }
            connection = RdmaConnection.create(channel, channel.handler(), id);
            ConnectionParameters parameters = RdmaConnector.parameters(channel.config(), connection.localData());
            connection.establish(peer, false);
            id.accept(parameters);
            id = null;
        } catch (Throwable t) {
            fail(t);
        }
    }

    /**
     * The peer has answered: the connection is established. Not before this is the channel active, so that whatever a
     * handler of {@code channelActive} does, it can send at once.
     */
    void established() {
        ChannelPromise registered = promise;
        promise = null;
        if (registered != null) {
            channel.accepted(connection);
            registered.setSuccess();
        }
    }

    /** The connection can't be made. */
    void fail(Throwable cause) {
        if (connection != null) {
            if (id != null) {
                RdmaServerSocketChannel.reject(id, "the server can't accept: " + cause);
            }
            connection.destroy();
        } else if (id != null) {
            RdmaServerSocketChannel.reject(id, "the server can't accept: " + cause);
            id.close();
        }
        id = null;
        ChannelPromise registered = promise;
        promise = null;
        if (registered != null) {
            registered.setFailure(cause);
        }
    }

    /** The channel is closed. On any thread if it was never registered. */
    void close() {
        if (!migrating) {
            fail(new ClosedChannelException());
        }
    }
}
