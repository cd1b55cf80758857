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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.util.function.BooleanSupplier;

/**
 * The receives of the queue pair itself. Each has a buffer, which goes to the pipeline with the message. Only then
 * another receive is posted. So a channel that does not read stops its peer, and no messages pile up.
 */
class OwnReceives implements Receives {
    private static final int MAX_SGES = 2;

    private final Channel channel;
    private final ChannelQueuePair queuePair;
    private final int bufferSize;
    private final ByteBuf[] buffers;
    private final BooleanSupplier isPosting;
    private final RdmaMessageMetrics metrics;
    private final ReceiveWorkRequests chain;
    /** The slots in which messages have arrived, in order; then the properties of a message by slot. */
    private final int[] arrived;
    private final int[] opcodes;
    private final int[] lengths;
    private final boolean[] withImmediate;
    private final int[] immediates;
    private int first;
    private int count;
    private int posted;

    /**
     * @param isPosting whether receives can be posted.
     * @param metrics that count what is copied.
     */
    OwnReceives(Channel channel, ChannelQueuePair queuePair, int bufferSize, BooleanSupplier isPosting,
                RdmaMessageMetrics metrics) {
        this.metrics = metrics;
        this.channel = channel;
        this.isPosting = isPosting;
        this.queuePair = queuePair;
        this.bufferSize = bufferSize;
        buffers = new ByteBuf[queuePair.receiveDepth()];
        arrived = new int[buffers.length];
        opcodes = new int[buffers.length];
        lengths = new int[buffers.length];
        withImmediate = new boolean[buffers.length];
        immediates = new int[buffers.length];
        chain = new ReceiveWorkRequests(buffers.length, bufferSize == 0 ? 0 : buffers.length * MAX_SGES);
    }

    @Override
    public void postAll() throws IOException {
        for (int slot = 0; slot < buffers.length; slot++) {
            if (bufferSize > 0) {
                buffers[slot] = buffer(bufferSize);
            }
            add(slot);
        }
        post();
    }

    final ByteBuf buffer(int size) throws IOException {
        ByteBuf buf = queuePair.receiveBuffer(size);
        if (buf == null) {
            throw PinnedMemory.PROCESS.exhausted("no registered memory to receive into",
                    "lower RECEIVE_QUEUE_DEPTH or RECEIVE_BUFFER_SIZE");
        }
        return buf;
    }

    private void add(int slot) throws VerbsException {
        chain.receive(workRequestId(slot));
        addHeader(slot, chain);
        if (bufferSize > 0) {
            long address = buffers[slot].memoryAddress();
            chain.addSge(address, bufferSize, queuePair.localKey(buffers[slot]));
        }
    }

    /** Adds an element for a header before the message, if the subclass has one. */
    void addHeader(int slot, ReceiveWorkRequests receive) throws VerbsException {
        // Messages of a connection have no header.
    }

    private void post() throws VerbsException {
        QueuePair qp = queuePair.queuePair();
        int taken = qp.postReceive(chain);
        posted += taken;
        boolean all = taken == chain.size();
        chain.clear();
        if (!all) {
            throw qp.postException();
        }
    }

    private static long workRequestId(int slot) {
        return -1L - slot;
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        posted--;
        if (!completions.isSuccess(index)) {
            return;
        }
        int slot = (int) (-1L - completions.workRequestId(index));
        opcodes[slot] = completions.opcode(index);
        lengths[slot] = completions.byteLength(index);
        withImmediate[slot] = completions.hasImmediate(index);
        immediates[slot] = withImmediate[slot] ? completions.immediate(index) : 0;
        note(slot, completions, index);
        arrived[(first + count) % arrived.length] = slot;
        count++;
    }

    /** Notes other values of the completion that the message needs. */
    void note(int slot, WorkCompletions completions, int index) {
        // Nothing to do by default.
    }

    @Override
    public int count() {
        return count;
    }

    @Override
    public boolean isFlushed() {
        return posted == 0;
    }

    @Override
    public ByteBufHolder take() throws VerbsException {
        int slot = arrived[first];
        first = (first + 1) % arrived.length;
        count--;
        ByteBufHolder message = message(slot, opcodes[slot], lengths[slot], withImmediate[slot], immediates[slot]);
        add(slot);
        return message;
    }

    /** The message for the pipeline, or {@code null}. */
    ByteBufHolder message(int slot, int opcode, int length, boolean immediate, int value) {
        // A write does not touch the buffer of the receive that it consumes.
        ByteBuf content = opcode == WorkCompletionOpcode.RECEIVE ? content(slot, length) : Unpooled.EMPTY_BUFFER;
        ByteBufHolder message = null;
        try {
            message = new RdmaReceive(content, opcode, length, immediate, value);
            return message;
        } finally {
            if (message == null) {
                content.release();
            }
        }
    }

    /** The buffer of the slot, which gets another one; or a copy, if the application holds all receive buffers. */
    final ByteBuf content(int slot, int length) {
        if (length == 0) {
            return Unpooled.EMPTY_BUFFER;
        }
        ByteBuf full = buffers[slot];
        ByteBuf empty = queuePair.receiveBuffer(bufferSize);
        if (empty == null) {
            metrics.copied(RdmaMessageMetrics.CopyCause.RECEIVED_HELD, length);
            return channel.alloc().heapBuffer(length).writeBytes(full, 0, length);
        }
        buffers[slot] = empty;
        return PartialByteBuf.tracked(full.setIndex(0, length));
    }

    @Override
    public void repost() throws VerbsException {
        if (isPosting.getAsBoolean()) {
            post();
        } else {
            chain.clear();
        }
    }

    @Override
    public void release() {
        for (int slot = 0; slot < buffers.length; slot++) {
            if (buffers[slot] != null) {
                buffers[slot].release();
                buffers[slot] = null;
            }
        }
        count = 0;
    }
}
