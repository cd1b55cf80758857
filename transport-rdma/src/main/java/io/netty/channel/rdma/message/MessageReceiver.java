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
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaMetrics;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;

/**
 * The receives of one channel. Each has a buffer of its own, which goes to the pipeline with the message; only then
 * another one is posted. So a channel that does not read holds its peer back, and nothing piles up.
 *
 * <p>On the loop of the channel.
 */
final class MessageReceiver {
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
    private boolean readPending;
    private boolean reading;
    private boolean scheduled;

    MessageReceiver(RdmaMessageChannel channel, ChannelQueuePair queuePair, int bufferSize) {
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

    /** Posts all receives, which must be done before the peer can send. */
    void postAll() throws IOException {
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

    /** Work requests of receives have negative numbers, those of operations don't. */
    private static long workRequestId(int slot) {
        return -1L - slot;
    }

    static boolean isReceive(long workRequestId) {
        return workRequestId < 0;
    }

    /** A receive has completed. */
    void completed(WorkCompletions completions, int index) {
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

    boolean hasArrived() {
        return count > 0;
    }

    /** Whether all receives have come back, so that nothing more can arrive. */
    boolean isFlushed() {
        return posted == 0;
    }

    void clearReadPending() {
        readPending = false;
    }

    /** {@code read()} was called. What is there is delivered later, not from inside of that call. */
    void beginRead() {
        readPending = true;
        if (count > 0 && !reading && !scheduled) {
            scheduled = true;
            channel.eventLoop().execute(() -> {
                scheduled = false;
                read(false);
            });
        }
    }

    /**
     * Gives what has arrived to the pipeline, as far as it is wanted.
     *
     * @param all whether it is or not: nothing more will come, and nobody will read later.
     */
    void read(boolean all) {
        if (reading || count == 0 || !readPending && !all || !channel.isReading()) {
            return;
        }
        reading = true;
        ChannelPipeline pipeline = channel.pipeline();
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        Throwable failure = null;
        try {
            do {
                RdmaReceive message = take();
                handle.attemptedBytesRead(message.length());
                handle.lastBytesRead(message.length());
                handle.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(message);
            } while (count > 0 && channel.isReading() && (all || handle.continueReading()));
        } catch (Throwable t) {
            failure = t;
        }
        reading = false;
        repost();
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
        }
        if (readPending && count > 0) {
            beginRead();
        }
    }

    /** Takes the first message; its receive is posted again with {@link #repost()}. */
    private RdmaReceive take() throws VerbsException {
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

    private void repost() {
        if (!channel.isPosting()) {
            chain.clear();
            return;
        }
        try {
            post();
        } catch (VerbsException e) {
            channel.connectionFailed(e);
        }
    }

    /** The queue pair is gone. */
    void release() {
        for (int slot = 0; slot < buffers.length; slot++) {
            if (buffers[slot] != null) {
                buffers[slot].release();
                buffers[slot] = null;
            }
        }
        count = 0;
    }
}
