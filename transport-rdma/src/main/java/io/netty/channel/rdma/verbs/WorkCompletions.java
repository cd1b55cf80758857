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

import java.nio.BufferOverflowException;

import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * A batch of work completions: a native {@code ibv_wc[]} that {@link CompletionQueue#poll(WorkCompletions)} fills and
 * that is read by index, without an object per completion. Reused for every poll; one thread at a time.
 */
@UnstableApi
public final class WorkCompletions {
    /** The bytes before the data of a datagram, where the global routing header may be. */
    public static final int GLOBAL_HEADER_LENGTH = 40;

    private static final int GLOBAL_HEADER = 1;
    private static final int WITH_IMMEDIATE = 1 << 1;
    private static final int WITH_INVALIDATE = 1 << 3;
    /**
     * The kernel's flag for the same (IB_WC_WITH_INVALIDATE in ib_verbs.h), which soft-RoCE's library passes on
     * unchanged. Elsewhere this bit is about the checksum of a raw packet or datagram (IBV_WC_IP_CSUM_OK), never about
     * a connection.
     */
    private static final int KERNEL_WITH_INVALIDATE = 1 << 2;

    private final NativeMemory memory;
    private final int capacity;
    private int size;

    /**
     * @param capacity maximum number of completions of one poll, at least 1. 16 to 64 make up for the cost of the call.
     */
    public WorkCompletions(int capacity) {
        VerbsApi.ensureAvailability();
        this.capacity = checkPositive(capacity, "capacity");
        memory = new NativeMemory(Math.multiplyExact(capacity, NativeMemory.WC_SIZE));
    }

    public int capacity() {
        return capacity;
    }

    /** Number of completions of the latest poll. */
    public int size() {
        return size;
    }

    /**
     * Adds a copy of a completion that was polled.
     *
     * @throws java.nio.BufferOverflowException if there is no room.
     */
    public void append(WorkCompletions from, int index) {
        if (size == capacity) {
            throw new BufferOverflowException();
        }
        memory.put(size * NativeMemory.WC_SIZE, from.memory, from.offset(index), NativeMemory.WC_SIZE);
        size++;
    }

    /** Removes all completions. */
    public void clear() {
        size = 0;
    }

    /** Returns the id of the work request. */
    public long workRequestId(int index) {
        return memory.getLong(offset(index) + NativeMemory.WC_WR_ID);
    }

    /**
     * Returns the status, one of {@link WorkCompletionStatus}. If it is not success, only this, the work request id and
     * the queue pair number are defined.
     */
    public int status(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_STATUS);
    }

    public boolean isSuccess(int index) {
        return status(index) == WorkCompletionStatus.SUCCESS;
    }

    /** The opcode, one of {@link WorkCompletionOpcode}. */
    public int opcode(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_OPCODE);
    }

    /** The number of bytes received or read; undefined for sends and RDMA writes. */
    public int byteLength(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_BYTE_LEN);
    }

    public boolean hasImmediate(int index) {
        return (memory.getInt(offset(index) + NativeMemory.WC_FLAGS) & WITH_IMMEDIATE) != 0;
    }

    /** The immediate data as a number in host order; defined if {@link #hasImmediate(int)}. */
    public int immediate(int index) {
        return NativeMemory.networkOrder(memory.getInt(offset(index) + NativeMemory.WC_IMM));
    }

    /** Returns whether the peer has invalidated a memory window with its message: for receives of a connection. */
    public boolean hasInvalidatedKey(int index) {
        int flags = memory.getInt(offset(index) + NativeMemory.WC_FLAGS);
        return (flags & (WITH_INVALIDATE | KERNEL_WITH_INVALIDATE)) != 0 && (flags & WITH_IMMEDIATE) == 0;
    }

    /** The key that the peer has invalidated; defined if {@link #hasInvalidatedKey(int)}. */
    public int invalidatedKey(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_IMM);
    }

    /** The local queue pair of the completed request. */
    public int queuePairNumber(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_QP_NUM);
    }

    /** The queue pair that sent a datagram; undefined for connections. */
    public int sourceQueuePairNumber(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_SRC_QP);
    }

    /** The local identifier of the port that sent a datagram, with InfiniBand; undefined with RoCE. */
    public int sourceLid(int index) {
        return Short.toUnsignedInt(memory.getShort(offset(index) + NativeMemory.WC_SLID));
    }

    /** The service level of a datagram, 0 to 15. */
    public int serviceLevel(int index) {
        return memory.get(offset(index) + NativeMemory.WC_SL) & 0xF;
    }

    /**
     * Returns whether the first {@link #GLOBAL_HEADER_LENGTH} bytes of a datagram's memory are a global routing header.
     * Otherwise they are undefined. {@link #byteLength(int)} always counts them.
     */
    public boolean hasGlobalHeader(int index) {
        return (memory.getInt(offset(index) + NativeMemory.WC_FLAGS) & GLOBAL_HEADER) != 0;
    }

    /** A code of the adapter's maker that says more about an error. */
    public int vendorError(int index) {
        return memory.getInt(offset(index) + NativeMemory.WC_VENDOR_ERR);
    }

    /** A completion for a person. */
    public String describe(int index) {
        int status = status(index);
        return "queue pair " + Integer.toUnsignedString(queuePairNumber(index)) + ", work request " +
                workRequestId(index) + ": " + (status == WorkCompletionStatus.SUCCESS ?
                WorkCompletionOpcode.describe(opcode(index)) : WorkCompletionStatus.describe(status) +
                " (status " + status + ", vendor error " + vendorError(index) + ')');
    }

    long address() {
        return memory.address();
    }

    /** The address of one completion. */
    long address(int index) {
        return memory.address() + offset(index);
    }

    void size(int newSize) {
        size = newSize;
    }

    private int offset(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException("completion " + index + " of " + size);
        }
        return index * NativeMemory.WC_SIZE;
    }
}
