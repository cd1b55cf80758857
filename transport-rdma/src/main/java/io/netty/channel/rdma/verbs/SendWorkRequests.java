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

import java.nio.ByteBuffer;

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * A chain of send work requests ({@code struct ibv_send_wr}) in native memory, built by Java without allocation and
 * posted with one call of {@link QueuePair#postSend(SendWorkRequests)}.
 * <p>
 * A request is started by one of {@link #send}, {@link #sendWithImmediate}, {@link #write}, {@link #writeWithImmediate}
 * and {@link #read}; the {@link #addSge(long, int, int)} calls that follow belong to it. Posting copies the requests,
 * so that the same object can be cleared and used for another queue pair at once; the memory that the elements point to
 * must stay until the completion (except with {@link SendFlags#INLINE}). One thread at a time.
 */
public final class SendWorkRequests {
    private static final int OPCODE_RDMA_WRITE = 0;
    private static final int OPCODE_RDMA_WRITE_WITH_IMM = 1;
    private static final int OPCODE_SEND = 2;
    private static final int OPCODE_SEND_WITH_IMM = 3;
    private static final int OPCODE_RDMA_READ = 4;

    private final ByteBuffer memory;
    private final long address;
    private final int maxRequests;
    private final int maxSges;
    private int size;
    private int sges;

    /**
     * @param maxRequests the most requests in the chain, at least 1.
     * @param maxSges     the most scatter-gather elements of all requests together, 0 or more.
     */
    public SendWorkRequests(int maxRequests, int maxSges) {
        Verbs.ensureAvailability();
        this.maxRequests = checkPositive(maxRequests, "maxRequests");
        this.maxSges = checkPositiveOrZero(maxSges, "maxSges");
        memory = NativeMemory.allocate(Math.addExact(Math.multiplyExact(maxRequests, NativeMemory.SEND_WR_SIZE),
                Math.multiplyExact(maxSges, NativeMemory.SGE_SIZE)));
        address = NativeMemory.address(memory);
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

    /**
     * As {@link #send}, with 32 bits of immediate data in the peer's completion.
     */
    public SendWorkRequests sendWithImmediate(long workRequestId, int flags, int immediate) {
        immediate(start(workRequestId, OPCODE_SEND_WITH_IMM, flags), immediate);
        return this;
    }

    /**
     * Starts an RDMA WRITE of the elements to the peer's memory.
     */
    public SendWorkRequests write(long workRequestId, int flags, long remoteAddress, int rkey) {
        remote(start(workRequestId, OPCODE_RDMA_WRITE, flags), remoteAddress, rkey);
        return this;
    }

    /**
     * As {@link #write}, and consumes a receive of the peer, whose completion has the immediate data and length.
     */
    public SendWorkRequests writeWithImmediate(long workRequestId, int flags, long remoteAddress, int rkey,
                                               int immediate) {
        int offset = start(workRequestId, OPCODE_RDMA_WRITE_WITH_IMM, flags);
        remote(offset, remoteAddress, rkey);
        immediate(offset, immediate);
        return this;
    }

    /**
     * Starts an RDMA READ of the peer's memory into the elements.
     */
    public SendWorkRequests read(long workRequestId, int flags, long remoteAddress, int rkey) {
        remote(start(workRequestId, OPCODE_RDMA_READ, flags), remoteAddress, rkey);
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
        if (size == 0) {
            throw new IllegalStateException("no request to add an element to");
        }
        if (sges == maxSges) {
            throw new IllegalStateException("no room: " + maxSges + " elements");
        }
        if (length < 0) {
            throw new IllegalArgumentException("length: " + length + " (expected: >= 0)");
        }
        int sge = maxRequests * NativeMemory.SEND_WR_SIZE + sges * NativeMemory.SGE_SIZE;
        memory.putLong(sge + NativeMemory.SGE_ADDR, memoryAddress);
        memory.putInt(sge + NativeMemory.SGE_LENGTH, length);
        memory.putInt(sge + NativeMemory.SGE_LKEY, lkey);
        int count = (size - 1) * NativeMemory.SEND_WR_SIZE + NativeMemory.SEND_WR_NUM_SGE;
        memory.putInt(count, memory.getInt(count) + 1);
        sges++;
        return this;
    }

    /**
     * Adds flags to the request started last, for example to signal only the last one of a chain.
     *
     * @throws IllegalStateException if no request was started.
     */
    public SendWorkRequests addFlags(int flags) {
        if (size == 0) {
            throw new IllegalStateException("no request to add flags to");
        }
        int offset = (size - 1) * NativeMemory.SEND_WR_SIZE + NativeMemory.SEND_WR_FLAGS;
        memory.putInt(offset, memory.getInt(offset) | flags);
        return this;
    }

    /**
     * The number of requests in the chain.
     */
    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * How many more requests there is room for.
     */
    public int remaining() {
        return maxRequests - size;
    }

    /**
     * How many more elements there is room for.
     */
    public int remainingSges() {
        return maxSges - sges;
    }

    /**
     * The work request id of a request in the chain, for example to find out which of them a partial post left.
     */
    public long workRequestId(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("request " + index + " of " + size);
        }
        return memory.getLong(index * NativeMemory.SEND_WR_SIZE + NativeMemory.SEND_WR_ID);
    }

    /**
     * Empties the chain.
     */
    public void clear() {
        size = 0;
        sges = 0;
    }

    long address() {
        return address;
    }

    private int start(long workRequestId, int opcode, int flags) {
        if (size == maxRequests) {
            throw new IllegalStateException("no room: " + maxRequests + " requests");
        }
        int offset = size * NativeMemory.SEND_WR_SIZE;
        if (size > 0) {
            memory.putLong(offset - NativeMemory.SEND_WR_SIZE + NativeMemory.SEND_WR_NEXT, address + offset);
        }
        memory.putLong(offset + NativeMemory.SEND_WR_ID, workRequestId);
        memory.putLong(offset + NativeMemory.SEND_WR_NEXT, 0);
        memory.putLong(offset + NativeMemory.SEND_WR_SG_LIST, address +
                (long) maxRequests * NativeMemory.SEND_WR_SIZE + (long) sges * NativeMemory.SGE_SIZE);
        memory.putInt(offset + NativeMemory.SEND_WR_NUM_SGE, 0);
        memory.putInt(offset + NativeMemory.SEND_WR_OPCODE, opcode);
        memory.putInt(offset + NativeMemory.SEND_WR_FLAGS, flags);
        size++;
        return offset;
    }

    private void immediate(int offset, int immediate) {
        memory.putInt(offset + NativeMemory.SEND_WR_IMM, NativeMemory.networkOrder(immediate));
    }

    private void remote(int offset, long remoteAddress, int rkey) {
        memory.putLong(offset + NativeMemory.SEND_WR_REMOTE_ADDR, remoteAddress);
        memory.putInt(offset + NativeMemory.SEND_WR_RKEY, rkey);
    }
}
