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
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.CleanableDirectBuffer;

/**
 * A buffer of {@link CellPool}, over a {@link Cell}. Growing up to the length of the cell is free; beyond
 * that it gets another one. A released buffer keeps its cell and is used again: see {@link CellCache}.
 */
public final class CellByteBuf extends PartialByteBuf {
    private final CellPool pool;
    private Cell cell;
    private Cell nextCell;

    CellByteBuf(CellPool pool, ByteBufAllocator allocator, Cell cell, int initialCapacity, int maxCapacity) {
        // The inherited constructor checks the length of the cell against the maximum capacity, which may be smaller.
        super(allocator, cell.buffer(), Integer.MAX_VALUE);
        this.pool = pool;
        this.cell = cell;
        begin(initialCapacity, maxCapacity);
    }

    private void begin(int initialCapacity, int maxCapacity) {
        setCapacity(initialCapacity);
        maxCapacity(maxCapacity);
        setIndex(0, 0);
    }

    public Cell cell() {
        return cell;
    }

    @Override
    protected RequestMemory memory() {
        return cell;
    }

    /** Begins another life of a released buffer, with the same cell. */
    ByteBuf reuse(int initialCapacity, int maxCapacity) {
        resetRefCnt();
        begin(initialCapacity, maxCapacity);
        markReaderIndex();
        markWriterIndex();
        return this;
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(partLength(), maxCapacity()) - writerIndex();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity > cell.length()) {
            Cell oldCell = cell;
            nextCell = pool.newCell(newCapacity);
            // Copies the whole old cell and switches to what allocateDirectBuffer() returns.
            super.capacity(newCapacity);
            cell = nextCell;
            nextCell = null;
            oldCell.release();
        } else if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        setCapacity(newCapacity);
        return this;
    }

    @Override
    protected CleanableDirectBuffer allocateDirectBuffer(int newCapacity) {
        return nextCell;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return cell.memoryAddress();
    }

    @Override
    protected void deallocate() {
        pool.recycle(this);
    }
}
