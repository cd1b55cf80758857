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

import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;

import java.nio.ByteBuffer;

/**
 * One contiguous piece of registered memory, divided into cells by a binary buddy tree. A cell has {@code 2^order}
 * bytes and starts at a multiple of this size. The slab starts at a page.
 *
 * <p>The tree holds, for each node, 1 + the order of the largest free cell below it, or 0 if there is none. Allocating
 * and freeing walk one path of the tree, so their time is bounded even in a fragmented slab. Not thread-safe: the
 * {@link SlabArena} that owns the slab locks.
 */
final class Slab {
    /** The smallest cell is {@code 2^MIN_ORDER} bytes. */
    static final int MIN_ORDER = 9;

    final MemoryRange range;
    private final CleanableDirectBuffer direct;
    private final ByteBuffer memory;
    private final int order;
    private final byte[] largestFree;
    /** The cells in use, by offset in units of the smallest cell. */
    private final Cell[] cells;

    /**
     * Allocates {@code 2^order} bytes, and almost a page more for alignment.
     *
     * @throws OutOfMemoryError if direct memory is exhausted.
     */
    Slab(int order) {
        this.order = order;
        direct = PlatformDependent.allocateDirect((1 << order) + DirectMemory.PAGE - 1);
        memory = DirectMemory.aligned(direct.buffer(), DirectMemory.PAGE, 1 << order);
        range = new MemoryRange(DirectMemory.address(memory), 1 << order, AccessFlags.LOCAL_WRITE, direct);
        largestFree = new byte[2 << order - MIN_ORDER];
        cells = new Cell[1 << order - MIN_ORDER];
        int nodeOrder = order;
        for (int node = 1; node < largestFree.length; node++) {
            largestFree[node] = (byte) (nodeOrder + 1);
            if ((node + 1 & node) == 0) {
                nodeOrder--;
            }
        }
    }

    /** Frees a slab without cells in use. */
    void destroy() {
        range.close();
        direct.clean();
    }

    /** Takes a cell of {@code 2^cellOrder} bytes; returns its offset, or -1 if no such cell is free. */
    int allocate(int cellOrder) {
        if (largestFree[1] <= cellOrder) {
            return -1;
        }
        int node = 1;
        for (int nodeOrder = order; nodeOrder > cellOrder; nodeOrder--) {
            node <<= 1;
            if (largestFree[node] <= cellOrder) {
                node++;
            }
        }
        largestFree[node] = 0;
        updateAncestors(node, cellOrder);
        return node - (1 << order - cellOrder) << cellOrder;
    }

    void free(int offset, int cellOrder) {
        int node = (offset >>> cellOrder) + (1 << order - cellOrder);
        assert largestFree[node] == 0 : "freed twice: offset " + offset + ", order " + cellOrder;
        cells[offset >>> MIN_ORDER] = null;
        largestFree[node] = (byte) (cellOrder + 1);
        updateAncestors(node, cellOrder);
    }

    private void updateAncestors(int child, int childOrder) {
        int whole = childOrder + 1;
        for (int node = child >>> 1; node >= 1; node >>>= 1) {
            byte left = largestFree[node << 1];
            byte right = largestFree[(node << 1) + 1];
            // Two free halves are one free cell of twice the size.
            largestFree[node] = left == whole && right == whole ? (byte) (whole + 1) : (byte) Math.max(left, right);
            whole++;
        }
    }

    /** Notes the cell of {@linkplain #allocate allocated} memory. */
    void enter(Cell cell, int offset) {
        cells[offset >>> MIN_ORDER] = cell;
    }

    /**
     * Returns the cell in use that contains a byte of this slab. The result is reliable for a thread that was given
     * memory of the cell. For another thread it may be {@code null} or a cell that was just freed.
     */
    Cell cell(long address) {
        long offset = address - range.address;
        for (int cellOrder = MIN_ORDER; cellOrder <= order; cellOrder++) {
            Cell cell = cells[(int) (offset >>> cellOrder << cellOrder - MIN_ORDER)];
            if (cell != null && cell.order >= cellOrder) {
                return cell;
            }
        }
        return null;
    }

    boolean isUnused() {
        return largestFree[1] == order + 1;
    }

    ByteBuffer view(int offset, int length) {
        return memory.slice(offset, length);
    }
}
