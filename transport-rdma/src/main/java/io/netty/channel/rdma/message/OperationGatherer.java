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
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.memory.Staging;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.ReferenceCounted;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.internal.PlatformDependent;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Builds work requests from operations, and copies bytes where necessary.
 * <ul>
 * <li>Up to {@code MAX_INLINE} bytes are copied into the work request, wherever they are.</li>
 * <li>Registered memory is sent, and read into, in place, each piece of a composite buffer as an element.</li>
 * <li>Other memory is copied once, to staging memory. If there are more pieces than elements, all bytes are.</li>
 * </ul>
 * One for each event loop, for one channel at a time.
 */
final class OperationGatherer {
    private static final FastThreadLocal<OperationGatherer> OF_LOOP = new FastThreadLocal<OperationGatherer>() {
        @Override
        protected OperationGatherer initialValue() {
            return new OperationGatherer();
        }
    };

    private static final List<RdmaMessageMetrics.CopyCause> CAUSES =
            Arrays.asList(RdmaMessageMetrics.CopyCause.values()).subList(0, RdmaMessageMetrics.CopyCause.POSTED);
    private static final int MAX_CHAIN = 64;
    private static final int MAX_ELEMENTS = 256;
    /** The most inline bytes that {@code MAX_INLINE} allows. */
    private static final int MAX_INLINE = 1024;

    final SendWorkRequests chain = new SendWorkRequests(MAX_CHAIN, MAX_CHAIN * 16 + MAX_ELEMENTS);
    /** Inline bytes of heap memory, until the post has copied them. */
    private final ByteBuffer inline = ByteBuffer.allocateDirect(MAX_CHAIN * MAX_INLINE);
    private final long inlineAddress;
    private int inlineUsed;

    /** Pieces that are not registered; the others are {@code null}. */
    private final ByteBuf[] pieces = new ByteBuf[MAX_ELEMENTS];
    private final int[] indexes = new int[MAX_ELEMENTS];
    private final int[] lengths = new int[MAX_ELEMENTS];
    private final long[] addresses = new long[MAX_ELEMENTS];
    private final int[] keys = new int[MAX_ELEMENTS];
    private int count;
    private int unregistered;
    /** Bytes that were copied, by the ordinal of the cause. */
    private final int[] copies = new int[RdmaMessageMetrics.CopyCause.POSTED];

    private OperationGatherer() {
        inlineAddress = PlatformDependent.directBufferAddress(inline);
    }

    static OperationGatherer get() {
        return OF_LOOP.get();
    }

    void clear() {
        chain.clear();
        inlineUsed = 0;
    }

    /** Returns whether any other operation fits. If not, the operations so far have to be posted first. */
    boolean hasRoom() {
        return chain.remaining() > 0 && chain.remainingSges() >= MAX_ELEMENTS;
    }

    /**
     * Posts the chain, and begins a new one.
     *
     * @param slots of the operations.
     * @return the error if not all was posted, or {@code null}. The queue pair is then broken, as it has room for all.
     */
    VerbsException post(QueuePair queuePair, SendSlots slots) {
        int posted = queuePair.postSend(chain);
        VerbsException failure = null;
        if (posted < chain.size()) {
            failure = queuePair.postException();
            slots.notPosted(chain.workRequestId(posted), failure);
        }
        clear();
        return failure;
    }

