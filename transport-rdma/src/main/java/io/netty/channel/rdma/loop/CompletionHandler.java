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

import io.netty.channel.rdma.verbs.WorkCompletions;

/**
 * The owner of a queue pair. Called on its event loop only.
 */
public interface CompletionHandler {
    /**
     * A work request completed. Only takes note of it: what follows from it is done, once for all completions of the
     * batch, in {@link #completionsDone()}.
     */
    void completed(WorkCompletions completions, int index);

    /** All completions that were there for this queue pair have been dispatched to {@link #completed}. */
    void completionsDone();

    /** The device or the completion queue of the queue pair does not work any more. */
    void failed(Throwable cause);

    /**
     * Called when the handling of something of this owner has thrown. Its state can't be relied upon any more, so it
     * ends, at once and alone. From the middle of anything.
     */
    void unexpected(Throwable cause);

    /** The queue pair is in the error state, and has completed all that it took of a shared receive queue. */
    default void lastReceiveReached() {
        // Nothing to do for a handler that shares no receives.
    }

    /** Returns whether the queue pair takes its receives from there. */
    default boolean shares(LoopReceiveQueue receives) {
        return false;
    }

    /** The loop that the connection of the queue pair belongs to: not this one if it was moved. */
    CurrentLoop loop();

    /** The event loop ends: release the queue pair and all that depends on it, at once. */
    void destroy();

    /** Returns whether completions were dispatched to it, and {@link #completionsDone()} was not called since. */
    boolean isPending();

    void setPending(boolean pending);
}
