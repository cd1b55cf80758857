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

/**
 * One thread's stacks of released buffers, one for each cell size, each holding a bounded number of bytes.
 */
final class CellCache {
    private static final int MAX_BYTES_PER_SIZE = 1 << 20;
    private static final int MAX_BUFFERS_PER_SIZE = 256;

    private final int minOrder;
    private final CellByteBuf[][] stacks;
    private final int[] sizes;

    CellCache(int minOrder, int maxOrder) {
        this.minOrder = minOrder;
        stacks = new CellByteBuf[maxOrder - minOrder + 1][];
        sizes = new int[stacks.length];
        for (int i = 0; i < stacks.length; i++) {
            // At least one of each, so that a loop that handles one large message after the other needs no lock.
            stacks[i] = new CellByteBuf[Math.min(MAX_BUFFERS_PER_SIZE, Math.max(1, MAX_BYTES_PER_SIZE >> minOrder +
                    i))];
        }
    }

    /** Returns {@code null} if there is none. */
    CellByteBuf poll(int order) {
        int index = order - minOrder;
        int size = sizes[index];
        if (size == 0) {
            return null;
        }
        CellByteBuf[] stack = stacks[index];
        CellByteBuf buf = stack[--size];
        stack[size] = null;
        sizes[index] = size;
        return buf;
    }

    /** Returns false if the stack is full. */
    boolean offer(CellByteBuf buf) {
        int index = buf.cell().order - minOrder;
        CellByteBuf[] stack = stacks[index];
        int size = sizes[index];
        if (size == stack.length) {
            return false;
        }
        stack[size] = buf;
        sizes[index] = size + 1;
        return true;
    }

    void clear() {
        for (int i = 0; i < stacks.length; i++) {
            while (sizes[i] > 0) {
                poll(minOrder + i).cell().release();
            }
        }
    }
}
