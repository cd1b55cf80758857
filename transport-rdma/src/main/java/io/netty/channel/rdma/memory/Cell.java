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

import io.netty.util.AbstractReferenceCounted;
import io.netty.util.internal.CleanableDirectBuffer;

import java.nio.ByteBuffer;

/**
 * The memory behind a buffer of {@link CellPool}: a power of two of bytes in a {@link Slab}, or ordinary direct memory
 * for a buffer that outgrew the slabs. The buffer has one reference, until it is released or grows into another cell.
 * Each work request that uses the memory has one, too. Any thread may release the last reference.
 */
public final class Cell extends AbstractReferenceCounted implements RequestMemory {
    private final SlabArena arena;
    private final Slab slab;
    private final int offset;
    final int order;
    private final ByteBuffer buffer;
    private final long address;
    private final CleanableDirectBuffer unpooled;

    Cell(SlabArena arena, Slab slab, int offset, int order) {
        this.arena = arena;
        this.slab = slab;
        this.offset = offset;
        this.order = order;
        buffer = slab.view(offset, 1 << order);
        address = slab.range.address + offset;
        unpooled = null;
    }

    Cell(CleanableDirectBuffer unpooled) {
        arena = null;
        slab = null;
        offset = 0;
        order = -1;
        this.unpooled = unpooled;
        buffer = unpooled.buffer();
        address = DirectMemory.address(buffer);
    }

    boolean isPooled() {
        return slab != null;
    }

    @Override
    public MemoryRange range() {
        return slab == null ? null : slab.range;
    }

    @Override
    public boolean contains(long start, int bytes) {
        return start >= address && start + bytes <= address + length();
    }

    int length() {
        return buffer.capacity();
    }

    @Override
    protected void deallocate() {
        if (isPooled()) {
            arena.free(slab, offset, order);
        } else {
            unpooled.clean();
        }
    }

    ByteBuffer buffer() {
        return buffer;
    }

    @Override
    public Cell touch() {
        return this;
    }

    @Override
    public Cell touch(Object hint) {
        return this;
    }

    long memoryAddress() {
        return address;
    }
}
