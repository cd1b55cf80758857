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
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.CleanableDirectBuffer;
import io.netty.util.internal.PlatformDependent;

/**
 * A buffer of {@link RdmaByteBufAllocator}, over a {@link Cell}.
 *
 * <p>{@link #capacity()} is what was asked for, not the length of the cell, so that growing up to the latter is free. A
 * released buffer keeps its cell and is used again: see {@link CellCache}.
 *
 * <p>It does not extend Netty's {@code UnpooledUnsafeDirectByteBuf}, which is faster in copies only, but unusable where
 * Netty does without {@code sun.misc.Unsafe} (JDK 24 and later, by default).
 */
final class CellByteBuf extends UnpooledDirectByteBuf {
    private final RdmaByteBufAllocator allocator;
    private Cell cell;
    private Cell nextCell;
    /** The part of the cell that was not asked for. Subtracted, because the inherited constructor calls capacity(). */
    private int slack;

    CellByteBuf(RdmaByteBufAllocator allocator, Cell cell, int initialCapacity, int maxCapacity) {
        // The inherited constructor checks the length of the cell against the maximum capacity, which may be smaller.
        super(allocator, cell.buffer(), Integer.MAX_VALUE);
        this.allocator = allocator;
        this.cell = cell;
        begin(initialCapacity, maxCapacity);
    }

    private void begin(int initialCapacity, int maxCapacity) {
        slack = cell.length() - initialCapacity;
        maxCapacity(maxCapacity);
        setIndex(0, 0);
    }

    Cell cell() {
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
    public int capacity() {
        return super.capacity() - slack;
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(super.capacity(), maxCapacity()) - writerIndex();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity > cell.length()) {
            Cell oldCell = cell;
            nextCell = allocator.newCell(newCapacity);
            // Copies the whole old cell and switches to what allocateDirectBuffer() returns.
            super.capacity(newCapacity);
            cell = nextCell;
            nextCell = null;
            oldCell.free();
        } else if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        slack = cell.length() - newCapacity;
        return this;
    }

    @Override
    protected CleanableDirectBuffer allocateDirectBuffer(int newCapacity) {
        return nextCell;
    }

    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return cell.memoryAddress();
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
        if (PlatformDependent.hasUnsafe() && dst.hasMemoryAddress()) {
            checkDstIndex(index, length, dstIndex, dst.capacity());
            PlatformDependent.copyMemory(cell.memoryAddress() + index, dst.memoryAddress() + dstIndex, length);
            return this;
        }
        return super.getBytes(index, dst, dstIndex, length);
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
        if (PlatformDependent.hasUnsafe() && src.hasMemoryAddress()) {
            checkSrcIndex(index, length, srcIndex, src.capacity());
            PlatformDependent.copyMemory(src.memoryAddress() + srcIndex, cell.memoryAddress() + index, length);
            return this;
        }
        return super.setBytes(index, src, srcIndex, length);
    }

    @Override
    protected void deallocate() {
        allocator.recycle(this);
    }
}
