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

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * One thread's stacks of released buffers: one for each cell size, each with a limited number of bytes. When memory
 * runs out, any thread may {@link #reclaim} the buffers, because the owner may sleep or do something else for long.
 */
final class CellCache {
    private static final int MAX_BYTES_PER_SIZE = 1 << 20;
    private static final int MAX_BUFFERS_PER_SIZE = 256;

    private final int minOrder;
    private final AtomicReferenceArray<CellByteBuf>[] stacks;
    /**
     * The sizes of the stacks. Only the owner changes them, so some of the slots may be empty after {@link #reclaim}.
     */
    private final AtomicIntegerArray sizes;

    @SuppressWarnings({ "unchecked", "rawtypes" })
    CellCache(int minOrder, int maxOrder) {
        this.minOrder = minOrder;
        stacks = new AtomicReferenceArray[maxOrder - minOrder + 1];
        sizes = new AtomicIntegerArray(stacks.length);
        for (int i = 0; i < stacks.length; i++) {
            // At least one slot, so that a loop that handles one large message after the other needs no lock.
            stacks[i] = new AtomicReferenceArray<>(Math.min(MAX_BUFFERS_PER_SIZE, Math.max(1, MAX_BYTES_PER_SIZE >>
                    minOrder + i)));
        }
    }

    /** Takes a buffer. Returns {@code null} if there is none. */
    CellByteBuf poll(int order) {
        int index = order - minOrder;
        int size = sizes.getPlain(index);
        CellByteBuf buf = null;
        while (buf == null && size > 0) {
            buf = stacks[index].getAndSet(--size, null);
            sizes.setRelease(index, size);
        }
        return buf;
    }

    /** Adds a buffer. Returns false if the stack is full. */
    boolean offer(CellByteBuf buf) {
        int index = buf.cell().order - minOrder;
        int size = sizes.getPlain(index);
        if (size == stacks[index].length()) {
            return false;
        }
        stacks[index].setRelease(size, buf);
        sizes.setRelease(index, size + 1);
        return true;
    }

    /** Frees the memory of all buffers. Returns whether there were any. Any thread. */
    boolean reclaim() {
        boolean some = false;
        for (int i = 0; i < stacks.length; i++) {
            for (int slot = Math.min(sizes.get(i), stacks[i].length()) - 1; slot >= 0; slot--) {
                CellByteBuf buf = stacks[i].get(slot) == null ? null : stacks[i].getAndSet(slot, null);
                if (buf != null) {
                    buf.cell().release();
                    some = true;
                }
            }
        }
        return some;
    }
}
