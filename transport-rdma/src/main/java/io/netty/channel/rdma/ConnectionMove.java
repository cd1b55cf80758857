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

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;

import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Takes a connection to the event loop that its channel was registered with, from the one that the channel was
 * deregistered from. Only the loop that reads the events of a connection id may move it away
 * ({@code rdma_migrate_id(3)} waits for events that were taken and not acknowledged), so that loop is asked to. On the
 * new loop.
 */
final class ConnectionMove {
    /** Told on the new loop. */
    interface Listener {
        /** @param failure {@code null} if the connection belongs to the new loop now. */
        void moved(Throwable failure);
    }

    private final RdmaConnection connection;
    private final ConnectionId id;
    private final RdmaIoHandler from;
    private final RdmaIoHandler to;
    private final Listener listener;

    ConnectionMove(RdmaConnection connection, ConnectionId id, RdmaIoHandler to, Listener listener) {
        this.connection = connection;
        this.id = id;
        this.to = to;
        this.listener = listener;
        from = connection.loop().handler();
    }

    void start() throws Exception {
        EventChannel events = to.events().channel();
        // The next event may arrive here before it is known that the id has.
        to.events().listen(id, connection);
        try {
            from.loop().execute(() -> leave(events));
        } catch (RejectedExecutionException e) {
            // That loop has ended, and took with it what belonged to it.
            to.forget(id);
            throw new ClosedChannelException();
        }
    }

    /** On the old loop. */
    private void leave(EventChannel events) {
        Throwable failure = null;
        try {
            if (connection.isDestroyed()) {
                throw new ClosedChannelException();
            }
            id.migrate(events);
            from.forget(id);
            from.guests().remove(connection);
        } catch (Throwable t) {
            failure = t;
        }
        try {
            Throwable cause = failure;
            to.loop().execute(() -> arrive(cause));
        } catch (RejectedExecutionException e) {
            // The new loop has just ended: nobody else has the connection any more.
            connection.destroy();
        }
    }

    private void arrive(Throwable failure) {
        if (failure == null) {
            connection.attach(to);
        } else {
            to.forget(id);
        }
        listener.moved(failure);
    }
}
