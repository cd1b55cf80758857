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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * The receives that the application posts, into memory of its own. That is held as long as the device may write to it:
 * until the receive completes, or the queue pair is gone.
 */
final class ManualReceives implements Receives {
    private final ChannelQueuePair queuePair;
    private final Runnable early;
    private final ReceiveWorkRequests chain;
    /** The memory of each receive by slot. Receives of a queue pair complete in the order in which they were posted. */
    private final List<RegisteredSlice>[] posted;
    private final Queue<RdmaReceive> arrived = new ArrayDeque<>();
    private int first;
    private int count;

    /** @param early has those posted that the application wanted before there was the queue pair. */
    @SuppressWarnings({ "unchecked", "rawtypes" })
    ManualReceives(ChannelQueuePair queuePair, Runnable early) {
        this.queuePair = queuePair;
        this.early = early;
        posted = new List[queuePair.receiveDepth()];
        chain = new ReceiveWorkRequests(1, Math.max(1, queuePair.queuePair().maxReceiveSges()));
    }

    @Override
    public void postAll() {
        early.run();
    }

    /**
     * Posts a receive.
     *
     * @param memory where the message goes, in this order. May be empty.
     * @throws IllegalStateException if there is no room for it in the receive queue.
     */
    void post(List<RegisteredSlice> memory) throws VerbsException {
        if (count == posted.length) {
            throw new IllegalStateException(count + " receives are posted already: wait for messages, or raise " +
                    "RECEIVE_QUEUE_DEPTH");
        }
        int slot = (first + count) % posted.length;
        chain.clear();
        chain.receive(-1L - slot);
        int retained = 0;
        try {
            for (RegisteredSlice slice : memory) {
                slice.memory().retain();
                retained++;
                add(slice);
            }
            QueuePair qp = queuePair.queuePair();
            if (qp.postReceive(chain) == 0) {
                throw qp.postException();
            }
        } catch (Throwable t) {
            release(memory.subList(0, retained));
            throw t;
        }
        posted[slot] = memory;
        count++;
    }

    private void add(RegisteredSlice slice) throws VerbsException {
        if (!slice.memory().permissions().contains(RdmaPermission.LOCAL_WRITE)) {
            throw new IllegalArgumentException("a receive into the " + slice.memory() + " (expected: LOCAL_WRITE)");
        }
        if (slice.length() == 0) {
            // As an element, 0 is 2^31 bytes to some devices.
            return;
        }
        if (chain.remainingSges() == 0) {
            throw new IllegalArgumentException("a receive of more than " + queuePair.queuePair().maxReceiveSges() +
                    " slices: raise MAX_RECEIVE_SGES");
        }
        chain.addSge(slice.address(), slice.length(), queuePair.region(slice.memory()).lkey());
    }

    private static void release(List<RegisteredSlice> memory) {
        for (RegisteredSlice slice : memory) {
            slice.memory().release();
        }
    }

    private List<RegisteredSlice> remove() {
        List<RegisteredSlice> memory = posted[first];
        posted[first] = null;
        first = (first + 1) % posted.length;
        count--;
        release(memory);
        return memory;
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        List<RegisteredSlice> memory = remove();
        if (completions.isSuccess(index)) {
            boolean immediate = completions.hasImmediate(index);
            arrived.add(new RdmaReceive(Unpooled.EMPTY_BUFFER, memory, completions.opcode(index),
                    completions.byteLength(index), immediate, immediate ? completions.immediate(index) : 0));
        }
    }

    @Override
    public int count() {
        return arrived.size();
    }

    @Override
    public ByteBufHolder take() {
        return arrived.remove();
    }

    @Override
    public void repost() {
        // The application does.
    }

    @Override
    public boolean isFlushed() {
        return count == 0;
    }

    @Override
    public void release() {
        while (count > 0) {
            remove();
        }
        arrived.clear();
    }
}
