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

import io.netty.channel.IoRegistration;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Stands for a connection on the loop that polls its completion queue, while the connection itself belongs to another
 * loop: hands the completions over, in order. A queue pair can't be given another completion queue.
 *
 * <p>On the loop of the completion queue. It is registered there, because a loop without any registration may be
 * suspended, and nobody would poll.
 */
final class CompletionRelay implements CompletionHandler, LoopHandle {
    private final MovableCompletionHandler connection;
    private static final int BATCH = 64;
    /** The most unused batches that are kept, so that a burst does not take memory for ever. */
    private static final int MAX_UNUSED = 4;

    /** Batches that the other loop is done with. */
    private final Queue<WorkCompletions> unused = new ConcurrentLinkedQueue<>();
    private WorkCompletions batch;
    private IoRegistration registration;
    private boolean ended;
    private boolean pending;

    CompletionRelay(MovableCompletionHandler connection, LoopHandler handler) {
        this.connection = connection;
        register(handler);
    }

    MovableCompletionHandler connection() {
        return connection;
    }

    /** Another loop polls the completion queue from now on: this one. */
    void register(LoopHandler handler) {
        registration = null;
        handler.loop().register(this).addListener(future -> {
            // Registration fails when the loop is about to end; then nobody needs to keep the loop from being
            // suspended.
            if (future.isSuccess()) {
                registration = (IoRegistration) future.getNow();
                if (ended) {
                    registration.cancel();
                }
            }
        });
    }

    void end() {
        ended = true;
        if (registration != null) {
            registration.cancel();
        }
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        if (batch != null && batch.size() == batch.capacity()) {
            // Between two calls of completionsDone() there may be any number of them: see LoopDevice.drain().
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
        connection.loop().execute(() -> {
            if (!connection.isDestroyed()) {
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
        connection.loop().execute(() -> connection.failed(cause));
    }

    @Override
    public void unexpected(Throwable cause) {
        connection.loop().execute(() -> connection.unexpected(cause));
    }

    @Override
    public CurrentLoop loop() {
        return connection.loop();
    }

    @Override
    public void destroy() {
        connection.destroy();
    }

    @Override
    public boolean isPending() {
        return pending;
    }

    @Override
    public void setPending(boolean pending) {
        this.pending = pending;
    }

    /** The loop ends. What becomes of the connection is up to {@link LoopDevice#destroy()}. */
    @Override
    public void close() {
    }
}