    /**
     * Adds the operation to the chain, and its memory to the slot, until it is done.
     *
     * @return false if there is no staging memory at the moment.
     * @throws IOException if the operation can't be posted. The chain is unchanged.
     */
    boolean add(RdmaOperation operation, SendSlots slots, long id, int flags, ChannelQueuePair queuePair, int maxInline)
            throws IOException {
        int length = operation.length();
        ByteBuf content = operation.content();
        int index = operation.index();
        if (length == 0) {
            operation.begin(chain, id, flags);
            return true;
        }
        if (operation instanceof ValueOperation && ((ValueOperation) operation).isKept()) {
            return addValue(operation, slots, id, flags, queuePair);
        }
        if (operation.isLocal()) {
            addLocal(operation, slots, id, flags, queuePair);
            return true;
        }
        if (length <= maxInline && !operation.isRead()) {
            long address = inlineAddress(content, index, length);
            operation.begin(chain, id, flags | SendFlags.INLINE);
            chain.addSge(address, length, 0);
            slots.metrics.postedInline(length);
            return true;
        }
        begin();
        try {
            boolean fits = split(content, index, length, mostElements(operation, queuePair), operation.isRead(),
                    queuePair, slots, id);
            if (!fits) {
                slots.discardNext();
                Arrays.fill(pieces, 0, count, null);
                begin();
                addUnregistered(content, index, length, RdmaMessageMetrics.CopyCause.PIECES);
            }
            if (unregistered > 0 && !stage(operation, queuePair, slots, id)) {
                slots.discardNext();
                return false;
            }
            operation.begin(chain, id, flags);
            addPieces();
            countBytes(length, slots.metrics);
            return true;
        } finally {
            Arrays.fill(pieces, 0, count, null);
        }
    }

    private void addLocal(RdmaOperation operation, SendSlots slots, long id, int flags, ChannelQueuePair queuePair)
            throws IOException {
        int most = mostElements(operation, queuePair);
        List<RegisteredSlice> slices = operation.local();
        int left = operation.length();
        count = 0;
        // An iterator would be one more object for each operation.
        for (int i = 0; left > 0; i++) {
            RegisteredSlice slice = slices.get(i);
            int length = Math.min(left, slice.length());
            if (length == 0) {
                // As an element, 0 is 2^31 bytes to some devices.
                continue;
            }
            left -= length;
            if (count == most) {
                throw new RdmaOperationException(operation, WorkCompletionStatus.LOCAL_LENGTH_ERROR, "more than " +
                        most + " slices, which can't be copied: raise MAX_SEND_SGES, if the device can do more");
            }
            RegisteredMemory memory = slice.memory();
            memory.retain();
            slots.addMemory(id, memory);
            addPiece(slice.address(), length, queuePair.region(memory).lkey());
        }
        operation.begin(chain, id, flags);
        addPieces();
        slots.metrics.postedInPlace(operation.length());
    }

    /** Adds an operation that keeps its result, which the device writes to memory of the channel. */
    private boolean addValue(RdmaOperation operation, SendSlots slots, long id, int flags, ChannelQueuePair queuePair)
            throws IOException {
        ByteBuf staging = Staging.buffer(Long.BYTES);
        if (staging == null) {
            return false;
        }
        slots.staging(id, staging);
        int key = queuePair.localKey(staging);
        operation.begin(chain, id, flags);
        chain.addSge(staging.memoryAddress(), operation.length(), key);
        slots.metrics.copied(RdmaMessageMetrics.CopyCause.HEAP, operation.length());
        return true;
    }

    private void begin() {
        count = 0;
        unregistered = 0;
        Arrays.fill(copies, 0);
    }

    private void countBytes(int length, RdmaMessageMetrics metrics) {
        metrics.postedInPlace(length - unregistered);
        for (RdmaMessageMetrics.CopyCause cause : CAUSES) {
            if (copies[cause.ordinal()] > 0) {
                metrics.copied(cause, copies[cause.ordinal()]);
            }
        }
    }

    private void addPieces() {
        for (int i = 0; i < count; i++) {
            chain.addSge(addresses[i], lengths[i], keys[i]);
        }
    }

    private static int mostElements(RdmaOperation operation, ChannelQueuePair queuePair) {
        if (operation.kind() == RdmaMessageMetrics.Kind.ATOMIC) {
            // Verbs allow a list, but a device writes the result by one access.
            return 1;
        }
        int most = Math.min(queuePair.queuePair().maxSendSges(), MAX_ELEMENTS);
        return operation.isRead() ? Math.min(most, queuePair.context().attributes.maxReadSges()) : most;
    }

