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

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.channel.rdma.memory.CellPool;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.util.internal.StringUtil;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * A {@link ByteBufAllocator} whose direct buffers lie in memory that is registered with the RDMA devices, so that the
 * adapter sends from them in place. The default allocator of the RDMA channels.
 *
 * <p>Memory is registered in slabs of 16 MiB, as needed and at most {@link #maxPinnedMemory()} bytes. For the {@link
 * #DEFAULT} allocator that is the system property {@code io.netty.rdma.maxPinnedMemory}, in bytes (default: half of the
 * maximum direct memory). All other registered memory of the process counts against it, too. Slabs are kept until the
 * last event loop for RDMA has ended; then each slab of the {@link #DEFAULT} allocator is given back to the system when
 * its last buffer is released. Some buffers come from {@link ByteBufAllocator#DEFAULT}: heap buffers, direct buffers
 * above 4 MiB, and all if the bound is reached or no more memory can be registered. They work as well, but sending them
 * costs a copy.
 *
 * <p>Thread-safe. Event loop threads have a small cache of their own, which is taken back when memory runs out.
 */
public final class RdmaByteBufAllocator extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    /** The allocator that RDMA channels use unless told otherwise. */
    public static final RdmaByteBufAllocator DEFAULT = new RdmaByteBufAllocator(
            new PinnedMemory(PinnedMemory.PROCESS.max(), 0, PinnedMemory.PROCESS));

    private final ByteBufAllocator fallback = ByteBufAllocator.DEFAULT;
    private final Metric metric = new Metric();
    private final CellPool pool;

    /**
     * Creates an allocator with slabs of its own, which do not count against {@code io.netty.rdma.maxPinnedMemory}.
     *
     * @param maxPinnedMemory the most memory to register, in bytes; 0 or more, rounded down to whole slabs of 16 MiB.
     */
    public RdmaByteBufAllocator(long maxPinnedMemory) {
        this(budget(maxPinnedMemory));
    }

    RdmaByteBufAllocator(long maxPinnedMemory, int slabOrder) {
        super(true);
        pool = new CellPool(this, budget(maxPinnedMemory), slabOrder);
    }

    private RdmaByteBufAllocator(PinnedMemory budget) {
        super(true);
        pool = new CellPool(this, budget);
    }

    private static PinnedMemory budget(long maxPinnedMemory) {
        return new PinnedMemory(checkPositiveOrZero(maxPinnedMemory, "maxPinnedMemory"), 0, null);
    }

    /** Sets whether unused slabs stay registered, which they do while there are event loops. */
    void keepUnusedSlabs(boolean keep) {
        pool.keepUnusedSlabs(keep);
    }

    // The inherited methods return heap buffers if direct memory can't be freed reliably. Slabs are kept in any case.

    @Override
    public ByteBuf buffer() {
        return directBuffer();
    }

    @Override
    public ByteBuf buffer(int initialCapacity) {
        return directBuffer(initialCapacity);
    }

    @Override
    public ByteBuf buffer(int initialCapacity, int maxCapacity) {
        return directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return fallback.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        ByteBuf buf = pool.newBuffer(initialCapacity, maxCapacity, false);
        if (buf != null) {
            return PartialByteBuf.tracked(buf);
        }
        pool.countFallback();
        return fallback.directBuffer(initialCapacity, maxCapacity);
    }

    /**
     * A buffer in a slab, without leak detection, or {@code null} if it would be too large or the slabs are used up.
     */
    ByteBuf newRegisteredBuffer(int initialCapacity, int maxCapacity) {
        return pool.newBuffer(initialCapacity, maxCapacity, true);
    }

    /** Makes sure that there is some registered memory; returns false if there can't be. */
    boolean reserve() {
        return pool.reserve();
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /** The bound of {@link #pinnedMemory()}, in bytes. */
    public long maxPinnedMemory() {
        return pool.maxPinnedMemory();
    }

    /** The bytes of memory that this allocator has registered so far. */
    public long pinnedMemory() {
        return pool.pinnedMemory();
    }

    /**
     * The number of direct buffers that came from ordinary memory so far, because they were too large or the bound was
     * reached.
     */
    public long fallbackAllocations() {
        return pool.fallbackAllocations();
    }

    /** {@code usedDirectMemory()} is the part of {@link #pinnedMemory()} that buffers or threads' caches hold. */
    @Override
    public ByteBufAllocatorMetric metric() {
        return metric;
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + "(used: " + pool.usedBytes() + ", pinned: " + pinnedMemory() +
                ", at most: " + maxPinnedMemory() + ')';
    }

    private final class Metric implements ByteBufAllocatorMetric {
        @Override
        public long usedHeapMemory() {
            return 0;
        }

        @Override
        public long usedDirectMemory() {
            return pool.usedBytes();
        }
    }
}
