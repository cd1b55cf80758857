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

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.PlatformDependent;

import java.nio.ByteBuffer;

/**
 * A buffer over a part of larger memory, whose address is known and whose capacity may be less than the part.
 *
 * <p>It does not extend Netty's {@code UnpooledUnsafeDirectByteBuf}, which is unusable where Netty does without {@code
 * sun.misc.Unsafe} (JDK 24 and later, by default); where it has that, copies use it. The accessors of {@link
 * UnpooledDirectByteBuf} leave the check of the index to the {@link ByteBuffer}, which here may be longer than the
 * capacity: so they are all overridden.
 */
public abstract class PartialByteBuf extends UnpooledDirectByteBuf {
    /** Bytes of the part that do not count. Subtracted, because the inherited constructor calls capacity(). */
    private int slack;

    public PartialByteBuf(ByteBufAllocator allocator, ByteBuffer part, int maxCapacity) {
        super(allocator, part, maxCapacity);
    }

    /** Leak detection for a buffer that no allocator has made. */
    public static ByteBuf tracked(ByteBuf buf) {
        return LeakTracking.tracked(buf);
    }

    /** What does that is protected in the allocators of Netty. */
    private abstract static class LeakTracking extends AbstractByteBufAllocator {
        static ByteBuf tracked(ByteBuf buf) {
            return toLeakAwareBuffer(buf);
        }
    }

    /** The larger memory that it is part of. */
    protected abstract RequestMemory memory();

    /** The length of the part. */
    final int partLength() {
        return super.capacity();
    }

    /** Sets the capacity, at most the length of the part. */
    protected final void setCapacity(int capacity) {
        slack = partLength() - capacity;
    }

    @Override
    public final int capacity() {
        return super.capacity() - slack;
    }

    @Override
    public final boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public final ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
        if (PlatformDependent.hasUnsafe() && dst.hasMemoryAddress()) {
            checkDstIndex(index, length, dstIndex, dst.capacity());
            PlatformDependent.copyMemory(memoryAddress() + index, dst.memoryAddress() + dstIndex, length);
            return this;
        }
        return super.getBytes(index, dst, dstIndex, length);
    }

    @Override
    public final ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
        if (PlatformDependent.hasUnsafe() && src.hasMemoryAddress()) {
            checkSrcIndex(index, length, srcIndex, src.capacity());
            PlatformDependent.copyMemory(src.memoryAddress() + srcIndex, memoryAddress() + index, length);
            return this;
        }
        return super.setBytes(index, src, srcIndex, length);
    }

    @Override
    public final byte getByte(int index) {
        checkIndex(index, 1);
        return _getByte(index);
    }

    @Override
    public final short getShort(int index) {
        checkIndex(index, 2);
        return _getShort(index);
    }

    @Override
    public final short getShortLE(int index) {
        checkIndex(index, 2);
        return _getShortLE(index);
    }

    @Override
    public final int getUnsignedMedium(int index) {
        checkIndex(index, 3);
        return _getUnsignedMedium(index);
    }

    @Override
    public final int getUnsignedMediumLE(int index) {
        checkIndex(index, 3);
        return _getUnsignedMediumLE(index);
    }

    @Override
    public final int getInt(int index) {
        checkIndex(index, 4);
        return _getInt(index);
    }

    @Override
    public final int getIntLE(int index) {
        checkIndex(index, 4);
        return _getIntLE(index);
    }

    @Override
    public final long getLong(int index) {
        checkIndex(index, 8);
        return _getLong(index);
    }

    @Override
    public final long getLongLE(int index) {
        checkIndex(index, 8);
        return _getLongLE(index);
    }

    @Override
    public final ByteBuf setByte(int index, int value) {
        checkIndex(index, 1);
        _setByte(index, value);
        return this;
    }

    @Override
    public final ByteBuf setShort(int index, int value) {
        checkIndex(index, 2);
        _setShort(index, value);
        return this;
    }

    @Override
    public final ByteBuf setShortLE(int index, int value) {
        checkIndex(index, 2);
        _setShortLE(index, value);
        return this;
    }

    @Override
    public final ByteBuf setMedium(int index, int value) {
        checkIndex(index, 3);
        _setMedium(index, value);
        return this;
    }

    @Override
    public final ByteBuf setMediumLE(int index, int value) {
        checkIndex(index, 3);
        _setMediumLE(index, value);
        return this;
    }

    @Override
    public final ByteBuf setInt(int index, int value) {
        checkIndex(index, 4);
        _setInt(index, value);
        return this;
    }

    @Override
    public final ByteBuf setIntLE(int index, int value) {
        checkIndex(index, 4);
        _setIntLE(index, value);
        return this;
    }

    @Override
    public final ByteBuf setLong(int index, long value) {
        checkIndex(index, 8);
        _setLong(index, value);
        return this;
    }

    @Override
    public final ByteBuf setLongLE(int index, long value) {
        checkIndex(index, 8);
        _setLongLE(index, value);
        return this;
    }
}
