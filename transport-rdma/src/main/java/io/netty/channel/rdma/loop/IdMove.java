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

import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;

import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;

/**
 * Takes a connection id, and what depends on it, to the event loop that its channel was registered with, from the one
 * that the channel was deregistered from. Only the loop that reads the events of an id may move it away
 * ({@code rdma_migrate_id(3)} waits for events that were taken and not acknowledged), so that loop is asked to. On the
 * new loop.
 */
public final class IdMove {
    /** The owner of the id that moves. */
    public interface Owner {
        /** The loop that the owner is on, or was on last. Any thread. */
        CurrentLoop loop();

        ConnectionId id();

        /** The listener that gets the events of the id. */
        LoopEvents.Listener listener();

        /** The channel is deregistered: what happens waits. On the old loop. */
        void detach();

        /** Leaves the loop, with its id. On the old loop. */
        void leave(EventChannel events) throws Exception;

        /** Belongs to the new loop now. On that loop. */
        void attach(LoopHandler handler);

        /** Ends the owner, since there is no new loop any more. On the old one. */
        void destroy();
    }

    /** A listener that is told on the new loop. */
    public interface Listener {
        /** @param failure {@code null} if the owner belongs to the new loop now. */
        void moved(Throwable failure);
    }

    private final Owner owner;
    private final LoopHandler from;
    private final LoopHandler to;
    private final Listener listener;

    private IdMove(Owner owner, LoopHandler to, Listener listener) {
        this.owner = owner;
        this.to = to;
        this.listener = listener;
        from = owner.loop().handler();
    }

    /**
     * Moves the owner, if it is not there already.
     *
     * @throws Exception if that can't even begin. The listener is not told then.
     */
    public static void start(Owner owner, LoopHandler to, Listener listener) throws Exception {
        if (owner.loop().handler() == to) {
            owner.attach(to);
            listener.moved(null);
        } else {
            new IdMove(owner, to, listener).start();
        }
    }

    private void start() throws Exception {
        LoopEvents events = to.events(owner.id().verbs());
        events.expect();
        // The next event may arrive here before it is known that the id has.
        events.listen(owner.id(), owner.listener());
        try {
            from.loop().execute(() -> leave(events.channel()));
        } catch (RejectedExecutionException e) {
            events.arrived();
            to.forget(owner.id());
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(new IllegalStateException(
                    "the event loop that the channel was deregistered from has ended, and took what it had of it", e));
            throw closed;
        }
    }

    /** Makes the owner leave its loop. On the old loop. */
    private void leave(EventChannel events) {
        Throwable failure = null;
        try {
            owner.leave(events);
        } catch (Throwable t) {
            failure = t;
        }
        try {
            Throwable cause = failure;
            to.loop().execute(() -> arrive(cause));
        } catch (RejectedExecutionException e) {
            // The new loop has just ended: nobody else has the id any more.
            owner.destroy();
        }
    }

    private void arrive(Throwable failure) {
        Throwable cause = failure;
        if (cause == null) {
            try {
                owner.attach(to);
            } catch (Throwable t) {
                cause = t;
            }
        }
        if (cause != null) {
            to.forget(owner.id());
        }
        to.eventsIfAny(owner.id().verbs()).arrived();
        listener.moved(cause);
    }
}
