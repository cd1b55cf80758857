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

import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.Arrays;

/**
 * The slabs of one allocator, added one by one up to a limit. Thread-safe by one lock, with the threads' caches in
 * front.
 */
final class SlabArena {
    private static final InternalLogger logger = InternalLoggerFactory.getInstance(SlabArena.class);

    private static final long RETRY_NANOS = 1_000_000_000;

    private final int slabOrder;
    private final PinnedMemory budget;
    private Slab[] slabs = new Slab[0];
    /** False if a slab is freed with its last cell. */
    private volatile boolean keepsUnused = true;
    private boolean failed;
    private long retryNanos;
    private volatile long usedBytes;

    /** @param budget only this arena uses it, so it tells how much is registered. */
    SlabArena(int slabOrder, PinnedMemory budget) {
        this.slabOrder = slabOrder;
        this.budget = budget;
    }

    /** The largest cell: a quarter of a slab, so that a few large buffers can't use a slab up. */
    int maxCellOrder() {
        return slabOrder - 2;
    }

    /** Returns a cell of {@code 2^order} bytes, or {@code null} at the limit. */
    synchronized Cell allocate(int order) {
        for (Slab slab : slabs) {
            int offset = slab.allocate(order);
            if (offset >= 0) {
                return use(slab, offset, order);
            }
        }
        Slab slab = grow(false);
        return slab == null ? null : use(slab, slab.allocate(order), order);
    }

    private Cell use(Slab slab, int offset, int order) {
        usedBytes += 1L << order;
        Cell cell = null;
        try {
            cell = new Cell(this, slab, offset, order);
            slab.enter(cell, offset);
            return cell;
        } finally {
            if (cell == null) {
                free(slab, offset, order);
            }
        }
    }

    private Slab grow(boolean needed) {
        if (failed && System.nanoTime() - retryNanos < 0 || !budget.reserve(1L << slabOrder, needed)) {
            return null;
        }
        Slab slab = null;
        try {
            // A caller that needs the slab registers it itself, to get the exception if that fails.
            slab = needed ? new Slab(slabOrder) : registered(new Slab(slabOrder));
        } catch (VerbsException e) {
            fail("Another slab of memory can't be registered: raise the limit of locked memory (ulimit -l), or lower " +
                    "-Dio.netty.rdma.maxPinnedMemory.", e);
            return null;
        } catch (OutOfMemoryError e) {
            fail("No direct memory for another registered slab: raise -XX:MaxDirectMemorySize, or lower " +
                    "-Dio.netty.rdma.maxPinnedMemory.", e);
            return null;
        } catch (UnsatisfiedLinkError e) {
            fail("There is no registered memory without Netty's native library.", e);
            return null;
        } finally {
            if (slab == null) {
                budget.release(1L << slabOrder);
            }
        }
        RegisteredRanges.add(slab);
        slabs = Arrays.copyOf(slabs, slabs.length + 1);
        slabs[slabs.length - 1] = slab;
        return slab;
    }

    /** Registers a slab with the devices in use. A slab that can't be registered is no better than ordinary memory. */
    private static Slab registered(Slab slab) throws VerbsException {
        try {
            for (DeviceContext device : DeviceContext.all()) {
                slab.range.region(device);
            }
            return slab;
        } catch (Throwable t) {
            slab.destroy();
            throw t;
        }
    }

    /** Registers all slabs with another device. */
    synchronized void register(DeviceContext device) throws VerbsException {
        for (Slab slab : slabs) {
            slab.range.region(device);
        }
    }

    /**
     * Notes a failure. Memory may become free, so allocation is tried again, but not each time, because a failure is
     * slow.
     */
    private void fail(String message, Throwable cause) {
        retryNanos = System.nanoTime() + RETRY_NANOS;
        if (!failed) {
            failed = true;
            logger.warn("{} So far there are {} bytes. Further buffers are taken from an ordinary allocator, and " +
                    "copied when they are sent.", message, budget.used(), cause);
        }
    }

    /** Makes sure that there is at least one slab. Returns false if there is no memory for it. */
    synchronized boolean reserve() {
        return slabs.length > 0 || grow(true) != null;
    }

    /** Sets whether slabs without cells in use stay. */
    synchronized void keepUnused(boolean keep) {
        keepsUnused = keep;
        endUnused();
    }

    boolean keepsUnused() {
        return keepsUnused;
    }

    private void endUnused() {
        if (keepsUnused) {
            return;
        }
        Slab[] unused = Arrays.stream(slabs).filter(Slab::isUnused).toArray(Slab[]::new);
        slabs = Arrays.stream(slabs).filter(slab -> !slab.isUnused()).toArray(Slab[]::new);
        for (Slab slab : unused) {
            RegisteredRanges.remove(slab);
            slab.destroy();
            budget.release(1L << slabOrder);
        }
    }

    synchronized void free(Slab slab, int offset, int order) {
        slab.free(offset, order);
        usedBytes -= 1L << order;
        endUnused();
    }

    /** Returns the bytes in cells that buffers or threads' caches hold. */
    long usedBytes() {
        return usedBytes;
    }
}
