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

/**
 * A buffer of {@link CellPool}, over a {@link Cell}. Growing up to the length of the cell costs nothing; beyond it the
 * buffer gets another cell. A released buffer keeps its cell and is used again: see {@link CellCache}.
 */
public final class CellByteBuf extends PartialByteBuf {
    private final CellPool pool;
    private Cell cell;

    CellByteBuf(CellPool pool, ByteBufAllocator allocator, Cell cell, int initialCapacity, int maxCapacity) {
        this.pool = pool;
        setCell(cell);
        begin(allocator, initialCapacity, maxCapacity);
    }

    private void setCell(Cell newCell) {
        cell = newCell;
        setPart(cell.buffer(), 0, cell.length());
    }

    public Cell cell() {
        return cell;
    }

    @Override
    protected RequestMemory memory() {
        return cell;
    }

    /** Makes a released buffer usable again, with the same cell. */
    ByteBuf reuse(int initialCapacity, int maxCapacity) {
        begin(alloc(), initialCapacity, maxCapacity);
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
            Cell newCell = pool.newCell(newCapacity);
            newCell.buffer().put(0, oldCell.buffer(), 0, capacity());
            setCell(newCell);
            oldCell.release();
        } else if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        setCapacity(newCapacity);
        return this;
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
