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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.util.Recycler;

/**
 * Received bytes, where they arrived: a part of a segment of a {@link LandingBuffer}. It has a reference count of its
 * own, because handlers take a count above one as a sign that somebody else reads the buffer, and copy it. The object
 * is used again for what arrives later.
 */
final class LandedByteBuf extends PartialByteBuf {
    private static final Recycler<LandedByteBuf> RECYCLER = new Recycler<>() {
        @Override
        protected LandedByteBuf newObject(Handle<LandedByteBuf> handle) {
            return new LandedByteBuf(handle);
        }
    };

    private final Recycler.Handle<LandedByteBuf> handle;
    private LandingBuffer.Segment segment;
    private long address;

    private LandedByteBuf(Recycler.Handle<LandedByteBuf> handle) {
        this.handle = handle;
    }

    /** A buffer of bytes of the segment, all of them readable. */
    static LandedByteBuf of(ByteBufAllocator allocator, LandingBuffer.Segment segment, int offset, int length) {
        LandedByteBuf buf = RECYCLER.get();
        buf.setPart(segment.memory(), segment.memoryOffset() + offset, length);
        buf.begin(allocator, length, length);
        buf.writerIndex(length);
        buf.address = segment.address(offset);
        buf.segment = segment;
        segment.hold();
        return buf;
    }

    @Override
    protected RequestMemory memory() {
        return segment;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        setCapacity(newCapacity);
        return this;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    @Override
    protected void deallocate() {
        LandingBuffer.Segment released = segment;
        segment = null;
        // Not to keep the memory of a connection that has ended.
        setPart(null, 0, 0);
        handle.recycle(this);
        released.release();
    }
}
