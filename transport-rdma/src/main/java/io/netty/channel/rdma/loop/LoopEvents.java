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
package io.netty.channel.rdma.loop;

import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/** The connection manager events of one event loop and one provider of verbs. On that loop only. */
public final class LoopEvents {
    /** The owner of a connection id. */
    public interface Listener {
        void connectionEvent(ConnectionEvent event);

        /**
         * Called when {@link #connectionEvent} has thrown. The state of the owner is unreliable, so only this owner
         * ends, at once.
         */
        void unexpected(Throwable cause);

        /**
         * Called when the loop ends, after everything that is registered with it was closed.
         *
         * @param id must be closed.
         */
        default void loopEnded(LoopHandler handler, ConnectionId id) {
            id.close();
        }
    }

    /**
     * Maximum number of events that are read at a time, so that a flood of connection requests does not block the loop.
     */
    private static final int MAX_EVENTS = 64;

    private final LoopHandler handler;
    public final EventChannel channel;
    private final WatchedFd fd;
    private final Map<ConnectionId, Listener> listeners = new IdentityHashMap<>();
    /** Number of ids that are moving here from other loops. */
    private int expected;
    /** Events that have arrived before their id has a listener. */
    private final Map<ConnectionId, List<ConnectionEvent>> early = new IdentityHashMap<>();

    LoopEvents(LoopHandler handler, VerbsApi verbs) throws Exception {
        this.handler = handler;
        channel = EventChannel.create(verbs);
        try {
            fd = new WatchedFd(handler, channel.fd(), this::process);
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    /** Registers the listener of the id's events, and passes it those that came before. */
    public void listen(ConnectionId id, Listener listener) {
        listeners.put(id, listener);
        List<ConnectionEvent> events = early.remove(id);
        if (events != null) {
            events.forEach(event -> dispatch(listener, event));
        }
    }

    /** Keeps events of ids without a listener, until {@link #arrived()}. */
    public void expect() {
        expected++;
    }

    public void arrived() {
        if (--expected == 0) {
            early.clear();
        }
    }

    void remove(ConnectionId id) {
        listeners.remove(id);
    }

    /** Handles events. If there are more, the descriptor stays readable. */
    void process() throws VerbsException {
        for (int i = 0; i < MAX_EVENTS; i++) {
            ConnectionEvent event = channel.nextEvent();
            if (event == null) {
                break;
            }
            Listener listener = listeners.get(event.listener() != null ? event.listener() : event.id());
            if (listener == null) {
                if (event.listener() != null) {
                    // The listening channel was just closed. Closing the request tells the peer.
                    event.id().close();
                } else if (expected > 0) {
                    early.computeIfAbsent(event.id(), id -> new ArrayList<>()).add(event);
                }
                continue;
            }
            handler.externalEvent();
            dispatch(listener, event);
        }
    }

    private void dispatch(Listener listener, ConnectionEvent event) {
        try {
            listener.connectionEvent(event);
        } catch (Throwable t) {
            handler.unexpected(listener::unexpected, t);
        }
    }

    void destroy() {
        fd.unwatch();
        // The remaining ids belong to channels that are registered with no loop, or could not be closed in time.
        while (!listeners.isEmpty()) {
            ConnectionId id = listeners.keySet().iterator().next();
            try {
                listeners.remove(id).loopEnded(handler, id);
            } catch (Throwable t) {
                handler.unexpected(t);
            }
        }
        channel.close();
    }
}
