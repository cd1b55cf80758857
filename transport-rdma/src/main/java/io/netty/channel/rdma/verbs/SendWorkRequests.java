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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

/**
 * A chain of send work requests ({@code struct ibv_send_wr}) in native memory, built by Java without allocation and
 * posted with one call of {@link QueuePair#postSend(SendWorkRequests)}.
 * <p>
 * A request is started by one of {@link #send}, {@link #sendWithImmediate}, {@link #write},
 * {@link #writeWithImmediate}, {@link #read}, {@link #compareAndSwap}, {@link #fetchAndAdd},
 * {@link #sendWithInvalidate}, {@link #bind} and {@link #invalidate}; the {@link #addSge(long, int, int)} calls that
 * follow belong to it. Posting copies the requests, so that the same object can be cleared and used for another queue
 * pair at once; the memory that the elements point to must stay until the completion (except with
 * {@link SendFlags#INLINE}). One thread at a time.
 */
@UnstableApi
public final class SendWorkRequests extends WorkRequests {
    /** The queue pair number that stands for all members of a multicast group. */
    public static final int MULTICAST_QUEUE_PAIR = 0xFFFFFF;

    private static final int OPCODE_RDMA_WRITE = 0;
    private static final int OPCODE_RDMA_WRITE_WITH_IMM = 1;
    private static final int OPCODE_SEND = 2;
    private static final int OPCODE_SEND_WITH_IMM = 3;
    private static final int OPCODE_RDMA_READ = 4;
    private static final int OPCODE_COMPARE_AND_SWAP = 5;
    private static final int OPCODE_FETCH_AND_ADD = 6;
    private static final int OPCODE_LOCAL_INVALIDATE = 7;
    private static final int OPCODE_BIND_WINDOW = 8;
    private static final int OPCODE_SEND_WITH_INVALIDATE = 9;

    /** An object whose address a request has, or {@code null}. All such objects are of one provider. */
    private VerbsObject pointee;

    /**
     * @param maxRequests maximum number of requests in the chain, at least 1.
     * @param maxSges     maximum number of scatter-gather elements of all requests together, 0 or more.
     */
    public SendWorkRequests(int maxRequests, int maxSges) {
        super(NativeMemory.SEND_WR_SIZE, maxRequests, maxSges);
    }

    @Override
    public void clear() {
        super.clear();
        pointee = null;
    }

    private void pointsTo(VerbsObject object) {
        if (pointee == null) {
            pointee = object;
        } else {
            pointee.requireSameVerbs(object);
        }
    }

    /** Checks the provider, because C would follow the addresses in the requests. */
    void requireUsableBy(QueuePair queuePair) {
        if (pointee != null) {
            pointee.requireSameVerbs(queuePair);
        }
    }

    /**
     * Starts a SEND: the elements are sent to the peer's next receive.
     *
     * @param flags of {@link SendFlags}.
     */
    public SendWorkRequests send(long workRequestId, int flags) {
        start(workRequestId, OPCODE_SEND, flags);
        return this;
    }

    /** Adds a send as {@link #send}, with 32 bits of immediate data in the peer's completion. */
    public SendWorkRequests sendWithImmediate(long workRequestId, int flags, int immediate) {
        immediate(start(workRequestId, OPCODE_SEND_WITH_IMM, flags), immediate);
        return this;
    }

    /** Starts an RDMA WRITE of the elements to the peer's memory. */
    public SendWorkRequests write(long workRequestId, int flags, long remoteAddress, int rkey) {
        remote(start(workRequestId, OPCODE_RDMA_WRITE, flags), remoteAddress, rkey);
        return this;
    }

    /**
     * Adds a write as {@link #write} that consumes a receive of the peer. The completion there has the immediate data
     * and the length.
     */
    public SendWorkRequests writeWithImmediate(long workRequestId, int flags, long remoteAddress, int rkey,
                                               int immediate) {
        int offset = start(workRequestId, OPCODE_RDMA_WRITE_WITH_IMM, flags);
        remote(offset, remoteAddress, rkey);
        immediate(offset, immediate);
        return this;
    }

