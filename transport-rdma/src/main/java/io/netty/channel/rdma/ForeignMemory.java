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
package io.netty.channel.rdma;

import io.netty.channel.rdma.memory.RequestMemory;

import java.util.Arrays;

/**
 * The {@link RegisteredMemory} of the process that is not in slabs or receive memory, by its addresses. Ranges may
 * overlap: the same memory may be registered with different permissions, or a part of it once more. Thread-safe.
 */
final class ForeignMemory {
    /** The ranges in the order of their addresses. Replaced, never changed. */
    private static volatile Ranges current = new Ranges(new RegisteredMemory[0]);

    private ForeignMemory() { }

    private static final class Ranges {
        final RegisteredMemory[] memory;
        /** The farthest end of the range at the same index and all before it. */
        final long[] farthest;

        Ranges(RegisteredMemory[] memory) {
            this.memory = memory;
            farthest = new long[memory.length];
            long end = 0;
            for (int i = 0; i < memory.length; i++) {
                end = Math.max(end, memory[i].address() + memory[i].length());
                farthest[i] = end;
            }
        }

        /** The number of ranges that begin at the address or before. */
        int upTo(long address) {
            int low = 0;
            int high = memory.length;
            while (low < high) {
                int middle = low + high >>> 1;
                if (memory[middle].address() <= address) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }

    static synchronized void add(RegisteredMemory memory) {
        RegisteredMemory[] old = current.memory;
        int at = current.upTo(memory.address());
        RegisteredMemory[] next = Arrays.copyOf(old, old.length + 1);
        System.arraycopy(old, at, next, at + 1, old.length - at);
        next[at] = memory;
        current = new Ranges(next);
    }

    static synchronized void remove(RegisteredMemory memory) {
        RegisteredMemory[] old = current.memory;
        for (int i = current.upTo(memory.address()) - 1; i >= 0; i--) {
            if (old[i] == memory) {
                RegisteredMemory[] next = Arrays.copyOf(old, old.length - 1);
                System.arraycopy(old, i + 1, next, i, next.length - i);
                current = new Ranges(next);
                return;
            }
        }
    }

    /**
     * Finds memory that contains the bytes, and prefers memory with the permission. If none has the permission, the
     * device reports that.
     *
     * @param permission or {@code null} if none is needed.
     * @return with a reference for the caller, or {@code null}.
     */
    static RegisteredMemory retainedFind(long address, int length, RdmaPermission permission) {
        Ranges ranges = current;
        RegisteredMemory found = retainedFind(address, length, permission, ranges);
        return found != null || permission == null ? found : retainedFind(address, length, null, ranges);
    }

    private static RegisteredMemory retainedFind(long address, int length, RdmaPermission permission, Ranges ranges) {
        long end = address + length;
        for (int i = ranges.upTo(address) - 1; i >= 0 && ranges.farthest[i] >= end; i--) {
            RegisteredMemory memory = ranges.memory[i];
            if (memory.range().contains(address, length) &&
                    (permission == null || memory.permissions().contains(permission)) &&
                    RequestMemory.tryRetain(memory)) {
                return memory;
            }
        }
        return null;
    }
}
