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
package io.netty.channel.rdma.memory;

import io.netty.util.ReferenceCounted;

/**
 * The memory that one queue pair's work requests in flight use, by their numbers. Holds a reference to it until the
 * device does not need it any more.
 *
 * <p>For the channels of this transport. On the loop of the channel.
 */
public final class MemoryInFlight {
    private static final int FIRST_SIZE = 16;

    // A ring in the order of the work requests; null until memory is sent in place.
    private ReferenceCounted[] memory;
    private long[] numbers;
    private int first;
    private int count;

    /**
     * Takes over a reference to memory that a work request uses.
     *
     * @param number the number of the work request: the latest one that was added, or a later one.
     */
    public void add(long number, ReferenceCounted used) {
        if (count > 0 && memory[index(count - 1)] == used && numbers[index(count - 1)] == number) {
            // Another piece of the same memory in the same request.
            used.release();
            return;
        }
        try {
            ensureRoom();
        } catch (Throwable t) {
            used.release();
            throw t;
        }
        memory[index(count)] = used;
        numbers[index(count)] = number;
        count++;
    }

    private void ensureRoom() {
        if (memory == null) {
            long[] newNumbers = new long[FIRST_SIZE];
            memory = new ReferenceCounted[FIRST_SIZE];
            numbers = newNumbers;
        } else if (count == memory.length) {
            grow();
        }
    }

    public boolean isEmpty() {
        return count == 0;
    }

    private int index(int i) {
        return first + i & memory.length - 1;
    }

    private void grow() {
        ReferenceCounted[] newMemory = new ReferenceCounted[count * 2];
        long[] newNumbers = new long[count * 2];
        for (int i = 0; i < count; i++) {
            newMemory[i] = memory[index(i)];
            newNumbers[i] = numbers[index(i)];
        }
        memory = newMemory;
        numbers = newNumbers;
        first = 0;
    }

    /** Releases the memory of all work requests up to this one, which are done. */
    public void releaseUntil(long number) {
        while (count > 0 && numbers[first] <= number) {
            ReferenceCounted done = memory[first];
            memory[first] = null;
            first = index(1);
            count--;
            done.release();
        }
    }

    /** Releases the memory of work requests from this number on, which are never posted. */
    public void releaseFrom(long number) {
        while (count > 0 && numbers[index(count - 1)] >= number) {
            int last = index(--count);
            ReferenceCounted unused = memory[last];
            memory[last] = null;
            unused.release();
        }
    }
}
