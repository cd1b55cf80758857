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
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;

/**
 * The receives of the queue pair itself. Each has a buffer of its own, which goes to the pipeline with the message;
 * only then another one is posted. So a channel that does not read holds its peer back, and nothing piles up.
 */
final class OwnReceives implements Receives {
    private final RdmaMessageChannel channel;
    private final ChannelQueuePair queuePair;
    private final int bufferSize;
    private final ByteBuf[] buffers;
    private final ReceiveWorkRequests chain;
    /** The slots in which something has arrived, in order, and by slot what. */
    private final int[] arrived;
    private final int[] opcodes;
    private final int[] lengths;
    private final boolean[] withImmediate;
    private final int[] immediates;
    private int first;
    private int count;
    private int posted;

    OwnReceives(RdmaMessageChannel channel, ChannelQueuePair queuePair, int bufferSize) {
        this.channel = channel;
        this.queuePair = queuePair;
        this.bufferSize = bufferSize;
        buffers = new ByteBuf[queuePair.receiveDepth()];
        arrived = new int[buffers.length];
        opcodes = new int[buffers.length];
        lengths = new int[buffers.length];
        withImmediate = new boolean[buffers.length];
        immediates = new int[buffers.length];
        chain = new ReceiveWorkRequests(buffers.length, bufferSize == 0 ? 0 : buffers.length);
    }

    @Override
    public void postAll() throws IOException {
        for (int slot = 0; slot < buffers.length; slot++) {
            if (bufferSize > 0) {
                buffers[slot] = ChannelQueuePair.receiveBuffer(bufferSize);
                if (buffers[slot] == null) {
                    throw new IOException("no registered memory to receive into: raise " +
                            "-Dio.netty.rdma.maxPinnedMemory (" + RdmaMetrics.pinnedMemory() + " of at most " +
                            RdmaMetrics.maxPinnedMemory() + " bytes are in use), or lower RECEIVE_QUEUE_DEPTH or " +
                            "RECEIVE_BUFFER_SIZE");
                }
            }
            add(slot);
        }
        post();
    }

    private void add(int slot) throws VerbsException {
        chain.receive(workRequestId(slot));
        if (bufferSize > 0) {
            long address = buffers[slot].memoryAddress();
            chain.addSge(address, bufferSize, (int) queuePair.localKey(buffers[slot], address, bufferSize));
        }
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
        arrived[(first + count) % arrived.length] = slot;
        count++;
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
    public RdmaReceive take() throws VerbsException {
        int slot = arrived[first];
        first = (first + 1) % arrived.length;
        count--;
        ByteBuf content = Unpooled.EMPTY_BUFFER;
        // A write does not touch the buffer of the receive that it consumes.
        if (opcodes[slot] == WorkCompletionOpcode.RECEIVE && lengths[slot] > 0) {
            content = content(slot);
        }
        add(slot);
        return new RdmaReceive(content, opcodes[slot], lengths[slot], withImmediate[slot], immediates[slot]);
    }

    /** The buffer of the slot, which gets another one; or a copy, if the application holds all there is. */
    private ByteBuf content(int slot) {
        ByteBuf full = buffers[slot];
        ByteBuf empty = ChannelQueuePair.receiveBuffer(bufferSize);
        if (empty == null) {
            return channel.alloc().heapBuffer(lengths[slot]).writeBytes(full, 0, lengths[slot]);
        }
        buffers[slot] = empty;
        return ChannelQueuePair.track(full.setIndex(0, lengths[slot]));
    }

    @Override
    public void repost() throws VerbsException {
        if (channel.isPosting()) {
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
