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

import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.VerbsException;

import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The connection manager events of one event loop. On that loop only.
 */
final class LoopEvents {
    /** The owner of a connection id. */
    interface Listener {
        void connectionEvent(ConnectionEvent event);
    }

    /** So many at a time, so that a flood of connection requests does not keep the loop from everything else. */
    private static final int MAX_EVENTS = 64;

    private final RdmaIoHandler handler;
    private final EventChannel channel;
    private final WatchedFd fd;
    private final Map<ConnectionId, Listener> listeners = new IdentityHashMap<>();

    LoopEvents(RdmaIoHandler handler) throws Exception {
        this.handler = handler;
        channel = EventChannel.create();
        fd = new WatchedFd(handler, channel.fd(), this::process);
        fd.watch(handler.epoll());
    }

    EventChannel channel() {
        return channel;
    }

    /** From now on the listener gets the events of the id. */
    void listen(ConnectionId id, Listener listener) {
        listeners.put(id, listener);
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
                    // Its listener was just closed: so is the request, which tells the peer.
                    event.id().close();
                }
                continue;
            }
            handler.externalEvent();
            try {
                listener.connectionEvent(event);
            } catch (Throwable t) {
                handler.unexpected(t);
            }
        }
    }

    void destroy() {
        fd.unwatch();
        // Ids that are left over belong to channels that could not be closed in time.
        for (ConnectionId id : listeners.keySet().toArray(new ConnectionId[0])) {
            id.close();
        }
        listeners.clear();
        channel.close();
    }
}
