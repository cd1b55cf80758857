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

/**
 * Received bytes, where they arrived: a part of a segment of a {@link LandingBuffer}. It has a reference count of its
 * own, because handlers take a count above one as a sign that somebody else reads the buffer, and copy it.
 */
final class LandedByteBuf extends PartialByteBuf {
    private final LandingBuffer.Segment segment;
    private final long address;

    LandedByteBuf(ByteBufAllocator allocator, LandingBuffer.Segment segment, int offset, int length) {
        super(allocator, segment.view(offset, length), length);
        this.segment = segment;
        address = segment.address(offset);
        segment.hold();
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
        super.deallocate();
        segment.release();
    }
}
