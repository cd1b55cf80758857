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

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.monitor.DeviceCounters;
import io.netty.channel.rdma.monitor.LoopCounters;
import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.verbs.AsyncEvent;
import io.netty.channel.rdma.verbs.CompletionChannel;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The part of one device that one event loop has: a completion channel, its completion queues, and the owners of queue
 * pairs. On that loop only.
 */
public final class LoopDevice {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopDevice.class);
    private static final int FIRST_QUEUE_CAPACITY = 1 << 12;
    /**
     * The embedded provider's queues take memory only for the completions in them. With default options this capacity
     * is enough for 256 connections. It avoids further queues, each of which adds a check for each wake-up.
     */
    private static final int FIRST_EMBEDDED_QUEUE_CAPACITY = 1 << 17;
    private static final int MAX_QUEUE_CAPACITY = 1 << 20;
    private static final int ARM_AGAIN_MILLIS = 1;

    public final DeviceContext context;
    private final LoopCounters counters;
    /** The loop that polls. When it ends, and connections that have left it go on, another loop replaces it. */
    public final LoopBinding loop;
    final CompletionChannel channel;
    /** An array, because each poll iterates over it. */
    LoopQueue[] queues = { };
    private final IntObjectMap<CompletionHandler> owners = new IntObjectHashMap<>();
    /** Owners that got completions and are not notified yet. */
    private final List<CompletionHandler> pending = new ArrayList<>();
    /** Shared receive queues by the number that their work requests carry. */
    private final IntObjectMap<LoopReceiveQueue> receiveQueues = new IntObjectHashMap<>(4);
    private int nextReceiveQueue;
    /** Set inside of {@link #notifyOwners}. */
    private boolean notifying;
    /** The batch of {@link #drain}, which may run while {@link #poll} handles its own batch. */
    private WorkCompletions drained;
    private WatchedFd completionFd;
    /** {@code null} if another object of the same loop watches the descriptor. */
    private WatchedFd asyncFd;
    /** True if the completion channels are readable, or the next completion of any queue makes one readable. */
    private boolean armed;
    private int nextMark;
    /** Index of the queue that the next poll includes even if it was empty for a while. */
    private int turn;
    /** Wakes the loop, because a completion may not do so. */
    private LoopBinding.Timer armAgain;
    /** True if no loop polls any more. */
    private boolean ended;

    LoopDevice(LoopHandler handler, DeviceContext context) throws Exception {
        this.context = context;
        loop = new LoopBinding(handler);
        counters = context.counters.newLoopCounters();
        channel = context.device.createCompletionChannel();
        boolean watched = false;
        try {
            watch();
            watched = true;
        } finally {
            if (!watched) {
                unwatch();
                channel.close();
            }
        }
        counters.open();
    }

    private void watch() throws Exception {
        LoopHandler handler = loop.handler();
        completionFd = new WatchedFd(handler, channel, this::completionEvents);
        asyncFd = handler.find(context) != null ? null :
                new WatchedFd(handler, context.device.asyncFd(), this::asyncEvents);
        for (LoopQueue queue : queues) {
            watch(queue);
        }
        for (LoopQueue queue : queues) {
            queue.armed = false;
        }
        armed = false;
    }

    private void watch(LoopQueue queue) throws Exception {
        if (queue.isStandalone()) {
            queue.watch(loop.handler(), () -> fired(queue));
        }
    }

    private void unwatch() {
        if (completionFd != null) {
            completionFd.unwatch();
        }
        if (asyncFd != null) {
            asyncFd.unwatch();
        }
        for (LoopQueue queue : queues) {
            queue.unwatch();
        }
        if (armAgain != null) {
            armAgain.cancel();
            armAgain = null;
        }
    }

    private void add(LoopQueue queue) {
        queues = Arrays.copyOf(queues, queues.length + 1);
        queues[queues.length - 1] = queue;
        // The new queue is not armed.
        armed = false;
    }

    private void remove(LoopQueue queue) {
        List<LoopQueue> left = new ArrayList<>(Arrays.asList(queues));
        left.remove(queue);
        queues = left.toArray(new LoopQueue[0]);
    }

    /**
     * Returns a completion queue, with room reserved for so many more completions.
     *
     * @param receives a shared receive queue whose completions need room, too; or {@code null}.
     */
    public LoopQueue reserve(int completions, LoopReceiveQueue receives) throws VerbsException {
        for (LoopQueue queue : queues) {
            if (queue.reserve(completions + room(receives, queue))) {
                return queue;
            }
        }
        int needed = completions + (receives == null ? 0 : receives.depth);
        LoopQueue queue = create(needed);
        add(queue);
        if (!queue.reserve(needed)) {
            throw new IllegalArgumentException("queue depths: " + needed +
                    " completions in all (expected: at most " +
                    queue.queue.capacity() + ", the limit of " + context.device + ')');
        }
        return queue;
    }

    /** Creates a queue as large as all others together, so that even many connections have few queues. */
    private LoopQueue create(int needed) throws VerbsException {
        int first = context.device.verbs().provider() == VerbsProvider.EMBEDDED ?
                FIRST_EMBEDDED_QUEUE_CAPACITY : FIRST_QUEUE_CAPACITY;
        long capacity = first;
        for (LoopQueue queue : queues) {
            capacity += queue.isStandalone() ? 0 : queue.queue.capacity();
        }
        int max = context.attributes.maxCompletions();
        int least = Math.min(Math.max(first, needed), max);
        int most = (int) Math.min(Math.max(Math.min(capacity, MAX_QUEUE_CAPACITY), least), max);
        for (;;) {
            try {
                return LoopQueue.shared(context, most, channel, 1L << (nextMark++ & 31));
            } catch (VerbsException e) {
                // A device may not be able to pin so much memory at once.
                if (most == least) {
                    throw e;
                }
                most = Math.max(most / 2, least);
            }
        }
    }

    /** Returns the number of entries that the queue still needs for completions of shared receives. */
    private static int room(LoopReceiveQueue receives, LoopQueue queue) {
        return receives == null || receives.completesInto(queue) ? 0 : receives.depth;
    }

    /**
     * Returns the shared receive queue of this loop for buffers of this size.
     *
     * @param buffers allocates buffers of registered memory, or returns {@code null} if there is no more.
     */
    public LoopReceiveQueue receiveQueue(int bufferSize, Supplier<ByteBuf> buffers) throws IOException {
        for (LoopReceiveQueue candidate : receiveQueues.values()) {
            if (candidate.bufferSize == bufferSize) {
                return candidate;
            }
        }
        int depth = LoopReceiveQueue.depth(loop.handler().sharedReceiveQueueDepth, context);
        int number = nextReceiveQueue++ & 0x3fffffff;
        LoopReceiveQueue queue = new LoopReceiveQueue(context, loop, this::refused, number, bufferSize, depth, buffers);
        receiveQueues.put(number, queue);
        return queue;
    }

    /** Closes the queue unless it is used. */
    public void release(LoopReceiveQueue receives) {
        if (!receives.isUsed() && receiveQueues.values().remove(receives)) {
            receives.close();
        }
    }

    /** Makes this loop handle the completions of a standalone queue from now on. */
    public void adopt(LoopQueue queue) throws Exception {
        watch(queue);
        add(queue);
    }

    /**
     * Closes unused queues except the smallest one, so that a connection that comes and goes does not create and close
     * a queue each time.
     */
    private void closeUnused(LoopQueue queue) {
        LoopQueue closed = queue.broken ? queue : null;
        for (int i = 0; i < queues.length && closed == null; i++) {
            LoopQueue other = queues[i];
            if (other != queue && !other.isUsed()) {
                closed = other.queue.capacity() > queue.queue.capacity() ? other : queue;
            }
        }
        if (closed != null) {
            remove(closed);
            closed.close();
        }
    }

    /**
     * Notes that a queue pair that used the queue is destroyed. Any thread.
     *
     * @param queuePairNumber of the queue pair.
     * @param owner the one that got its completions here until now, or {@code null}.
     */
    public void release(LoopQueue queue, int completions, int queuePairNumber, CompletionHandler owner) {
        if (loop.isHere()) {
            released(queue, completions, queuePairNumber, owner);
        } else {
            loop.execute(() -> released(queue, completions, queuePairNumber, owner));
        }
    }

    private void released(LoopQueue queue, int completions, int queuePairNumber, CompletionHandler owner) {
        // A new queue pair may have got the number.
        if (owner != null && owners.get(queuePairNumber) == owner) {
            owners.remove(queuePairNumber);
        }
        if (owner != null) {
            owner.unregistered();
        }
        if (queue.isStandalone()) {
            remove(queue);
            queue.close();
        } else {
            queue.release(completions);
            // The completion for which the queue fired may be gone with the queue pair.
            queue.armed = false;
            armed = false;
            if (!queue.isUsed()) {
                closeUnused(queue);
            }
        }
        closeIfReleased();
    }

    public void register(int queuePairNumber, CompletionHandler owner) {
        owners.put(queuePairNumber, owner);
    }

    public void unregister(int queuePairNumber) {
        CompletionHandler owner = owners.remove(queuePairNumber);
        if (owner != null) {
            owner.unregistered();
        }
    }

    /** Returns the present owners of queue pairs. */
    public CompletionHandler[] owners() {
        return owners.values().toArray(new CompletionHandler[0]);
    }

    boolean hasQueuePairs() {
        return !owners.isEmpty();
    }

    /**
     * Takes at most one batch from each queue, and handles it. Of the queues that were empty for a while, each call
     * polls only one, in turn. Returns the number of completions.
     */
    int poll(WorkCompletions batch) {
        int handled = 0;
        turn = turn + 1 < queues.length ? turn + 1 : 0;
        for (int i = 0; i < queues.length; i++) {
            LoopQueue queue = queues[i];
            if (i != turn && !queue.isBusy()) {
                continue;
            }
            try {
                if (queue.poll(batch) > 0) {
                    armed = false;
                    handled += handle(batch);
                }
            } catch (VerbsException e) {
                broken(queue, e);
            }
        }
        return handled;
    }

    /**
     * Polls the queues that are not armed. Arms those without completions, so that the next completion wakes the loop.
     */
    int pollOrArm(WorkCompletions batch) {
        if (armed) {
            return 0;
        }
        int handled = 0;
        boolean allArmed = true;
        for (int i = 0; i < queues.length; i++) {
            LoopQueue queue = queues[i];
            if (queue.armed) {
                continue;
            }
            try {
                queue.pollOrArm(batch);
                allArmed &= queue.armed;
                if (batch.size() > 0) {
                    handled += handle(batch);
                }
            } catch (VerbsException e) {
                allArmed &= !notArmed(queue, e);
            }
        }
        // A handled completion may have closed a queue, so that this loop skipped another one.
        armed = allArmed && handled == 0;
        return handled;
    }

    /**
     * Returns whether the test is true for one of the queues.
     *
     * @param test {@link CompletionQueue#peerIsLate} or {@link CompletionQueue#peerIsAwake}
     */
    boolean anyPeer(Predicate<CompletionQueue> test) {
        for (LoopQueue queue : queues) {
            if (test.test(queue.queue)) {
                return true;
            }
        }
        return false;
    }

    private void fired(LoopQueue queue) {
        queue.fired();
        armed = false;
    }

    /**
     * Handles a failure to arm, for example because the device is short of memory. No completion is lost. The queue is
     * soon polled and armed again. It is broken only if arming fails for a while, or if it can't be polled.
     *
     * @return whether the queue is armed again later.
     */
    private boolean notArmed(LoopQueue queue, VerbsException cause) {
        if (!queue.isToBeArmedAgain(loop.nanoTime())) {
            broken(queue, cause);
            return false;
        }
        if (armAgain == null) {
            logger.debug("A completion queue of {} is not armed", context.device, cause);
            try {
                armAgain = loop.schedule(() -> armAgain = null, ARM_AGAIN_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                logger.debug("The event loop has ended", e);
            }
        }
        return true;
    }

    private int handle(WorkCompletions batch) {
        int size = batch.size();
        loop.handler().waitEnds();
        try {
            dispatch(batch);
        } finally {
            notifyOwners();
        }
        return size;
    }

    private void dispatch(WorkCompletions batch) {
        int size = batch.size();
        for (int i = 0; i < size; i++) {
            CompletionHandler owner = owners.get(batch.queuePairNumber(i));
            try {
                if (!batch.isSuccess(i)) {
                    failed(batch, i);
                }
                if (owner == null) {
                    // The queue pair was destroyed before all its completions were polled.
                    giveBack(batch.workRequestId(i));
                    continue;
                }
                if (!owner.pending) {
                    // The order matters: an owner that is pending but not in the list would never be notified again.
                    pending.add(owner);
                    owner.pending = true;
                }
                owner.completed(batch, i);
            } catch (Throwable t) {
                unexpected(owner, t);
            }
        }
        DeviceCounters.completed(counters, size);
        if (!receiveQueues.isEmpty()) {
            // Before the owners handle the messages that have arrived, which may take a while.
            receiveQueues.values().forEach(LoopReceiveQueue::post);
        }
    }

    private void failed(WorkCompletions batch, int index) {
        int status = batch.status(index);
        DeviceCounters.failed(counters, status);
        if (status != WorkCompletionStatus.WORK_REQUEST_FLUSHED && Recorder.isOn()) {
            Recorder.completionFailed(context.device.name(), batch.queuePairNumber(index),
                    WorkCompletionStatus.name(status), WorkCompletionStatus.describe(status));
        }
    }

    private void giveBack(long workRequestId) {
        if (LoopReceiveQueue.isShared(workRequestId)) {
            LoopReceiveQueue receives = receiveQueues.get(LoopReceiveQueue.number(workRequestId));
            if (receives != null) {
                receives.giveBack(workRequestId);
            }
        }
    }

    private void notifyOwners() {
        if (notifying) {
            return;
        }
        notifying = true;
        try {
            // The list may grow during the loop: user code that runs here may close other connections.
            for (int i = 0; i < pending.size(); i++) {
                CompletionHandler owner = pending.get(i);
                owner.pending = false;
                try {
                    owner.completionsDone();
                } catch (Throwable t) {
                    unexpected(owner, t);
                }
            }
        } finally {
            pending.clear();
            notifying = false;
        }
    }

    private void unexpected(CompletionHandler owner, Throwable t) {
        if (owner == null) {
            loop.handler().unexpected(t);
        } else {
            loop.handler().unexpected(owner::unexpected, t);
        }
    }

    /** Dispatches the completions that are in the queue. May be called at any point; owners are notified afterwards. */
    public void drain(LoopQueue queue) {
        if (drained == null) {
            drained = new WorkCompletions(64);
        }
        try {
            for (int left = queue.queue.capacity(); left > 0; left -= drained.size()) {
                if (queue.poll(drained) == 0) {
                    break;
                }
                armed = false;
                dispatch(drained);
            }
        } catch (VerbsException e) {
            broken(queue, e);
        }
        if (!notifying && !pending.isEmpty()) {
            loop.execute(this::notifyOwners);
        }
    }

    private void completionEvents() throws VerbsException {
        int shared = 0;
        for (LoopQueue queue : queues) {
            shared += queue.isStandalone() ? 0 : 1;
        }
        long marks = channel.consumeEvents(Math.max(shared, 1));
        for (LoopQueue queue : queues) {
            if (queue.isMarked(marks)) {
                fired(queue);
            }
        }
    }

    private void asyncEvents() throws VerbsException {
        // All loops of the process share the descriptor, so an event may be about an object of another loop.
        for (AsyncEvent next; (next = context.device.nextAsyncEvent()) != null;) {
            AsyncEvent event = next;
            context.counters.asyncEvent();
            if (event.isDeviceFatal()) {
                IOException cause = new IOException(context.device + ": " + event);
                logger.warn("{}; its connections are closed.", cause.getMessage());
                LoopHandler.forEachLoop(context, device -> device.fail(cause));
            } else if (event.isSharedReceiveLimitReached()) {
                LoopHandler.forEachLoop(context, device ->
                        device.receiveQueues.values().forEach(receives -> receives.event(event)));
            } else if (event.isLastReceiveReached()) {
                LoopHandler.forEachLoop(context, device -> device.lastReceiveReached(event));
            } else {
                logger.debug("{}: {}", context.device, event);
            }
        }
    }

    private void lastReceiveReached(AsyncEvent event) {
        CompletionHandler owner = owners.get(event.queuePairNumber());
        if (owner != null) {
            try {
                owner.lastReceiveReached();
            } catch (Throwable t) {
                unexpected(owner, t);
            }
        }
    }

    /** The completions of a broken queue are lost, so its connections can't go on. */
    private void broken(LoopQueue queue, VerbsException cause) {
        if (!queue.setBroken()) {
            return;
        }
        logger.warn("A completion queue of {} is broken; its connections are closed.", context.device, cause);
        fail(cause);
    }

    /** Fails the owners that share the receives, because they can't receive any more. */
    private void refused(LoopReceiveQueue receives, VerbsException cause) {
        logger.warn("{} does not work any more; its connections are closed.", receives, cause);
        fail(owner -> owner.shares(receives), cause);
    }

    void fail(Throwable cause) {
        fail(owner -> true, cause);
    }

    private void fail(Predicate<CompletionHandler> which, Throwable cause) {
        for (CompletionHandler owner : owners()) {
            try {
                if (which.test(owner)) {
                    owner.failed(cause);
                }
            } catch (Throwable t) {
                unexpected(owner, t);
            }
        }
    }

    /** Returns whether connections of this loop have not ended yet. */
    boolean hasOwnConnections() {
        return owners.values().stream().anyMatch(owner -> !owner.isElsewhere());
    }

    /** Runs the tasks of the owners, because a loop that ends runs no tasks. */
    void runTasks() {
        for (CompletionHandler owner : owners()) {
            owner.runTasks();
        }
    }

    /** Ends this loop's part. If there are owners on other loops, one of these loops takes over. */
    void destroy() {
        for (CompletionHandler owner : owners()) {
            if (!owner.isElsewhere()) {
                try {
                    owner.destroy();
                } catch (Throwable t) {
                    loop.handler().unexpected(t);
                }
            }
        }
        unwatch();
        // The tasks are from connections that have ended on other loops.
        loop.run();
        for (CompletionHandler owner : owners.values()) {
            if (owner.takeOver(this)) {
                return;
            }
        }
        // The loops of the remaining connections have ended, too, and are destroying them. The last release closes the
        // queues.
        owners.values().forEach(CompletionHandler::unregistered);
        ended = true;
        loop.abandon();
        loop.execute(this::closeIfReleased);
    }

    private void closeIfReleased() {
        if (ended && owners.isEmpty() && channel.isOpen()) {
            for (LoopQueue queue : queues) {
                queue.close();
            }
            queues = new LoopQueue[0];
            channel.close();
            counters.close();
        }
    }

    /** Makes the loop of this handler poll from now on. On that loop, after the previous one has ended. */
    public void attach(LoopHandler next) {
        loop.attach(next);
        try {
            watch();
        } catch (Throwable t) {
            fail(t);
        }
        next.add(this);
    }
}
