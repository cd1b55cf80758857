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
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.EventChannel;

import java.nio.channels.ClosedChannelException;
import java.util.Iterator;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Moves a connection id, with its owner, to another event loop. Only the loop that reads the events of an id may move
 * the id away, because {@code rdma_migrate_id(3)} waits until events that were read are acknowledged. So the new loop
 * gives the old one a task for it. On the new loop, except where said.
 */
public final class ConnectionIdMigration {
    /** The owner of an id that moves with its channel. */
    public interface Owner {
        /** Returns the loop that the owner is on, or was on last. Any thread. */
        LoopBinding loop();

        ConnectionId id();

        /** Returns the listener that gets the events of the id. */
        LoopEvents.Listener listener();

        /** Makes tasks and timers wait, because the channel is deregistered. On the old loop. */
        void detach();

        /** Leaves the loop, with its id. On the old loop. */
        void leave(EventChannel events) throws Exception;

        /** Binds the owner to the new loop. On that loop. */
        void attach(LoopHandler handler) throws Exception;

        /** Ends the owner, because the new loop has ended. On the old loop. */
        void destroy();
    }

    /** Moves an id to an event channel. On the thread that reads the id's events. */
    public interface Migration {
        void migrate(EventChannel events) throws Exception;
    }

    private final Owner owner;
    private final LoopHandler from;
    private final LoopHandler to;
    private final Consumer<Throwable> listener;

    private ConnectionIdMigration(Owner owner, LoopHandler to, Consumer<Throwable> listener) {
        this.owner = owner;
        this.to = to;
        this.listener = listener;
        from = owner.loop().handler();
    }

    /**
     * Moves owners, one after the other, except those that are on the new loop already.
     *
     * @param moved called once: with {@code null} if all belong to the new loop now, or with the cause of a failure.
     */
    public static void start(Iterator<? extends Owner> owners, LoopHandler to, Consumer<Throwable> moved) {
        if (!owners.hasNext()) {
            moved.accept(null);
            return;
        }
        Owner owner = owners.next();
        Consumer<Throwable> next = failure -> {
            if (failure == null) {
                start(owners, to, moved);
            } else {
                moved.accept(failure);
            }
        };
        Throwable failed = null;
        try {
            if (owner.loop().handler() != to) {
                new ConnectionIdMigration(owner, to, next).start();
                return;
            }
            owner.attach(to);
        } catch (Throwable t) {
            failed = t;
        }
        next.accept(failed);
    }

    private void start() throws Exception {
        LoopEvents events = to.events(owner.id().verbs());
        events.expect();
        // The id's next event may arrive here before the news that the id has.
        events.listen(owner.id(), owner.listener());
        try {
            migrate(owner::leave, from.loop(), events.channel, to.loop(), this::arrived);
        } catch (RejectedExecutionException e) {
            events.arrived();
            to.forget(owner.id());
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(new IllegalStateException(
                    "the event loop that the channel was deregistered from has ended, and took what it had of it", e));
            throw closed;
        }
    }

    private void arrived(Throwable failure) {
        if (!to.isHere()) {
            owner.destroy();
            return;
        }
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
        listener.accept(cause);
    }

    /**
     * Makes the thread that reads the events of an id move the id to another event channel. Any thread.
     *
     * @param reader runs tasks on that thread.
     * @param to the executor of the loop that reads the other event channel.
     * @param arrived called on that loop: with {@code null}, or with the cause if the id did not move. If that loop has
     *         just ended, called by the reader with a {@link RejectedExecutionException}, and must close the id.
     * @throws RejectedExecutionException if the reader has ended. Then {@code arrived} is not called.
     */
    public static void migrate(Migration migration, Executor reader, EventChannel events, Executor to,
                               Consumer<Throwable> arrived) {
        reader.execute(() -> {
            Throwable[] failure = new Throwable[1];
            try {
                migration.migrate(events);
            } catch (Throwable t) {
                failure[0] = t;
            }
            try {
                to.execute(() -> arrived.accept(failure[0]));
            } catch (RejectedExecutionException e) {
                arrived.accept(e);
            }
        });
    }
}
