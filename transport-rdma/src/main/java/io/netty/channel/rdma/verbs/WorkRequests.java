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

import static io.netty.util.internal.ObjectUtil.checkPositive;
import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * Common parts of send and receive work requests: a chain of structs with the same first fields ({@code wr_id}, {@code
 * next}, {@code sg_list}, {@code num_sge}), and behind them the scatter-gather elements of all.
 */
abstract class WorkRequests {
    final NativeMemory memory;
    private final int requestSize;
    private final int maxRequests;
    private final int maxSges;
    private int size;
    private int sges;
    /** Elements of the request started last. */
    private int latestSges;

    WorkRequests(int requestSize, int maxRequests, int maxSges) {
        VerbsApi.ensureAvailability();
        this.requestSize = requestSize;
        this.maxRequests = checkPositive(maxRequests, "maxRequests");
        this.maxSges = checkPositiveOrZero(maxSges, "maxSges");
        memory = new NativeMemory(Math.addExact(Math.multiplyExact(maxRequests, requestSize),
                Math.multiplyExact(maxSges, NativeMemory.SGE_SIZE)));
    }

    /** Starts a request without elements, and returns its offset. */
    final int startRequest(long workRequestId) {
        if (size == maxRequests) {
            throw new IllegalStateException("no room: " + maxRequests + " requests");
        }
        int offset = size * requestSize;
        long address = memory.address();
        if (size > 0) {
            memory.putLong(offset - requestSize + NativeMemory.WR_NEXT, address + offset);
        }
        memory.putLong(offset + NativeMemory.WR_ID, workRequestId);
        memory.putLong(offset + NativeMemory.WR_NEXT, 0);
        memory.putLong(offset + NativeMemory.WR_SG_LIST, address +
                (long) maxRequests * requestSize + (long) sges * NativeMemory.SGE_SIZE);
        memory.putInt(offset + NativeMemory.WR_NUM_SGE, 0);
        latestSges = 0;
        size++;
        return offset;
    }

    /** Adds an element to the request started last. */
    final void addElement(long memoryAddress, int length, int lkey) {
        if (size == 0) {
            throw new IllegalStateException("no request to add an element to");
        }
        if (sges == maxSges) {
            throw new IllegalStateException("no room: " + maxSges + " elements");
        }
        if (length < 0) {
            throw new IllegalArgumentException("length: " + length + " (expected: >= 0)");
        }
        int sge = maxRequests * requestSize + sges * NativeMemory.SGE_SIZE;
        memory.putLong(sge + NativeMemory.SGE_ADDR, memoryAddress);
        memory.putInt(sge + NativeMemory.SGE_LENGTH, length);
        memory.putInt(sge + NativeMemory.SGE_LKEY, lkey);
        memory.putInt((size - 1) * requestSize + NativeMemory.WR_NUM_SGE, ++latestSges);
        sges++;
    }

    /**
     * Returns the number of posted requests out of {@code count}, from a result of the native methods of {@code
     * posting.h}. The lower half of the result is the errno of the first request that was not posted.
     */
    static int posted(long result, int count) {
        return (int) result == 0 ? count : (int) (result >>> 32);
    }

    /** The number of requests in the chain. */
    public final int size() {
        return size;
    }

    public final boolean isEmpty() {
        return size == 0;
    }

    /** Number of further requests that fit. */
    public final int remaining() {
        return maxRequests - size;
    }

    /** Number of further elements that fit. */
    public final int remainingSges() {
        return maxSges - sges;
    }

    /** Empties the chain. */
    public void clear() {
        size = 0;
        sges = 0;
    }

    final long address() {
        return memory.address();
    }
}