    /** Returns the address of inline bytes, which the post copies. Heap bytes are first copied to direct memory. */
    private long inlineAddress(ByteBuf content, int index, int length) {
        if (content.hasMemoryAddress()) {
            return content.memoryAddress() + index;
        }
        long address = inlineAddress + inlineUsed;
        inline.clear().position(inlineUsed).limit(inlineUsed + length);
        content.getBytes(index, inline);
        inlineUsed += length;
        return address;
    }

    /** Finds the pieces and their keys. Returns false if there are too many. */
    private boolean split(ByteBuf buf, int index, int length, int most, boolean written, ChannelQueuePair queuePair,
                          SendSlots slots, long id) throws VerbsException {
        if (length == 0) {
            return true;
        }
        if (buf instanceof CompositeByteBuf) {
            for (ByteBuf component : ((CompositeByteBuf) buf).decompose(index, length)) {
                if (!split(component, component.readerIndex(), component.readableBytes(), most, written, queuePair,
                        slots, id)) {
                    return false;
                }
            }
            return true;
        }
        if (count == most) {
            return false;
        }
        ReferenceCounted memory = !buf.hasMemoryAddress() ? null
                : queuePair.retainedMemory(buf, index, length, written);
        if (memory == null) {
            addUnregistered(buf, index, length, buf.hasMemoryAddress() ? RdmaMessageMetrics.CopyCause.FOREIGN
                    : RdmaMessageMetrics.CopyCause.HEAP);
        } else if (!queuePair.isRegistered(memory)) {
            memory.release();
            addUnregistered(buf, index, length, RdmaMessageMetrics.CopyCause.UNREGISTERED);
        } else {
            slots.addMemory(id, memory);
            addPiece(buf.memoryAddress() + index, length, queuePair.localKey(memory));
        }
        return true;
    }

    private void addPiece(long address, int length, int key) {
        addresses[count] = address;
        lengths[count] = length;
        keys[count] = key;
        count++;
    }

    /** Adds a piece whose address is not known yet. */
    private void addUnregistered(ByteBuf buf, int index, int length, RdmaMessageMetrics.CopyCause cause) {
        pieces[count] = buf;
        indexes[count] = index;
        unregistered += length;
        copies[cause.ordinal()] += length;
        addPiece(0, length, 0);
    }

    /** Copies unregistered pieces to staging memory, or reserves it for a read. Returns false if there is none. */
    private boolean stage(RdmaOperation operation, ChannelQueuePair queuePair, SendSlots slots, long id)
            throws RdmaOperationException, VerbsException {
        if (unregistered > Staging.MAX_BUFFER) {
            throw new RdmaOperationException(operation, WorkCompletionStatus.LOCAL_LENGTH_ERROR, unregistered +
                    " bytes would have to be copied, since they are not in registered memory or in too many pieces; " +
                    "at most " + Staging.MAX_BUFFER + " are: use RegisteredMemory");
        }
        ByteBuf staging = Staging.buffer(unregistered);
        if (staging == null) {
            return false;
        }
        slots.staging(id, staging);
        int key = queuePair.localKey(staging);
        for (int i = 0; i < count; i++) {
            if (pieces[i] != null) {
                addresses[i] = staging.memoryAddress() + staging.writerIndex();
                keys[i] = key;
                if (operation.isRead()) {
                    staging.writerIndex(staging.writerIndex() + lengths[i]);
                    slots.addCopy(id, pieces[i], indexes[i], lengths[i]);
                } else {
                    staging.writeBytes(pieces[i], indexes[i], lengths[i]);
                }
            }
        }
        return true;
    }

    /** The most inline bytes, even if the queue pair could take more. */
    static int maxInline(QueuePair queuePair, int option) {
        return Math.min(Math.min(queuePair.maxInlineData(), option), MAX_INLINE);
    }
}
