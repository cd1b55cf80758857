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
import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.PlatformDependent;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;

/**
 * A buffer over a part of larger memory, whose address is known and whose capacity may be less than the part. After its
 * release the object can be used for another part.
 *
 * <p>It does not extend Netty's {@code UnpooledUnsafeDirectByteBuf}, which is unusable without {@code sun.misc.Unsafe}
 * (JDK 24 and later, by default). If Netty has {@code Unsafe}, copies use it. It does not extend {@code
 * UnpooledDirectByteBuf} either, which makes a {@link ByteBuffer} for each part. The memory continues behind the part,
 * so each access is checked against the capacity.
 */
public abstract class PartialByteBuf extends AbstractReferenceCountedByteBuf {
    private static final int MAX_CHUNK = 8 << 10;

    private ByteBufAllocator allocator;
    /** The larger memory, with its limit at the end. */
    private ByteBuffer memory;
    private int offset;
    private int partLength;
    private int capacity;
    /** The view that {@link #internalNioBuffer} returns. */
    private ByteBuffer internal;

    protected PartialByteBuf() {
        super(0);
    }

    /** Adds leak detection to a buffer. The buffer is released if there is no memory for it. */
    public static ByteBuf tracked(ByteBuf buf) {
        try {
            return LeakTracking.tracked(buf);
        } catch (Throwable t) {
            buf.release();
            throw t;
        }
    }

    /** Gives access to the leak detection of Netty's allocators, which is protected. */
    private abstract static class LeakTracking extends AbstractByteBufAllocator {
        static ByteBuf tracked(ByteBuf buf) {
            return toLeakAwareBuffer(buf);
        }
    }

    /** Returns the larger memory that the buffer is part of. May be {@code null} after the release of the buffer. */
    protected abstract RequestMemory memory();

    /** Makes the buffer usable, for the first time or after a release: empty, with one reference. */
    protected final void begin(ByteBufAllocator newAllocator, int newCapacity, int newMaxCapacity) {
        allocator = newAllocator;
        capacity = newCapacity;
        maxCapacity(newMaxCapacity);
        resetRefCnt();
        setIndex(0, 0);
        markReaderIndex();
        markWriterIndex();
    }

    /** Sets the part. */
    protected final void setPart(ByteBuffer newMemory, int newOffset, int length) {
        if (memory != newMemory) {
            memory = newMemory;
            internal = null;
        }
        offset = newOffset;
        partLength = length;
    }

    /** The length of the part. */
    protected final int partLength() {
        return partLength;
    }

    /** Sets the capacity, at most the length of the part. */
    protected final void setCapacity(int newCapacity) {
        capacity = newCapacity;
    }

    @Override
    public final int capacity() {
        return capacity;
    }

    @Override
    public final ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    @Deprecated
    public final ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    @Override
    public final ByteBuf unwrap() {
        return null;
    }

    @Override
    public final boolean isDirect() {
        return true;
    }

    @Override
    public final boolean isContiguous() {
        return true;
    }

    @Override
    public final boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public final boolean hasArray() {
        return false;
    }

    @Override
    public final byte[] array() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public final int arrayOffset() {
        throw new UnsupportedOperationException("direct buffer");
    }

    // ---- values, whose index was checked

    @Override
    protected final byte _getByte(int index) {
        return memory.get(offset + index);
    }

    @Override
    protected final short _getShort(int index) {
        return memory.getShort(offset + index);
    }

    @Override
    protected final short _getShortLE(int index) {
        return Short.reverseBytes(_getShort(index));
    }

    @Override
    protected final int _getUnsignedMedium(int index) {
        return (_getByte(index) & 0xff) << 16 | _getShort(index + 1) & 0xffff;
    }

    @Override
    protected final int _getUnsignedMediumLE(int index) {
        return _getShortLE(index) & 0xffff | (_getByte(index + 2) & 0xff) << 16;
    }

    @Override
    protected final int _getInt(int index) {
        return memory.getInt(offset + index);
    }

    @Override
    protected final int _getIntLE(int index) {
        return Integer.reverseBytes(_getInt(index));
    }

    @Override
    protected final long _getLong(int index) {
        return memory.getLong(offset + index);
    }

    @Override
    protected final long _getLongLE(int index) {
        return Long.reverseBytes(_getLong(index));
    }

    @Override
    protected final void _setByte(int index, int value) {
        memory.put(offset + index, (byte) value);
    }

    @Override
    protected final void _setShort(int index, int value) {
        memory.putShort(offset + index, (short) value);
    }

    @Override
    protected final void _setShortLE(int index, int value) {
        _setShort(index, Short.reverseBytes((short) value));
    }

    @Override
    protected final void _setMedium(int index, int value) {
        _setByte(index, value >>> 16);
        _setShort(index + 1, value);
    }

    @Override
    protected final void _setMediumLE(int index, int value) {
        _setShortLE(index, value);
        _setByte(index + 2, value >>> 16);
    }

    @Override
    protected final void _setInt(int index, int value) {
        memory.putInt(offset + index, value);
    }

