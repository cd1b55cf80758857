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

import io.netty.buffer.ByteBuf;

import java.util.Arrays;

/** Finds the registered memory that contains a buffer. Thread-safe. */
public final class RegisteredRanges {
    /** The slabs, in the order of their addresses. Replaced, never changed. */
    private static volatile Slab[] slabs = new Slab[0];

    private RegisteredRanges() { }

    static synchronized void add(Slab slab) {
        Slab[] current = slabs;
        int i = 0;
        while (i < current.length && Long.compareUnsigned(current[i].range.address, slab.range.address) < 0) {
            i++;
        }
        Slab[] next = Arrays.copyOf(current, current.length + 1);
        System.arraycopy(current, i, next, i + 1, current.length - i);
        next[i] = slab;
        slabs = next;
    }

    static synchronized void remove(Slab slab) {
        slabs = Arrays.stream(slabs).filter(other -> other != slab).toArray(Slab[]::new);
    }

    /** Returns the number of memory regions that the process keeps while it has event loops. */
    public static int regions() {
        int count = 0;
        for (Slab slab : slabs) {
            count += slab.range.regions();
        }
        return count;
    }

    /**
     * Returns the memory that contains the bytes of the buffer, with a reference for the caller; or {@code null}.
     *
     * <p>Nearly every buffer is a {@link PartialByteBuf} inside of slices, duplicates and leak detection, and knows its
     * memory. A search by address is only for a buffer that was wrapped as a {@link java.nio.ByteBuffer}.
     *
     * @param buf has a memory address. The caller must read the address after this call: another thread may be growing
     *         the buffer that contains this slice.
     */
    public static RequestMemory retainedFind(ByteBuf buf, int index, int length) {
        ByteBuf innermost = buf;
        for (ByteBuf unwrapped = buf.unwrap(); unwrapped != null; unwrapped = innermost.unwrap()) {
            innermost = unwrapped;
        }
        RequestMemory memory = innermost instanceof PartialByteBuf ? ((PartialByteBuf) innermost).memory() : null;
        if (memory != null && memory.range() != null && memory.tryRetain()) {
            boolean found = false;
            try {
                found = memory.contains(buf.memoryAddress() + index, length);
                if (found) {
                    return memory;
                }
            } finally {
                if (!found) {
                    memory.release();
                }
            }
        }
        return retainedFind(buf.memoryAddress() + index, length);
    }

    /** Returns the memory of a slab that contains the bytes, with a reference for the caller; or {@code null}. */
    public static RequestMemory retainedFind(long address, int length) {
        Slab slab = slab(address);
        Cell cell = slab == null ? null : slab.cell(address);
        return cell != null && cell.contains(address, length) && cell.tryRetain() ? cell : null;
    }

    private static Slab slab(long address) {
        Slab[] current = slabs;
        int low = 0;
        int high = current.length - 1;
        while (low <= high) {
            int middle = low + high >>> 1;
            Slab slab = current[middle];
            if (slab.range.contains(address, 1)) {
                return slab;
            }
            if (Long.compareUnsigned(slab.range.address, address) < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return null;
    }
}
