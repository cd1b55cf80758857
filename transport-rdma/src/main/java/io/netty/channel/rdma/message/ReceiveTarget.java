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
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.ReferenceCounted;

import java.util.Arrays;
import java.util.List;

/**
 * The memory of the application for a message: slices, or the writable bytes of buffers. The target keeps references to
 * the buffers until the message has arrived or the target is released, and to the memory while the device may write
 * there. On the loop of the channel, except for the constructor.
 */
final class ReceiveTarget {
    private final List<RegisteredSlice> slices;
    private final List<ByteBuf> buffers;
    /** The first byte of each buffer that the device may write to, and the number of such bytes. */
    private final int[] starts;
    private final int[] lengths;
    private final ReferenceCounted[] held;
    private int heldCount;

    private ReceiveTarget(List<RegisteredSlice> slices, List<ByteBuf> buffers) {
        this.slices = slices;
        this.buffers = buffers;
        starts = new int[buffers.size()];
        lengths = new int[buffers.size()];
        held = new ReferenceCounted[slices.size() + buffers.size()];
    }

    static ReceiveTarget ofSlices(List<RegisteredSlice> slices) {
        return new ReceiveTarget(List.copyOf(slices), List.of());
    }

    /** @param buffers retained until the message has arrived, or the target is released. */
    static ReceiveTarget ofBuffers(List<ByteBuf> buffers) {
        ReceiveTarget target = new ReceiveTarget(List.of(), List.copyOf(buffers));
        int retained = 0;
        try {
            for (ByteBuf buffer : target.buffers) {
                buffer.retain();
                retained++;
            }
            return target;
        } catch (Throwable t) {
            release(target.buffers.subList(0, retained));
            throw t;
        }
    }

    /**
     * Adds the elements to a receive, and retains their memory.
     *
     * @param copying the name of a device whose driver copies short messages by the processor, or {@code null}.
     */
    void addTo(ReceiveWorkRequests receive, ChannelQueuePair queuePair, String copying) throws VerbsException {
        for (RegisteredSlice slice : slices) {
            RegisteredMemory memory = slice.memory();
            memory.retain();
            held[heldCount++] = memory;
            if (!memory.permissions().contains(RdmaPermission.LOCAL_WRITE)) {
                throw new IllegalArgumentException("a receive into the " + memory + " (expected: LOCAL_WRITE)");
            }
            if (copying != null && memory.buf().capacity() == 0) {
                throw new IllegalArgumentException("a receive into the " + memory + " of a peer device: on " +
                        copying + " the processor copies short messages there, which ends the process if " +
                        "it can't: start it with MLX5_SCATTER_TO_CQE=0 in the environment");
            }
            add(receive, queuePair, slice.address(), slice.length(), queuePair.region(memory).lkey());
        }
        for (int i = 0; i < starts.length; i++) {
            ByteBuf buffer = buffers.get(i);
            starts[i] = buffer.writerIndex();
            lengths[i] = buffer.writableBytes();
            if (lengths[i] == 0) {
                continue;
            }
            ReferenceCounted memory = buffer.hasMemoryAddress()
                    ? queuePair.retainedMemory(buffer, starts[i], lengths[i], true) : null;
            if (memory != null) {
                held[heldCount++] = memory;
            }
            if (memory == null || memory instanceof RegisteredMemory &&
                    !((RegisteredMemory) memory).permissions().contains(RdmaPermission.LOCAL_WRITE)) {
                throw new IllegalArgumentException("a receive into " + buffer + " (expected: one of the channel's " +
                        "allocator, or of RegisteredMemory with LOCAL_WRITE, in one piece)");
            }
            add(receive, queuePair, buffer.memoryAddress() + starts[i], lengths[i], queuePair.localKey(memory));
        }
    }

    private static void add(ReceiveWorkRequests receive, ChannelQueuePair queuePair, long address, int length,
                            int key) {
        if (length == 0) {
            // As an element, 0 is 2^31 bytes to some devices.
            return;
        }
        if (receive.remainingSges() == 0) {
            throw new IllegalArgumentException("a receive of more than " + queuePair.queuePair().maxReceiveSges() +
                    " pieces: raise MAX_RECEIVE_SGES");
        }
        receive.addSge(address, length, key);
    }

    /** Releases the memory: the device does not write there any more. */
    void releaseMemory() {
        while (heldCount > 0) {
            held[--heldCount].release();
        }
    }

    /** Returns the message that has arrived, which takes over the references to the buffers. */
    RdmaReceive arrived(int opcode, int length, boolean withImmediate, int immediate) {
        ByteBuf content = Unpooled.EMPTY_BUFFER;
        try {
            content = opcode == WorkCompletionOpcode.RECEIVE ? content(length) : content;
            return new RdmaReceive(content, slices, buffers, WorkCompletionStatus.SUCCESS, opcode, length,
                    withImmediate, immediate);
        } catch (Throwable t) {
            content.release();
            throw t;
        } finally {
            release();
        }
    }

    /** Returns the user event for a receive that has failed. */
    RdmaReceive failed(int status) {
        release();
        // The completion of a failed request has no opcode (ibv_poll_cq(3)).
        return new RdmaReceive(Unpooled.EMPTY_BUFFER, slices, buffers, status, WorkCompletionOpcode.RECEIVE, 0, false,
                0);
    }

    /** Returns the bytes of the message, which follow the former readable bytes of the buffers. */
    private ByteBuf content(int length) {
        int left = length;
        ByteBuf[] parts = new ByteBuf[starts.length];
        int count = 0;
        CompositeByteBuf all;
        try {
            for (int i = 0; i < starts.length && left > 0; i++) {
                int part = Math.min(left, lengths[i]);
                left -= part;
                if (part > 0) {
                    ByteBuf buffer = buffers.get(i);
                    buffer.writerIndex(starts[i] + part);
                    parts[count] = buffer.retainedSlice(starts[i], part);
                    count++;
                }
            }
            if (count < 2) {
                return count == 0 ? Unpooled.EMPTY_BUFFER : parts[0];
            }
            parts = Arrays.copyOf(parts, count);
            all = Unpooled.compositeBuffer(count);
        } catch (Throwable t) {
            while (count > 0) {
                parts[--count].release();
            }
            throw t;
        }
        return all.addComponents(true, parts);
    }

    /** Releases the buffers. */
    void release() {
        release(buffers);
    }

    /** Uses no lambda, for which there may be no memory. */
    private static void release(List<? extends ReferenceCounted> objects) {
        for (ReferenceCounted object : objects) {
            object.release();
        }
    }
}
