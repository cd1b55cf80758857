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
 * A chain of receive work requests ({@code struct ibv_recv_wr}) in native memory, posted with one call of
 * {@link QueuePair#postReceive(ReceiveWorkRequests)}. Receives without memory, as consumed by RDMA writes with
 * immediate data, are cheaper to post with {@link QueuePair#postEmptyReceives(long, int)}.
 * <p>
 * Posting copies the requests; the memory that the elements point to must stay until the completion. One thread at a
 * time.
 */
public final class ReceiveWorkRequests {
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
    public ReceiveWorkRequests(int maxRequests, int maxSges) {
        Verbs.ensureAvailability();
        this.maxRequests = checkPositive(maxRequests, "maxRequests");
        this.maxSges = checkPositiveOrZero(maxSges, "maxSges");
        memory = NativeMemory.allocate(Math.addExact(Math.multiplyExact(maxRequests, NativeMemory.RECV_WR_SIZE),
                Math.multiplyExact(maxSges, NativeMemory.SGE_SIZE)));
        address = NativeMemory.address(memory);
    }

    /**
     * Starts a receive.
     */
    public ReceiveWorkRequests receive(long workRequestId) {
        if (size == maxRequests) {
            throw new IllegalStateException("no room: " + maxRequests + " requests");
        }
        int offset = size * NativeMemory.RECV_WR_SIZE;
        if (size > 0) {
            memory.putLong(offset - NativeMemory.RECV_WR_SIZE + NativeMemory.RECV_WR_NEXT, address + offset);
        }
        memory.putLong(offset + NativeMemory.RECV_WR_ID, workRequestId);
        memory.putLong(offset + NativeMemory.RECV_WR_NEXT, 0);
        memory.putLong(offset + NativeMemory.RECV_WR_SG_LIST, address +
                (long) maxRequests * NativeMemory.RECV_WR_SIZE + (long) sges * NativeMemory.SGE_SIZE);
        memory.putInt(offset + NativeMemory.RECV_WR_NUM_SGE, 0);
        size++;
        return this;
    }

    /**
     * Adds memory to the receive started last.
     *
     * @param length in bytes, 0 or more.
     * @param lkey   of a region with {@link AccessFlags#LOCAL_WRITE} that contains the range.
     * @throws IllegalStateException if no receive was started or there is no room.
     */
    public ReceiveWorkRequests addSge(long memoryAddress, int length, int lkey) {
        if (size == 0) {
            throw new IllegalStateException("no request to add an element to");
        }
        if (sges == maxSges) {
            throw new IllegalStateException("no room: " + maxSges + " elements");
        }
        if (length < 0) {
            throw new IllegalArgumentException("length: " + length + " (expected: >= 0)");
        }
        int sge = maxRequests * NativeMemory.RECV_WR_SIZE + sges * NativeMemory.SGE_SIZE;
        memory.putLong(sge + NativeMemory.SGE_ADDR, memoryAddress);
        memory.putInt(sge + NativeMemory.SGE_LENGTH, length);
        memory.putInt(sge + NativeMemory.SGE_LKEY, lkey);
        int count = (size - 1) * NativeMemory.RECV_WR_SIZE + NativeMemory.RECV_WR_NUM_SGE;
        memory.putInt(count, memory.getInt(count) + 1);
        sges++;
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
     * Empties the chain.
     */
    public void clear() {
        size = 0;
        sges = 0;
    }

    long address() {
        return address;
    }
}
