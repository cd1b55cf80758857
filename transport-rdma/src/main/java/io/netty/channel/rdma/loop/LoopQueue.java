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

import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.verbs.CompletionChannel;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.util.concurrent.TimeUnit;

/**
 * A completion queue, and the number of its entries that are reserved. Usually many connections of one loop share it. A
 * connection that is accepted before its loop is known has a queue of its own, with its own completion channel.
 */
public final class LoopQueue {
    private static final long MAX_REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int BUSY_POLLS = 64;

    public final CompletionQueue queue;
    /** {@code null} if the queue uses the channel of the {@link LoopDevice}. */
    private final CompletionChannel ownChannel;
    private final long mark;
    /** The descriptor of {@link #ownChannel} on the loop that handles the completions, else {@code null}. */
    private WatchedFd ownFd;
    private int reserved;
    private int busy;
    /** True if, as far as is known, the next completion causes an event. */
    boolean armed;
    boolean broken;
    private boolean refused;
    private long refusedSinceNanos;

    private LoopQueue(CompletionQueue queue, CompletionChannel ownChannel, long mark) {
        this.queue = queue;
        this.ownChannel = ownChannel;
        this.mark = mark;
    }

    /** @param mark see {@link #isMarked}. */
    static LoopQueue shared(DeviceContext device, int capacity, CompletionChannel channel, long mark)
            throws VerbsException {
        return new LoopQueue(device.device.createCompletionQueue(capacity, channel, mark), null, mark);
    }

    public static LoopQueue standalone(DeviceContext device, int capacity) throws VerbsException {
        CompletionChannel channel = device.device.createCompletionChannel();
        boolean created = false;
        try {
            LoopQueue queue = new LoopQueue(device.device.createCompletionQueue(capacity, channel), channel, 0);
            // No other owner gets room in the queue.
            queue.reserved = queue.queue.capacity();
            created = true;
            return queue;
        } finally {
            if (!created) {
                channel.close();
            }
        }
    }

    /** Returns whether the queue was made for one queue pair, with a completion channel of its own. */
    boolean isStandalone() {
        return ownChannel != null;
    }

    /** Watches the completion channel of a standalone queue. On the loop of the handler. */
    void watch(LoopHandler handler, Runnable fired) throws Exception {
        ownFd = new WatchedFd(handler, ownChannel, () -> {
            fired.run();
            ownChannel.consumeEvents(1);
        });
    }

    void unwatch() {
        if (ownFd != null) {
            ownFd.unwatch();
            ownFd = null;
        }
    }

    /** Reserves room for so many completions. Returns false if there is not enough. */
    boolean reserve(int completions) {
        if (broken || reserved + completions > queue.capacity()) {
            return false;
        }
        reserved += completions;
        return true;
    }

    /** Gives reserved room back, when the queue pair is gone. */
    public void release(int completions) {
        reserved -= completions;
    }

    boolean isUsed() {
        return reserved != 0;
    }

    /** Polls as {@link CompletionQueue#poll}. */
    int poll(WorkCompletions completions) throws VerbsException {
        int taken = queue.poll(completions);
        note(taken);
        return taken;
    }

    /**
     * Polls or arms as {@link CompletionQueue#pollOrArm}. {@link #armed} tells whether the queue was empty and is
     * armed.
     */
    void pollOrArm(WorkCompletions completions) throws VerbsException {
        armed = queue.pollOrArm(completions);
        refused = false;
        note(completions.size());
    }

    private void note(int taken) {
        if (taken > 0) {
            busy = BUSY_POLLS;
            // The queue may have fired for one of these completions.
            armed = false;
        } else if (busy > 0) {
            busy--;
        }
    }

    /**
     * Returns whether one of the last {@value #BUSY_POLLS} polls has found completions, or the queue has fired since.
     */
    boolean isBusy() {
        return busy > 0;
    }

    /** Returns whether an event with these marks may be from this queue. Many queues may share a mark. */
    boolean isMarked(long marks) {
        return (mark & marks) != 0;
    }

    /** Notes the queue's event: the queue most likely has completions, and does not fire again before it is armed. */
    void fired() {
        armed = false;
        busy = BUSY_POLLS;
    }

    /** Notes that arming failed. Returns false if the queue is broken, or arming has failed for a second. */
    boolean isToBeArmedAgain(long nowNanos) {
        if (!refused) {
            refused = true;
            refusedSinceNanos = nowNanos;
        }
        return !broken && nowNanos - refusedSinceNanos < MAX_REFUSED_NANOS;
    }

    /** Marks the queue as broken. Returns false if it was marked before. */
    boolean setBroken() {
        boolean first = !broken;
        broken = true;
        return first;
    }

    public void close() {
        unwatch();
        queue.close();
        if (ownChannel != null) {
            ownChannel.close();
        }
    }
}
