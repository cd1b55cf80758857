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
import io.netty.channel.rdma.memory.CellByteBuf;
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.verbs.AsyncEvent;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.SharedReceiveQueue;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * A shared receive queue: receives, with buffers of one size, for channels of one event loop and device. It owns the
 * buffers. A message keeps its buffer, and a new buffer takes the place, so the receive can be posted again while the
 * message is still in use.
 *
 * <p>The queue begins with a few receives. When the device reports that fewer than half are left, their number is
 * doubled, up to the depth. So it adapts to the number of messages that arrive while the loop is busy.
 *
 * <p>A device may refuse receives, for example because it is short of memory. The queue then tries again soon,
 * unnoticed while other receives are posted. If the device takes none for a while, the channels fail.
 *
 * <p>On the loop that polls.
 */
public final class LoopReceiveQueue {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(LoopReceiveQueue.class);
    /** The default depth, or the maximum of the device, if that is less. */
    public static final int DEFAULT_DEPTH = 1024;
    private static final int FIRST_RECEIVES = 64;
    private static final int RETRY_MILLIS = 10;
    private static final long MAX_REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The number of receives of all shared receive queues of the process. */
    private static final LongAdder RECEIVES = new LongAdder();

    final int bufferSize;
    /** Maximum number of receives. */
    public final int depth;
    private final DeviceContext context;
    private final LoopBinding loop;
    private final BiConsumer<LoopReceiveQueue, VerbsException> failure;
    private final int number;
    private final Supplier<ByteBuf> source;
    public final SharedReceiveQueue queue;
    private final ReceiveWorkRequests chain;
    /** The buffers by slot. */
    private final ByteBuf[] buffers;
    /** Number of queue pairs for each completion queue of their receives. */
    private final Map<LoopQueue, Integer> users = new IdentityHashMap<>();
    private int receives;
    /** The slots of the receives to post. */
    private final int[] unposted;
    private int unpostedCount;
    /** The limit to arm, or 0 if none is to be armed. */
    private int limit;
    private boolean refused;
    private long refusedSinceNanos;
    private LoopBinding.Timer retry;

    /**
     * @param loop the loop that polls.
     * @param failure is called when the device takes no receives any more.
     * @param number by which the loop finds this queue.
     * @param depth within the limits of the device.
     * @param buffers allocates buffers of registered memory, or returns {@code null} if there is no more.
     */
    LoopReceiveQueue(DeviceContext context, LoopBinding loop, BiConsumer<LoopReceiveQueue, VerbsException> failure,
                     int number, int bufferSize, int depth, Supplier<ByteBuf> buffers) throws IOException {
        this.context = context;
        this.loop = loop;
        this.failure = failure;
        this.number = number;
        this.bufferSize = bufferSize;
        this.depth = depth;
        source = buffers;
        this.buffers = new ByteBuf[depth];
        unposted = new int[depth];
        chain = new ReceiveWorkRequests(depth, bufferSize == 0 ? 0 : depth);
        queue = context.domain.createSharedReceiveQueue(depth, bufferSize == 0 ? 0 : 1);
        try {
            if (!fill(Math.min(depth, FIRST_RECEIVES))) {
                throw PinnedMemory.PROCESS.exhausted("no registered memory to receive into",
                        "lower RECEIVE_BUFFER_SIZE");
            }
            postAll();
        } catch (Throwable t) {
            close();
            throw t;
        }
        arm();
    }

    /** Returns the number of receives of this process's shared receive queues. */
    public static long receives() {
        return RECEIVES.sum();
    }

    /**
     * Returns the depth of a shared receive queue on a device.
     *
     * @throws IllegalArgumentException if the device has no shared receive queues, or none of this depth.
     */
    public static int depth(int wanted, DeviceContext context) {
        if (context.attributes.maxSharedReceiveQueues() == 0) {
            throw new IllegalArgumentException("SHARED_RECEIVE_QUEUE: true (expected: false on " + context.device +
                    ", which has none: its max_srq is 0)");
        }
        int limit = context.attributes.maxSharedReceiveRequests();
        if (wanted > limit && wanted != DEFAULT_DEPTH) {
            throw new IllegalArgumentException("sharedReceiveQueueDepth: " + wanted + " (expected: at most " + limit +
                    " on " + context.device + ", its max_srq_wr)");
        }
        return Math.min(wanted, limit);
    }

    // ---- work requests

    /** Returns whether the work request is a receive of a shared receive queue. */
    static boolean isShared(long workRequestId) {
        return workRequestId < Long.MIN_VALUE / 2;
    }

    /** Returns the number of the queue of a receive. */
    static int number(long workRequestId) {
        return (int) (workRequestId - Long.MIN_VALUE >>> 32);
    }

    private static int slot(long workRequestId) {
        return (int) workRequestId;
    }

