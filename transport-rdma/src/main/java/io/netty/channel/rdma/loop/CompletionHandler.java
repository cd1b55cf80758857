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

/** The owner of a queue pair. Called on the event loop that polls for it, and on no other. */
public abstract class CompletionHandler {
    /** Completions were dispatched, and {@link #completionsDone()} was not called since. */
    boolean pending;

    /** Notes a completed work request. {@link #completionsDone()} acts on it, once for all completions of the batch. */
    public abstract void completed(WorkCompletions completions, int index);

    /** Called when all present completions of this queue pair were dispatched to {@link #completed}. */
    public abstract void completionsDone();

    /** Called when the device or the completion queue of the queue pair does not work any more. */
    public abstract void failed(Throwable cause);

    /**
     * Called when the handling of something of this owner has thrown. The state of the owner is unreliable, so only
     * this owner ends, at once. May be called at any point.
     */
    public abstract void unexpected(Throwable cause);

    /**
     * Called when the queue pair is in the error state and has completed all receives that it took from a shared
     * receive queue. Not every device reports this.
     */
    public void lastReceiveReached() {
        // An owner without a shared receive queue has nothing to do.
    }

    /** Returns whether the queue pair takes its receives from this queue. */
    public boolean shares(LoopReceiveQueue receives) {
        return false;
    }

    /** Releases the queue pair and all that depends on it at once, because the event loop ends. */
    public abstract void destroy();

    // ---- for owners that may move to another loop: see the package move

    /** Runs the tasks that other threads have added, because the loop is ending and runs no tasks. */
    public void runTasks() {
        // An owner that has not moved has no such tasks.
    }

    /** Returns whether this object stands for an owner on another loop, which does not end with the loop that polls. */
    public boolean isElsewhere() {
        return false;
    }

    /**
     * Makes the loop of the owner take over the device, because the loop that polls ends. For owners on another loop.
     *
     * @return false if that loop has ended, too.
     */
    public boolean takeOver(LoopDevice device) {
        return false;
    }

    /** Called when the owner gets no completions any more. */
    public void unregistered() {
        // The owner itself has nothing to do.
    }
}
