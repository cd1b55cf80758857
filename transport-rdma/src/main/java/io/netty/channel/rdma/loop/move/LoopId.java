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
package io.netty.channel.rdma.loop.move;

import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopEvents;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;

import java.nio.channels.ClosedChannelException;

/**
 * The connection id of a channel that is bound, listens or connects. It can move to another event loop ({@link
 * ConnectionIdMigration}); events wait during the move. On the channel's event loop, except where said.
 */
public class LoopId implements ConnectionIdMigration.Owner, LoopEvents.Listener {
    private final ConnectionId id;
    private final LoopBinding loop;
    private LoopEvents.Listener listener;
    private boolean closed;

    /** @param id is closed with this object. */
    public LoopId(LoopHandler handler, ConnectionId id, LoopEvents.Listener listener) throws Exception {
        this.id = id;
        this.listener = listener;
        loop = new LoopBinding(handler);
        loop.onUnexpected(this::unexpected);
        handler.events(id.verbs()).listen(id, this);
    }

    @Override
    public ConnectionId id() {
        return id;
    }

    @Override
    public LoopBinding loop() {
        return loop;
    }

    @Override
    public LoopEvents.Listener listener() {
        return this;
    }

    /** Makes another listener get the events from now on. */
    public void listener(LoopEvents.Listener newListener) {
        listener = newListener;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (!loop.isHere()) {
            loop.execute(() -> connectionEvent(event));
        } else if (!closed) {
            listener.connectionEvent(event);
        }
    }

    @Override
    public void unexpected(Throwable cause) {
        listener.unexpected(cause);
    }

    @Override
    public void detach() {
        loop.detach();
    }

    @Override
    public void leave(EventChannel events) throws Exception {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (loop.isAttached()) {
            loop.detach();
        }
        id.migrate(events);
        loop.handler().forget(id);
    }

    @Override
    public void attach(LoopHandler handler) {
        // If a channel comes back to its last loop, the id has never left.
        if (!loop.isAttached()) {
            loop.attach(handler);
        }
    }

    /** Closes the id. Any thread: another loop's, if the channel could not be registered there. */
    public void close() {
        loop.handler().execute(this::destroy);
    }

    @Override
    public void destroy() {
        closed = true;
        loop.handler().forget(id);
        id.close();
    }

    @Override
    public void loopEnded(LoopHandler handler, ConnectionId ignored) {
        if (loop.handler() == handler) {
            destroy();
        } else {
            // The id was moving to the loop that ends. Its old loop destroys this object.
            id.close();
        }
    }
}
