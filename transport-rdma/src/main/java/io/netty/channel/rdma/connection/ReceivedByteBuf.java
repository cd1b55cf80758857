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
import io.netty.channel.rdma.memory.DirectMemory;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.util.Recycler;
import io.netty.util.ReferenceCounted;

import java.nio.ByteBuffer;

/**
 * Received bytes where they arrived: a part of a segment of a {@link ReceiveBuffer}. It has a reference count of its
 * own, because some handlers copy a buffer whose count is above one. The object is recycled for later arrivals.
 *
 * <p>Handlers append to buffers that they read, so it can grow. The bytes behind its part belong to the next arrival.
 * So its bytes then move to a buffer of the allocator, and the segment is given back.
 */
final class ReceivedByteBuf extends PartialByteBuf {
    private static final Recycler<ReceivedByteBuf> RECYCLER = new Recycler<>() {
        @Override
        protected ReceivedByteBuf newObject(Handle<ReceivedByteBuf> handle) {
            return new ReceivedByteBuf(handle);
        }
    };

    private final Recycler.Handle<ReceivedByteBuf> handle;
    /** {@code null} if the bytes have moved. */
    private ReceiveBuffer.Segment segment;
    /** The buffer to which the bytes have moved, or {@code null}. */
    private ByteBuf moved;
    private long address;

    private ReceivedByteBuf(Recycler.Handle<ReceivedByteBuf> handle) {
        this.handle = handle;
    }

    /** Returns a buffer with bytes of the segment, all of them readable. */
    static ReceivedByteBuf of(ByteBufAllocator allocator, ReceiveBuffer.Segment segment, int offset, int length) {
        ReceivedByteBuf buf = RECYCLER.get();
        buf.setPart(segment.memory(), segment.memoryOffset() + offset, length);
        buf.begin(allocator, length, Integer.MAX_VALUE);
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
        if (newCapacity > partLength()) {
            move(newCapacity);
        } else if (newCapacity < capacity()) {
            trimIndicesToCapacity(newCapacity);
        }
        setCapacity(newCapacity);
        return this;
    }

    private void move(int newCapacity) {
        ByteBuf target = alloc().directBuffer(newCapacity);
        ByteBuffer memory = target.nioBuffer(0, newCapacity).slice();
        getBytes(0, memory.duplicate().limit(capacity()));
        setPart(memory, 0, newCapacity);
        address = DirectMemory.address(memory);
        releaseMemory();
        moved = target;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    @Override
    protected void deallocate() {
        // A recycled object must not keep the memory of a connection that has ended.
        setPart(null, 0, 0);
        releaseMemory();
        handle.recycle(this);
    }

    private void releaseMemory() {
        ReferenceCounted released = moved == null ? segment : moved;
        segment = null;
        moved = null;
        released.release();
    }
}