    /** Starts an RDMA READ of the peer's memory into the elements. */
    public SendWorkRequests read(long workRequestId, int flags, long remoteAddress, int rkey) {
        remote(start(workRequestId, OPCODE_RDMA_READ, flags), remoteAddress, rkey);
        return this;
    }

    /**
     * Starts an atomic compare and swap of 8 bytes of the peer's memory: they become {@code desired} if they are {@code
     * expected}. The old value is written to the elements, whose lengths must add up to 8. All values are in the byte
     * order of their host.
     *
     * @param remoteAddress a multiple of 8, in a region with {@link AccessFlags#REMOTE_ATOMIC}.
     */
    public SendWorkRequests compareAndSwap(long workRequestId, int flags, long remoteAddress, int rkey, long expected,
                                           long desired) {
        atomic(start(workRequestId, OPCODE_COMPARE_AND_SWAP, flags), remoteAddress, rkey, expected, desired);
        return this;
    }

    /**
     * Starts an atomic addition to 8 bytes of the peer's memory, otherwise as {@link #compareAndSwap}. Overflow wraps
     * around.
     */
    public SendWorkRequests fetchAndAdd(long workRequestId, int flags, long remoteAddress, int rkey, long addend) {
        atomic(start(workRequestId, OPCODE_FETCH_AND_ADD, flags), remoteAddress, rkey, addend, 0);
        return this;
    }

    /**
     * Adds a send as {@link #send} that invalidates a memory window of the peer before the peer's completion, which has
     * the key.
     *
     * @param rkey of a window that the peer has bound through its queue pair of this connection. If there is none, the
     *             connection ends.
     */
    public SendWorkRequests sendWithInvalidate(long workRequestId, int flags, int rkey) {
        int offset = start(workRequestId, OPCODE_SEND_WITH_INVALIDATE, flags);
        memory.putInt(offset + NativeMemory.SEND_WR_IMM, rkey);
        return this;
    }

    /**
     * Binds a memory window to a part of a region. From the completion on, the peer can use this part with the key
     * {@code rkey}, until the window is invalidated. A request that can't be executed ends the connection. It has no
     * elements.
     *
     * @param window        not bound. Call {@link MemoryWindow#bound(int)} with the key when the request has completed.
     * @param rkey          {@link MemoryWindow#nextKey()}.
     * @param region        with {@link AccessFlags#MEMORY_WINDOW_BIND}, of the same protection domain.
     * @param memoryAddress of the first byte, in the region.
     * @param length        in bytes, at least 1; all of them in the region.
     * @param access        of {@link AccessFlags}, remote ones. To write and for atomics the region needs
     *                {@link AccessFlags#LOCAL_WRITE}.
     */
    public SendWorkRequests bind(long workRequestId, int flags, MemoryWindow window, int rkey, MemoryRegion region,
                                 long memoryAddress, long length, int access) {
        long windowPointer = window.address();
        long regionPointer = region.address();
        window.requireSameVerbs(region);
        pointsTo(window);
        int offset = start(workRequestId, OPCODE_BIND_WINDOW, flags);
        // Values of an earlier request would make soft-RoCE's library refuse this one (validate_send_wr in rxe.c).
        memory.putInt(offset + NativeMemory.SEND_WR_IMM, 0);
        memory.putLong(offset + NativeMemory.SEND_WR_BIND_WINDOW, windowPointer);
        memory.putInt(offset + NativeMemory.SEND_WR_BIND_KEY, rkey);
        memory.putLong(offset + NativeMemory.SEND_WR_BIND_REGION, regionPointer);
        memory.putLong(offset + NativeMemory.SEND_WR_BIND_ADDR, memoryAddress);
        memory.putLong(offset + NativeMemory.SEND_WR_BIND_LENGTH, length);
        memory.putInt(offset + NativeMemory.SEND_WR_BIND_ACCESS, access);
        return this;
    }

