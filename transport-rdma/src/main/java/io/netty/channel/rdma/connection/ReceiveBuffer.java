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
import io.netty.channel.rdma.memory.DeviceContext;
import io.netty.channel.rdma.memory.MemoryRange;
import io.netty.channel.rdma.memory.PageMemory;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.stream.ReceiveArea;
import io.netty.channel.rdma.stream.TargetSgl;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.PlatformDependent;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A part of the {@link ReceiveMemory} of one connection, with a memory region of its own. The first part also contains
 * the target SGL, at its end. The peer can access nothing else.
 *
 * <p>The pipeline gets parts of it ({@link ReceivedByteBuf}). Until its release, each of them holds its segment back
 * from the peer, and keeps the memory and its registration, so that it can be sent on in place. Its release may come
 * after the end of the connection.
 */
final class ReceiveBuffer extends ReceiveArea implements TargetSgl {
    private static final AtomicIntegerFieldUpdater<ReceiveBuffer> REFERENCES =
            AtomicIntegerFieldUpdater.newUpdater(ReceiveBuffer.class, "references");

    private static final VarHandle INT =
            MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());
    private static final boolean UNSAFE = PlatformDependent.hasUnsafe();
    private static final int ENTRY_KEY = 8;
    private static final int ENTRY_LENGTH = 12;

    private final ReceiveMemory owner;
    private final PageMemory memory;
    private final MemoryRange range;
    private final ByteBuffer sgl;
    private final int sglOffset;
    /** The index of the first message in {@link #messages()}. */
    final int messagesOffset;
    private final int sglEntries;
    private final Segment[] segments;
    private int heldSegments;
    private volatile int references = 1;

    private ReceiveBuffer(ReceiveMemory owner, PageMemory memory, MemoryRange range, int key, int segmentCount,
                          int segmentLength, int sglEntries, int messageBytes) {
        super(range.address, key, segmentCount, segmentLength);
        this.owner = owner;
        this.memory = memory;
        this.range = range;
        this.sglEntries = sglEntries;
        // At the end, on the page that the embedded provider writes at a registration, on kernels before 6.11.
        sglOffset = (int) range.length - sglEntries * ENTRY_SIZE;
        messagesOffset = sglOffset - messageBytes;
        sgl = memory.buffer().duplicate().order(ByteOrder.nativeOrder());
        segments = new Segment[segmentCount];
        for (int i = 0; i < segmentCount; i++) {
            segments[i] = new Segment(i, memory.buffer());
        }
    }

    /**
     * Allocates and registers the memory.
     *
     * @param segmentLength   a multiple of 8.
     * @param sglEntries entries of the target SGL, which is at the end.
     * @param outgoingEntries entries for the peer's target SGL that may be in flight. They are behind the segments.
     * @param messageBytes bytes of messages that may arrive by SENDs. They are between the two.
     * @param needed          see {@link PinnedMemory}.
     * @return {@code null} if there would be too much registered memory.
     */
    static ReceiveBuffer create(ReceiveMemory owner, int segmentCount, int segmentLength, int sglEntries,
                                int outgoingEntries, int messageBytes, boolean needed) throws VerbsException {
        int bytes = segmentCount * segmentLength + (sglEntries + outgoingEntries) * TargetSgl.ENTRY_SIZE +
                messageBytes;
        if (!PinnedMemory.PROCESS.reserve(bytes, needed)) {
            return null;
        }
        PageMemory memory = null;
        MemoryRange range = null;
        try {
            memory = PageMemory.map(bytes);
            if (owner.device.iwarp) {
                // On iWARP a completion does not tell how many bytes the peer has written. If the peer lies about that,
                // the application must not get bytes that another connection has left.
                PlatformDependent.setMemory(memory.address(), bytes, (byte) 0);
            }
            range = new MemoryRange(memory.address(), bytes,
                    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE, "receive buffer");
            int key = range.region(owner.device).rkey();
            ReceiveBuffer buffer = new ReceiveBuffer(owner, memory, range, key, segmentCount, segmentLength,
                    sglEntries, messageBytes);
            owner.counters.receiveMemory(bytes);
            return buffer;
        } catch (Throwable t) {
            if (range != null) {
                range.close();
            }
            if (memory != null) {
                memory.close();
            }
            PinnedMemory.PROCESS.release(bytes);
            throw t;
        }
    }

    Segment segment(int index) {
        return segments[index];
    }

    /** The number of segments of which the application keeps nothing. */
    int unheldSegments() {
        return segments.length - heldSegments;
    }

    long sglAddress() {
        return range.address + sglOffset;
    }

    @Override
    public int entries() {
        return sglEntries;
    }

    @Override
    public int length(int entry) {
        return (int) INT.getAcquire(sgl, entryOffset(entry) + ENTRY_LENGTH);
    }

    @Override
    public long address(int entry) {
        return sgl.getLong(entryOffset(entry));
    }

    @Override
    public int key(int entry) {
        return sgl.getInt(entryOffset(entry) + ENTRY_KEY);
    }

    @Override
    public void clearLength(int entry) {
        sgl.putInt(entryOffset(entry) + ENTRY_LENGTH, 0);
    }

    /** Stores an entry for the peer's target SGL and returns its address. */
    long outgoingEntry(int index, long head, long tail) {
        int offset = segments.length * segmentLength() + index * ENTRY_SIZE;
        sgl.putLong(offset, head).putLong(offset + 8, tail);
        return range.address + offset;
    }

    /** Address at which messages arrive. */
    long messagesAddress() {
        return range.address + messagesOffset;
    }

    /** The memory in which messages arrive, in the byte order of this host. */
    ByteBuffer messages() {
        return sgl;
    }

    /** The local key of the memory. */
    int lkey() throws VerbsException {
        return range.region(owner.device).lkey();
    }

    private int entryOffset(int entry) {
        return sglOffset + entry * ENTRY_SIZE;
    }

    /** Releases a reference. The connection releases its own when no queue pair can write here any more. */
    void release() {
        if (REFERENCES.decrementAndGet(this) == 0) {
            int bytes = (int) range.length;
            range.close();
            memory.close();
            PinnedMemory.PROCESS.release(bytes);
            owner.counters.receiveMemory(-bytes);
        }
    }

    /** A part of the memory that is offered to the peer, and returned, as a unit. */
    final class Segment implements RequestMemory, Runnable {
        private static final AtomicIntegerFieldUpdater<Segment> HOLDS =
                AtomicIntegerFieldUpdater.newUpdater(Segment.class, "holds");

        private final int index;
        private final ByteBuffer view;
        /**
         * The number of buffers from this segment that are not released, plus one while it may get more bytes. Changed
         * by any thread.
         */
        private volatile int holds;
        /** The application keeps a part of the segment. */
        boolean held;
        int readIndex;
        int writeIndex;
        boolean filled;

        private Segment(int index, ByteBuffer memory) {
            this.index = index;
            view = memory.slice(index * segmentLength(), segmentLength());
        }

        /** The memory that contains the segment. */
        ByteBuffer memory() {
            return memory.buffer();
        }

        /** The offset of the segment in {@link #memory()}. */
        int memoryOffset() {
            return index * segmentLength();
        }

        /** Appends bytes of the segment to a buffer. */
        void copyTo(ByteBuf buf, int offset, int length) {
            if (UNSAFE && buf.hasMemoryAddress()) {
                int index = buf.writerIndex();
                // Throws if there is no room.
                buf.writerIndex(index + length);
                PlatformDependent.copyMemory(address(offset), buf.memoryAddress() + index, length);
            } else {
                buf.writeBytes(view.limit(offset + length).position(offset));
            }
        }

        long address(int offset) {
            return segmentAddress(index) + offset;
        }

        @Override
        public MemoryRange range() {
            return range;
        }

        @Override
        public boolean contains(long start, int bytes) {
            return range.contains(start, bytes);
        }

        /** Begins the segment, because its first bytes have arrived. */
        void begin() {
            readIndex = 0;
            writeIndex = 0;
            filled = false;
            held = false;
            holds = 1;
        }

        /** Holds the segment for a buffer of the application. */
        void hold() {
            if (!held) {
                held = true;
                heldSegments++;
                owner.addHeld(segmentLength());
            }
            retain();
        }

        /**
         * Holds the segment for another buffer of the application, or for a work request that sends one. Any thread.
         */
        @Override
        public Segment retain() {
            HOLDS.incrementAndGet(this);
            REFERENCES.incrementAndGet(ReceiveBuffer.this);
            return this;
        }

        @Override
        public boolean tryRetain() {
            for (int count = holds; count > 0; count = holds) {
                if (HOLDS.compareAndSet(this, count, count + 1)) {
                    REFERENCES.incrementAndGet(ReceiveBuffer.this);
                    return true;
                }
            }
            return false;
        }

        /** Releases the hold of a buffer of the application, or of a work request. Any thread. */
        @Override
        public boolean release() {
            boolean unused = HOLDS.decrementAndGet(this) == 0;
            if (unused && owner.loop().isHere()) {
                run();
            } else if (unused) {
                owner.loop().execute(this);
            }
            ReceiveBuffer.this.release();
            return unused;
        }

        @Override
        public int refCnt() {
            return holds;
        }

        /** Ends the segment: all its bytes have arrived and were delivered. */
        void end() {
            if (HOLDS.decrementAndGet(this) == 0) {
                run();
            }
        }

        /** Frees the segment, which has no users any more. On the loop. */
        @Override
        public void run() {
            if (held) {
                held = false;
                heldSegments--;
                owner.addHeld(-segmentLength());
            }
            ReceiveBuffer.this.release(index);
            owner.segmentFreed();
        }
    }
}
