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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.PlatformDependent;

/**
 * Received bytes, where they arrived: a part of a segment of a {@link LandingBuffer}. It has a reference count of its
 * own, because handlers take a count above one as a sign that somebody else reads the buffer, and copy it.
 */
final class LandedByteBuf extends UnpooledDirectByteBuf {
    private final LandingBuffer.Segment segment;
    private final MemoryRange range;
    private final long address;
    private int slack;

    LandedByteBuf(ByteBufAllocator allocator, LandingBuffer buffer, LandingBuffer.Segment segment, int offset,
            int length) {
        super(allocator, segment.bytes(offset, length), length);
        this.segment = segment;
        range = buffer.range();
        address = segment.address(offset);
        segment.hold();
    }

    /** The registered memory that it is part of. */
    MemoryRange range() {
        return range;
    }

    @Override
    public int capacity() {
        return super.capacity() - slack;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        slack = super.capacity() - newCapacity;
        return this;
    }

    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
        if (PlatformDependent.hasUnsafe() && dst.hasMemoryAddress()) {
            checkDstIndex(index, length, dstIndex, dst.capacity());
            PlatformDependent.copyMemory(address + index, dst.memoryAddress() + dstIndex, length);
            return this;
        }
        return super.getBytes(index, dst, dstIndex, length);
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        segment.unhold();
    }
}
