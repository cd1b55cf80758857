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
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.StringUtil;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

/**
 * A {@link ByteBufAllocator} whose direct buffers lie in memory that is registered with the RDMA devices, so that the
 * adapter sends from them in place. The default allocator of the RDMA channels.
 *
 * <p>Memory is registered in slabs of 16 MiB, as needed and at most {@link #maxPinnedMemory()} bytes. For the {@link
 * #DEFAULT} allocator that is the system property {@code io.netty.rdma.maxPinnedMemory}, in bytes (default: half of the
 * maximum direct memory), of which all other registered memory of the process is taken too. Slabs are never given
 * back to the system. Heap buffers, direct buffers above 4 MiB and those requested at the bound, or when no more
 * memory can be registered, come from {@link ByteBufAllocator#DEFAULT}: they work as well, but sending them costs a
 * copy.
 *
 * <p>Thread-safe. Event loop threads have a small cache of their own, which is taken back when memory runs out.
 */
public final class RdmaByteBufAllocator extends AbstractByteBufAllocator implements ByteBufAllocatorMetricProvider {
    private static final int DEFAULT_SLAB_ORDER = 24;
    private static final long RECLAIM_NANOS = 10_000_000;
    /** Memory is registered in pieces of this size. */
    static final int SLAB_SIZE = 1 << DEFAULT_SLAB_ORDER;

    /**
     * The allocator that RDMA channels use unless told otherwise.
     */
    public static final RdmaByteBufAllocator DEFAULT = new RdmaByteBufAllocator(
            new PinnedMemory(PinnedMemory.PROCESS.max(), 0, PinnedMemory.PROCESS), DEFAULT_SLAB_ORDER);

    private final ByteBufAllocator fallback = ByteBufAllocator.DEFAULT;
    private final LongAdder fallbackAllocations = new LongAdder();
    private final Metric metric = new Metric();
    private final PinnedMemory budget;
    private final SlabArena arena;
    private final Set<CellCache> allCaches = ConcurrentHashMap.newKeySet();
    private final AtomicLong nextReclaimNanos = new AtomicLong(System.nanoTime());
    private final FastThreadLocal<CellCache> caches = new FastThreadLocal<CellCache>() {
        @Override
        protected CellCache initialValue() {
            CellCache cache = new CellCache(Slab.MIN_ORDER, arena.maxCellOrder());
            allCaches.add(cache);
            return cache;
        }

        @Override
        protected void onRemoval(CellCache cache) {
            allCaches.remove(cache);
            cache.reclaim();
        }
    };

    /**
     * Creates an allocator with slabs of its own, which do not count against {@code io.netty.rdma.maxPinnedMemory}.
     *
     * @param maxPinnedMemory the most memory to register, in bytes; 0 or more, rounded down to whole slabs of 16 MiB.
     */
    public RdmaByteBufAllocator(long maxPinnedMemory) {
        this(maxPinnedMemory, DEFAULT_SLAB_ORDER);
    }

    RdmaByteBufAllocator(long maxPinnedMemory, int slabOrder) {
        this(new PinnedMemory(checkPositiveOrZero(maxPinnedMemory, "maxPinnedMemory"), 0, null), slabOrder);
    }

    RdmaByteBufAllocator(PinnedMemory budget) {
        this(budget, DEFAULT_SLAB_ORDER);
    }

    private RdmaByteBufAllocator(PinnedMemory budget, int slabOrder) {
        super(true);
        this.budget = budget;
        arena = new SlabArena(slabOrder, budget);
    }

