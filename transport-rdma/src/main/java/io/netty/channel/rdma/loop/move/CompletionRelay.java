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

import io.netty.channel.IoRegistration;
import io.netty.channel.rdma.loop.CompletionHandler;
import io.netty.channel.rdma.loop.LoopBinding;
import io.netty.channel.rdma.loop.LoopDevice;
import io.netty.channel.rdma.loop.LoopHandler;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;

/**
 * Stands for a connection on the loop that polls its completion queue, while the connection belongs to another loop.
 * Passes the completions to that loop, in order, because a queue pair can't change its completion queue.
 *
 * <p>The relay is registered with the loop that polls, because a loop without registrations may be suspended, and would
 * not poll. On the connection's loop, the connection is an owner of that loop's part of the device, so the connection
 * ends with that loop.
 */
public final class CompletionRelay extends CompletionHandler implements LoopHandler.Handle {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(CompletionRelay.class);
    private static final int BATCH = 64;
    /** Maximum number of unused batches that are kept, so that a burst does not take memory for ever. */
    private static final int MAX_UNUSED = 4;

    private final LoopDevice device;
    private final int queuePairNumber;
    private final CompletionHandler connection;
    private final LoopBinding loop;

    // Fields that belong to the loop of the connection.
    /** The part of the device that the loop of the connection has, if another loop polls. */
    private LoopDevice ofConnection;
    /** True if this relay gets the completions of the queue pair. */
    private boolean relaying;
    private boolean released;

    // Fields that belong to the loop that polls.
    private WorkCompletions batch;
    private IoRegistration registration;
    private boolean registered;
    private int registrations;

    /** Batches that the loop of the connection has handled. */
    private final Queue<WorkCompletions> unused = new ConcurrentLinkedQueue<>();

    /**
     * @param device     of the loop that polls.
     * @param connection the owner of the queue pair there.
     * @param loop       of the connection.
     */
    public CompletionRelay(LoopDevice device, int queuePairNumber, CompletionHandler connection, LoopBinding loop) {
        this.device = device;
        this.queuePairNumber = queuePairNumber;
        this.connection = connection;
        this.loop = loop;
    }

    // ---- on the loop of the connection

    /** Makes completions come here, because the connection is about to leave its loop. */
    public void detach() {
        if (!relaying && !released) {
            // A connection without an active relay is on the loop that polls.
            relaying = true;
            register(device.loop.handler());
            device.register(queuePairNumber, this);
        }
    }

    /** Ends the connection's part in the device of the loop that it has left. On that loop. */
    public void leave() {
        if (ofConnection != null) {
            ofConnection.unregister(queuePairNumber);
            ofConnection = null;
        }
    }

    /** Binds the connection to the loop of this handler. Its {@link LoopBinding} is attached next. */
    public void attach(LoopHandler handler) throws Exception {
        if (relaying && !released && !device.loop.isHere()) {
            ofConnection = handler.device(device.context);
            ofConnection.register(queuePairNumber, connection);
        }
        loop.execute(this::endIfPolledHere);
    }

    /** Ends relaying if the connection's loop polls itself, after the completions that were passed before. */
    private void endIfPolledHere() {
        if (relaying && !released && device.loop.isHere()) {
            relaying = false;
            leave();
            // Completions of LoopDevice.drain() are passed before any comes directly.
            completionsDone();
            device.unregister(queuePairNumber);
            device.register(queuePairNumber, connection);
        }
    }

    /** Releases the connection, whose queue pair is destroyed. */
    public void release() {
        released = true;
        leave();
    }

    // ---- on the loop that polls

    private void register(LoopHandler handler) {
        int number = ++registrations;
        registered = true;
        registration = null;
        handler.loop().register(this).addListener(future -> {
            // Registration fails when the loop is about to end. Then the loop can't be suspended any more.
            if (future.isSuccess()) {
                IoRegistration made = (IoRegistration) future.getNow();
                if (registered && number == registrations) {
                    registration = made;
                } else {
                    made.cancel();
                }
            }
        });
    }

    @Override
    public void unregistered() {
        registered = false;
        if (registration != null) {
            registration.cancel();
        }
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        if (batch != null && batch.size() == batch.capacity()) {
            // Any number of completions may come between two calls of completionsDone(): see LoopDevice.drain().
            handOver();
        }
        if (batch == null) {
            batch = unused.poll();
            if (batch == null) {
                batch = new WorkCompletions(BATCH);
            }
        }
        batch.append(completions, index);
    }

    @Override
    public void completionsDone() {
        if (batch != null) {
            handOver();
        }
    }

    private void handOver() {
        WorkCompletions full = batch;
        batch = null;
        loop.execute(() -> {
            if (!released) {
                for (int i = 0; i < full.size(); i++) {
                    connection.completed(full, i);
                }
                connection.completionsDone();
            }
            full.clear();
            if (unused.size() < MAX_UNUSED) {
                unused.add(full);
            }
        });
    }

    @Override
    public void failed(Throwable cause) {
        loop.execute(() -> connection.failed(cause));
    }

    @Override
    public void unexpected(Throwable cause) {
        loop.execute(() -> connection.unexpected(cause));
    }

    @Override
    public void destroy() {
        connection.destroy();
    }

    @Override
    public boolean isElsewhere() {
        return loop.handler() != device.loop.handler();
    }

    @Override
    public boolean takeOver(LoopDevice ended) {
        LoopHandler next = loop.handler();
        try {
            ended.loop.detach();
            next.loop().execute(() -> takenOver(ended, next));
            return true;
        } catch (RejectedExecutionException e) {
            logger.debug("This event loop has ended, too", e);
            ended.loop.attach(ended.loop.handler());
            return false;
        }
    }

    /** Attaches the device to the new loop, which polls from now on. On the new loop. */
    private static void takenOver(LoopDevice ended, LoopHandler next) {
        ended.attach(next);
        for (CompletionHandler owner : ended.owners()) {
            ((CompletionRelay) owner).polledBy(next);
        }
    }

    private void polledBy(LoopHandler handler) {
        register(handler);
        loop.execute(this::endIfPolledHere);
    }

    /** Does nothing: at the end of a loop, {@link #takeOver} and {@link #destroy} decide about the connection. */
    @Override
    public void close() { }
}
