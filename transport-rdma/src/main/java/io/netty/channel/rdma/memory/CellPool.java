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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.FastThreadLocalThread;
import io.netty.util.internal.PlatformDependent;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Buffers in registered slabs, behind an allocator or {@link Staging}: the slabs, the caches of the threads, and the
 * number of buffers that had to come from ordinary memory. Thread-safe.
 */
public final class CellPool {
    private static final int DEFAULT_SLAB_ORDER = 24;
    private static final long RECLAIM_NANOS = 10_000_000;
    /** Memory is registered in pieces of this size. */
    public static final int SLAB_SIZE = 1 << DEFAULT_SLAB_ORDER;

    private final ByteBufAllocator allocator;
    private final LongAdder fallbackAllocations = new LongAdder();
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
     * @param allocator the one that the buffers' {@code alloc()} returns.
     * @param budget    limit of registered memory, which only this pool uses.
     */
    public CellPool(ByteBufAllocator allocator, PinnedMemory budget) {
        this(allocator, budget, DEFAULT_SLAB_ORDER);
    }

    /** @param slabOrder slabs have {@code 2^slabOrder} bytes. */
    public CellPool(ByteBufAllocator allocator, PinnedMemory budget, int slabOrder) {
        this.allocator = allocator;
        this.budget = budget;
        arena = new SlabArena(slabOrder, budget);
    }

    /**
     * Returns a buffer in a slab, without leak detection; {@code null} if it is too large or the slabs are used up.
     *
     * @param needed whether the caller can't use other memory.
     */
    public ByteBuf newBuffer(int initialCapacity, int maxCapacity, boolean needed) {
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
        ByteBuf buf = null;
        try {
            buf = new CellByteBuf(this, allocator, cell, initialCapacity, maxCapacity);
            return buf;
        } finally {
            if (buf == null) {
                cell.release();
            }
        }
    }

    /**
     * Frees the buffers in the caches of all threads, some of which may be unused for long. Does so at most once in 10
     * ms, because a lasting shortage would empty the caches each time.
     *
     * @return whether there were any.
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

    /**
     * Sets whether unused slabs stay, which is the default. Otherwise a slab is freed with its last buffer, even if
     * that is in the cache of a thread that is ending.
     */
    public void keepUnusedSlabs(boolean keep) {
        arena.keepUnused(keep);
        if (!keep) {
            reclaimAll();
        }
    }

    /** Returns the bytes of registered memory that are unused, and those that may still be registered. */
    long availableMemory() {
        return budget.used() - arena.usedBytes() + Math.max(0, budget.available());
    }

    /** Makes sure that there is a slab. Returns false if there is no memory for it. */
    public boolean reserve() {
        return arena.reserve();
    }

    /** Registers the present slabs with another device. Later slabs are registered with all devices. */
    void register(DeviceContext device) throws VerbsException {
        arena.register(device);
    }

    /** Counts a buffer that had to come from ordinary memory. */
    public void countFallback() {
        fallbackAllocations.increment();
    }

    /** Number of buffers that came from ordinary memory so far. */
    public long fallbackAllocations() {
        return fallbackAllocations.sum();
    }

    /** Returns memory for a buffer that outgrew its cell. */
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
        // A cell that work requests still use must not be allocated again.
        CellCache cache = cell.isPooled() && cell.refCnt() == 1 ? cache() : null;
        if (cache == null || !cache.offer(buf)) {
            cell.release();
        } else if (!arena.keepsUnused()) {
            cache.reclaim();
        }
    }

    /** Bytes that may be registered. */
    public long maxPinnedMemory() {
        return budget.max();
    }

    /** Bytes that are registered. */
    public long pinnedMemory() {
        return budget.used();
    }

    /** The part of {@link #pinnedMemory()} that buffers or threads' caches hold. */
    public long usedBytes() {
        return arena.usedBytes();
    }

    /** Returns the thread's cache; {@code null} if the thread would leak it, without {@code onRemoval} at its end. */
    private CellCache cache() {
        return FastThreadLocalThread.currentThreadWillCleanupFastThreadLocals() ? caches.get() : null;
    }

    private static int order(int length) {
        return length <= 1 << Slab.MIN_ORDER ? Slab.MIN_ORDER : 32 - Integer.numberOfLeadingZeros(length - 1);
    }
}