    // The inherited methods give heap buffers where direct memory can't be freed reliably. Slabs never are.

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
        ByteBuf buf = newRegisteredBuffer(initialCapacity, maxCapacity, false);
        if (buf != null) {
            return toLeakAwareBuffer(buf);
        }
        fallbackAllocations.increment();
        return fallback.directBuffer(initialCapacity, maxCapacity);
    }

    /**
     * A buffer in a slab, without leak detection, or {@code null} if it would be too large or the slabs are used up.
     */
    ByteBuf newRegisteredBuffer(int initialCapacity, int maxCapacity) {
        return newRegisteredBuffer(initialCapacity, maxCapacity, true);
    }

    /** @param needed whether no other memory will do. */
    private ByteBuf newRegisteredBuffer(int initialCapacity, int maxCapacity, boolean needed) {
        int order = order(initialCapacity);
        if (order > arena.maxCellOrder()) {
            return null;
        }
        CellCache cache = cache();
        CellByteBuf cached = cache == null ? null : cache.poll(order);
        if (cached != null) {
            return cached.reuse(initialCapacity, maxCapacity);
        }
        Cell cell = arena.allocate(order);
        if (cell == null && (needed ? reclaimAll() : reclaim())) {
            cell = arena.allocate(order);
        }
        if (cell == null) {
            return null;
        }
        return new CellByteBuf(this, cell, initialCapacity, maxCapacity);
    }

    /**
     * Takes back what the caches of all threads hold, some of which may not have been used for long; but not again and
     * again while there is too little for all.
     *
     * @return whether there was something.
     */
    boolean reclaim() {
        long now = System.nanoTime();
        long next = nextReclaimNanos.get();
        return now - next >= 0 && nextReclaimNanos.compareAndSet(next, now + RECLAIM_NANOS) && reclaimAll();
    }

    private boolean reclaimAll() {
        boolean some = false;
        for (CellCache cache : allCaches) {
            some |= cache.reclaim();
        }
        return some;
    }

    /** Registered memory that nobody uses, and that may be registered yet, in bytes. */
    long availableMemory() {
        return budget.used() - arena.usedBytes() + Math.max(0, budget.available());
    }

    /** Makes sure that there is some registered memory; returns false if there can't be. */
    boolean reserve() {
        return arena.reserve();
    }

    /** Registers what there is with another device. What is added later is registered with all of them. */
    void register(DeviceContext device) throws VerbsException {
        arena.register(device);
    }

    /** Leak detection for a buffer that is not from here. */
    static ByteBuf track(ByteBuf buf) {
        return toLeakAwareBuffer(buf);
    }

    /** Memory for a buffer that outgrew its cell. */
    Cell newCell(int length) {
        int order = order(length);
        Cell cell = order > arena.maxCellOrder() ? null : arena.allocate(order);
        if (cell == null) {
            fallbackAllocations.increment();
            return new Cell(PlatformDependent.allocateDirect(length));
        }
        return cell;
    }

    void recycle(CellByteBuf buf) {
        Cell cell = buf.cell();
        // What work requests still use must not begin another life.
        CellCache cache = cell.isPooled() && cell.refCnt() == 1 ? cache() : null;
        if (cache == null || !cache.offer(buf)) {
            cell.release();
        }
    }

    /** Only for threads that call {@code onRemoval} when they end: a cache of any other would leak. */
    private CellCache cache() {
        return FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals() ? caches.get() : null;
    }

    private static int order(int length) {
        return length <= 1 << Slab.MIN_ORDER ? Slab.MIN_ORDER : 32 - Integer.numberOfLeadingZeros(length - 1);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    /**
     * The bound of {@link #pinnedMemory()}, in bytes.
     */
    public long maxPinnedMemory() {
        return budget.max();
    }

    /**
     * The bytes of memory that this allocator has registered so far.
     */
    public long pinnedMemory() {
        return budget.used();
    }

    /**
     * How many direct buffers came from ordinary memory so far, because they were too large or the bound was reached.
     */
    public long fallbackAllocations() {
        return fallbackAllocations.sum();
    }

    /**
     * {@code usedDirectMemory()} is the part of {@link #pinnedMemory()} that buffers or threads' caches hold.
     */
    @Override
    public ByteBufAllocatorMetric metric() {
        return metric;
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + "(used: " + arena.usedBytes() + ", pinned: " + pinnedMemory() +
                ", at most: " + maxPinnedMemory() + ')';
    }

    private final class Metric implements ByteBufAllocatorMetric {
        @Override
        public long usedHeapMemory() {
            return 0;
        }

        @Override
        public long usedDirectMemory() {
            return arena.usedBytes();
        }
    }
}