    /** Adds receives up to the target. Returns false if there is no memory for them. */
    private boolean fill(int target) {
        int before = receives;
        try {
            while (receives < target) {
                if (bufferSize > 0) {
                    buffers[receives] = source.get();
                    if (buffers[receives] == null) {
                        break;
                    }
                }
                unposted[unpostedCount++] = receives++;
            }
        } finally {
            limit = receives < depth ? receives / 2 : receives / 4;
            RECEIVES.add(receives - before);
        }
        return receives == target;
    }

    private void add(int slot) throws VerbsException {
        chain.receive(Long.MIN_VALUE + ((long) number << 32) + slot);
        if (bufferSize > 0) {
            ByteBuf buf = buffers[slot];
            long address = buf.memoryAddress();
            chain.addSge(address, bufferSize, ((CellByteBuf) buf).cell().range().region(context).lkey());
        }
    }

    /** Posts the receives that were given back. If the device refuses them, tries again later. */
    void post() {
        try {
            postAll();
            refused = false;
        } catch (VerbsException e) {
            refused(e);
        }
        arm();
    }

    private void postAll() throws VerbsException {
        if (unpostedCount == 0) {
            return;
        }
        int taken;
        try {
            for (int i = 0; i < unpostedCount; i++) {
                add(unposted[i]);
            }
            taken = queue.postReceive(chain);
        } finally {
            chain.clear();
        }
        unpostedCount -= taken;
        if (unpostedCount > 0) {
            System.arraycopy(unposted, taken, unposted, 0, unpostedCount);
            refused &= taken == 0;
            throw queue.postException();
        }
    }

    private void refused(VerbsException cause) {
        long now = loop.nanoTime();
        if (!refused) {
            logger.debug("{}: {} receives are not taken", this, unpostedCount, cause);
            refused = true;
            refusedSinceNanos = now;
        } else if (now - refusedSinceNanos >= MAX_REFUSED_NANOS) {
            refusedSinceNanos = now;
            failure.accept(this, cause);
        }
        if (retry == null) {
            try {
                retry = loop.schedule(this::retry, RETRY_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                logger.debug("{}: the event loop has ended", this, e);
            }
        }
    }

    private void retry() {
        retry = null;
        post();
    }

    /** Makes the device report when the receives run low. If arming fails, the next post tries again. */
    private void arm() {
        if (limit > 0) {
            try {
                queue.arm(limit);
                limit = 0;
            } catch (VerbsException e) {
                logger.debug("{} is not armed", this, e);
            }
        }
    }

    /** Gives back a completed receive whose buffer is not needed. It will be posted again. */
    public void giveBack(long workRequestId) {
        unposted[unpostedCount++] = slot(workRequestId);
    }

    /**
     * Takes the buffer of a message that has arrived. The receive will be posted again, with another buffer.
     *
     * @return the buffer with the message, or {@code null} if there is no memory for another one. Then the caller must
     *         {@linkplain #buffer copy} the message, and give the receive back.
     */
    public ByteBuf take(long workRequestId) {
        int slot = slot(workRequestId);
        ByteBuf empty = source.get();
        if (empty == null) {
            return null;
        }
        ByteBuf full = buffers[slot];
        buffers[slot] = empty;
        unposted[unpostedCount++] = slot;
        return full;
    }

    /** Returns the buffer of a completed receive, valid until the receive is given back. */
    public ByteBuf buffer(long workRequestId) {
        return buffers[slot(workRequestId)];
    }

    /** Handles an event of the device, which may be about another queue. */
    void event(AsyncEvent event) {
        if (!event.isSharedReceiveLimitReached() || !event.concerns(queue)) {
            return;
        }
        if (receives < depth) {
            if (!fill(Math.min(2 * receives, depth))) {
                logger.debug("{}: no memory for more than {} receives", this, receives);
            }
            post();
        } else {
            // Not armed again, so that this is logged once.
            logger.info("{} ran low: fewer than {} were left, and without any the peers wait. Raise " +
                    "RdmaIoHandlerConfig.setSharedReceiveQueueDepth().", this, receives / 4);
        }
    }

    // ---- users

    /**
     * Returns whether a queue pair's receives complete into this completion queue, so that it has room for all of them.
     */
    public boolean completesInto(LoopQueue completions) {
        return users.containsKey(completions);
    }

    public void addUser(LoopQueue completions) {
        users.merge(completions, 1, Integer::sum);
    }

    public void removeUser(LoopQueue completions) {
        users.computeIfPresent(completions, (key, count) -> count == 1 ? null : count - 1);
    }

    boolean isUsed() {
        return !users.isEmpty();
    }

    /** Closes the queue, which no queue pair uses any more. */
    void close() {
        if (retry != null) {
            retry.cancel();
            retry = null;
        }
        queue.close();
        for (int slot = 0; slot < receives; slot++) {
            if (buffers[slot] != null) {
                buffers[slot].release();
                buffers[slot] = null;
            }
        }
        RECEIVES.add(-receives);
        receives = 0;
    }

    @Override
    public String toString() {
        return "The shared receive queue of " + receives + " receives of " + bufferSize + " bytes on " +
                context.device;
    }
}