    /**
     * Invalidates a memory window, without elements. From the completion on, the peer's use of its key is refused.
     *
     * @param rkey of a window that was bound through this queue pair. If it is not, the request fails on some devices,
     *             which ends the connection.
     */
    public SendWorkRequests invalidate(long workRequestId, int flags, int rkey) {
        int offset = start(workRequestId, OPCODE_LOCAL_INVALIDATE, flags);
        memory.putInt(offset + NativeMemory.SEND_WR_IMM, rkey);
        return this;
    }

    /**
     * Sets the destination of a datagram, for the request started last. Needed for each {@link #send} and {@link
     * #sendWithImmediate} on a queue pair of type {@link QueuePairType#UNRELIABLE_DATAGRAM}, which has no other
     * operations.
     *
     * @param queuePairNumber of the destination, or {@link #MULTICAST_QUEUE_PAIR} for a group.
     * @param queueKey of the destination queue pair; otherwise the datagram is dropped. A key with the highest bit set
     *         stands for the queue key of the sending queue pair.
     * @throws IllegalStateException if no request was started.
     */
    public SendWorkRequests to(AddressHandle handle, int queuePairNumber, int queueKey) {
        int offset = latest();
        pointsTo(handle);
        memory.putLong(offset + NativeMemory.SEND_WR_AH, handle.address());
        memory.putInt(offset + NativeMemory.SEND_WR_REMOTE_QPN, queuePairNumber);
        memory.putInt(offset + NativeMemory.SEND_WR_REMOTE_QKEY, queueKey);
        return this;
    }

    /**
     * Adds a scatter-gather element to the request started last.
     *
     * @param length in bytes, 0 or more.
     * @param lkey   of the region that contains the range; any value for inline data.
     * @throws IllegalStateException if no request was started or there is no room.
     */
    public SendWorkRequests addSge(long memoryAddress, int length, int lkey) {
        addElement(memoryAddress, length, lkey);
        return this;
    }

    /**
     * Adds flags to the request started last, for example to signal only the last one of a chain.
     *
     * @throws IllegalStateException if no request was started.
     */
    public SendWorkRequests addFlags(int flags) {
        int offset = latest() + NativeMemory.SEND_WR_FLAGS;
        memory.putInt(offset, memory.getInt(offset) | flags);
        return this;
    }

    /** Returns the work request id of a request in the chain, for example to find those that a partial post left. */
    public long workRequestId(int index) {
        if (index < 0 || index >= size()) {
            throw new IndexOutOfBoundsException("request " + index + " of " + size());
        }
        return memory.getLong(index * NativeMemory.SEND_WR_SIZE + NativeMemory.WR_ID);
    }

    /** The offset of the request started last. */
    private int latest() {
        if (isEmpty()) {
            throw new IllegalStateException("no request was started");
        }
        return (size() - 1) * NativeMemory.SEND_WR_SIZE;
    }

    private int start(long workRequestId, int opcode, int flags) {
        int offset = startRequest(workRequestId);
        memory.putInt(offset + NativeMemory.SEND_WR_OPCODE, opcode);
        memory.putInt(offset + NativeMemory.SEND_WR_FLAGS, flags);
        return offset;
    }

    private void immediate(int offset, int immediate) {
        memory.putInt(offset + NativeMemory.SEND_WR_IMM, NativeMemory.networkOrder(immediate));
    }

    private void remote(int offset, long remoteAddress, int rkey) {
        memory.putLong(offset + NativeMemory.SEND_WR_REMOTE_ADDR, remoteAddress);
        memory.putInt(offset + NativeMemory.SEND_WR_RKEY, rkey);
    }

    private void atomic(int offset, long remoteAddress, int rkey, long compareOrAdd, long swap) {
        memory.putLong(offset + NativeMemory.SEND_WR_REMOTE_ADDR, remoteAddress);
        memory.putLong(offset + NativeMemory.SEND_WR_COMPARE_ADD, compareOrAdd);
        memory.putLong(offset + NativeMemory.SEND_WR_SWAP, swap);
        memory.putInt(offset + NativeMemory.SEND_WR_ATOMIC_RKEY, rkey);
    }
}
