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

import io.netty.buffer.ByteBuf;

import java.util.Arrays;

/**
 * Finds the registered memory that a buffer lies in. Thread-safe.
 */
final class RegisteredRanges {
    /** The slabs, in the order of their addresses. Replaced, never changed. */
    private static volatile MemoryRange[] slabs = new MemoryRange[0];

    private RegisteredRanges() { }

    static synchronized void add(MemoryRange slab) {
        MemoryRange[] current = slabs;
        int i = 0;
        while (i < current.length && Long.compareUnsigned(current[i].address, slab.address) < 0) {
            i++;
        }
        MemoryRange[] next = Arrays.copyOf(current, current.length + 1);
        System.arraycopy(current, i, next, i + 1, current.length - i);
        next[i] = slab;
        slabs = next;
    }

    /** How many memory regions the process keeps for ever. */
    static int regions() {
        int count = 0;
        for (MemoryRange slab : slabs) {
            count += slab.regions();
        }
        return count;
    }

    /**
     * The range that contains the bytes of the buffer, or {@code null}.
     *
     * <p>Nearly every buffer is one of ours inside of slices, duplicates and leak detection, whose class tells the
     * range. By its address only a buffer is found that was wrapped as a {@link java.nio.ByteBuffer}.
     *
     * @param address of its first byte.
     */
    static MemoryRange find(ByteBuf buf, long address, int length) {
        ByteBuf innermost = buf;
        for (ByteBuf unwrapped = buf.unwrap(); unwrapped != null; unwrapped = innermost.unwrap()) {
            innermost = unwrapped;
        }
        MemoryRange range = null;
        if (innermost instanceof CellByteBuf) {
            range = ((CellByteBuf) innermost).cell().range();
        } else if (innermost instanceof LandedByteBuf) {
            range = ((LandedByteBuf) innermost).range();
        }
        return range != null && range.contains(address, length) ? range : find(address, length);
    }

    static MemoryRange find(long address, int length) {
        MemoryRange[] current = slabs;
        int low = 0;
        int high = current.length - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            MemoryRange slab = current[middle];
            if (slab.contains(address, length)) {
                return slab;
            }
            if (Long.compareUnsigned(slab.address, address) < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return null;
    }
}
