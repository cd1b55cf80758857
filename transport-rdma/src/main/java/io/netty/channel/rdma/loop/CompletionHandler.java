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
    /** Completions were dispatched to it, and {@link #completionsDone()} was not called since. */
    boolean pending;

    /**
     * A work request completed. Only takes note of it: what follows from it is done, once for all completions of the
     * batch, in {@link #completionsDone()}.
     */
    public abstract void completed(WorkCompletions completions, int index);

    /** All completions that were there for this queue pair have been dispatched to {@link #completed}. */
    public abstract void completionsDone();

    /** The device or the completion queue of the queue pair does not work any more. */
    public abstract void failed(Throwable cause);

    /**
     * Called when the handling of something of this owner has thrown. Its state can't be relied upon any more, so it
     * ends, at once and alone. From the middle of anything.
     */
    public abstract void unexpected(Throwable cause);

    /**
     * The queue pair is in the error state, and has completed all that it took of a shared receive queue. Not every
     * device tells.
     */
    public void lastReceiveReached() {
        // Nothing to do for an owner that shares no receives.
    }

    /** Returns whether the queue pair takes its receives from there. */
    public boolean shares(LoopReceiveQueue receives) {
        return false;
    }

    /** The event loop ends: release the queue pair and all that depends on it, at once. */
    public abstract void destroy();

    // ---- for owners that may move to another loop: see the package move

    /** The end of the loop is near: runs the tasks that others have handed over, which it runs no more. */
    public void runTasks() {
        // Nothing is handed over to an owner that has not moved.
    }

    /**
     * Returns whether this stands for an owner that is on another loop, and does not end with the loop that polls for
     * it.
     */
    public boolean isElsewhere() {
        return false;
    }

    /**
     * Has the loop of the owner that is elsewhere go on with the device, as the one that polls ends.
     *
     * @return false if that loop has ended, too.
     */
    public boolean takeOver(LoopDevice device) {
        return false;
    }

    /** The owner gets no completions any more. */
    public void unregistered() {
        // Nothing to do for the owner itself, which knows.
    }
}