    @Override
    protected final void _setIntLE(int index, int value) {
        _setInt(index, Integer.reverseBytes(value));
    }

    @Override
    protected final void _setLong(int index, long value) {
        memory.putLong(offset + index, value);
    }

    @Override
    protected final void _setLongLE(int index, long value) {
        _setLong(index, Long.reverseBytes(value));
    }

    // ---- many bytes

    @Override
    public final ByteBuf getBytes(int index, ByteBuf dst, int dstIndex, int length) {
        checkDstIndex(index, length, dstIndex, dst.capacity());
        if (PlatformDependent.hasUnsafe() && dst.hasMemoryAddress()) {
            PlatformDependent.copyMemory(memoryAddress() + index, dst.memoryAddress() + dstIndex, length);
        } else if (dst.hasArray()) {
            memory.get(offset + index, dst.array(), dst.arrayOffset() + dstIndex, length);
        } else {
            dst.setBytes(dstIndex, nioBuffer(index, length));
        }
        return this;
    }

    @Override
    public final ByteBuf getBytes(int index, byte[] dst, int dstIndex, int length) {
        checkDstIndex(index, length, dstIndex, dst.length);
        memory.get(offset + index, dst, dstIndex, length);
        return this;
    }

    @Override
    public final ByteBuf getBytes(int index, ByteBuffer dst) {
        int length = dst.remaining();
        checkIndex(index, length);
        dst.put(dst.position(), memory, offset + index, length).position(dst.position() + length);
        return this;
    }

    @Override
    public final ByteBuf getBytes(int index, OutputStream out, int length) throws IOException {
        checkIndex(index, length);
        byte[] chunk = new byte[Math.min(length, MAX_CHUNK)];
        for (int done = 0; done < length;) {
            int n = Math.min(chunk.length, length - done);
            memory.get(offset + index + done, chunk, 0, n);
            out.write(chunk, 0, n);
            done += n;
        }
        return this;
    }

    @Override
    public final int getBytes(int index, GatheringByteChannel out, int length) throws IOException {
        return length == 0 ? 0 : out.write(nioBuffer(index, length));
    }

    @Override
    public final int getBytes(int index, FileChannel out, long position, int length) throws IOException {
        return length == 0 ? 0 : out.write(nioBuffer(index, length), position);
    }

    @Override
    public final ByteBuf setBytes(int index, ByteBuf src, int srcIndex, int length) {
        checkSrcIndex(index, length, srcIndex, src.capacity());
        if (PlatformDependent.hasUnsafe() && src.hasMemoryAddress()) {
            PlatformDependent.copyMemory(src.memoryAddress() + srcIndex, memoryAddress() + index, length);
        } else if (src.hasArray()) {
            memory.put(offset + index, src.array(), src.arrayOffset() + srcIndex, length);
        } else {
            src.getBytes(srcIndex, nioBuffer(index, length));
        }
        return this;
    }

    @Override
    public final ByteBuf setBytes(int index, byte[] src, int srcIndex, int length) {
        checkSrcIndex(index, length, srcIndex, src.length);
        memory.put(offset + index, src, srcIndex, length);
        return this;
    }

    @Override
    public final ByteBuf setBytes(int index, ByteBuffer src) {
        int length = src.remaining();
        checkIndex(index, length);
        memory.put(offset + index, src, src.position(), length);
        src.position(src.position() + length);
        return this;
    }

    @Override
    public final int setBytes(int index, InputStream in, int length) throws IOException {
        checkIndex(index, length);
        byte[] chunk = new byte[Math.min(length, MAX_CHUNK)];
        int n = in.read(chunk);
        if (n > 0) {
            memory.put(offset + index, chunk, 0, n);
        }
        return n;
    }

    @Override
    public final int setBytes(int index, ScatteringByteChannel in, int length) throws IOException {
        try {
            return in.read(nioBuffer(index, length));
        } catch (ClosedChannelException e) {
            // As Netty's buffers do.
            return -1;
        }
    }

    @Override
    public final int setBytes(int index, FileChannel in, long position, int length) throws IOException {
        try {
            return in.read(nioBuffer(index, length), position);
        } catch (ClosedChannelException e) {
            return -1;
        }
    }

    @Override
    public final ByteBuf copy(int index, int length) {
        checkIndex(index, length);
        return alloc().directBuffer(length, maxCapacity()).writeBytes(this, index, length);
    }

    @Override
    public final int nioBufferCount() {
        return 1;
    }

    @Override
    public final ByteBuffer nioBuffer(int index, int length) {
        checkIndex(index, length);
        return memory.slice(offset + index, length);
    }

    @Override
    public final ByteBuffer[] nioBuffers(int index, int length) {
        return new ByteBuffer[] { nioBuffer(index, length) };
    }

    @Override
    public final ByteBuffer internalNioBuffer(int index, int length) {
        checkIndex(index, length);
        if (internal == null) {
            internal = memory.duplicate();
        }
        return internal.clear().position(offset + index).limit(offset + index + length);
    }
}
