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

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Cuts {@link PageMemory} from larger mappings, so that a connection that comes and goes needs no system call for it. A
 * mapping is cut into runs of pages, all of the same length.
 *
 * <p>A run that was given back may have been written, so it is cleared before it is used again. Clearing returns the
 * pages to the kernel, many with one call. At most {@value #MAX_USED} runs wait to be cleared. Unused mappings are
 * unmapped, except one.
 *
 * <p>Any thread; there is one lock.
 */
final class PagePool {
    static final PagePool PROCESS = new PagePool();

    /** The longest run. Longer memory has a mapping of its own. */
    static final int MAX_BYTES = 128 << 10;
    /** Maximum number of runs of a mapping. The first mappings of a length have fewer. */
    static final int MAX_RUNS = Long.SIZE;
    static final int MAX_USED = 64;
    private static final int MIN_RUNS = 4;
    private static final int PAGE = PageMemory.pageSize0();

    private final Map<Integer, List<Slab>> slabs = new HashMap<>();
    private Slab unused;
    private int used;

    /** A mapping. */
    static final class Slab {
        private final long address;
        private final int length;
        private final int runs;
        private final ByteBuffer memory;
        /** Runs without an owner: a bit for each. */
        private long free;
        /** Runs without an owner whose memory may not be zero. */
        private long used;

        private Slab(long address, int length, int runs, ByteBuffer memory) {
            this.address = address;
            this.length = length;
            this.runs = runs;
            this.memory = memory;
            free = all();
        }

        private long all() {
            return -1L >>> Long.SIZE - runs;
        }

        private boolean isUnused() {
            return free == all();
        }
    }

    PageMemory take(int bytes) {
        synchronized (this) {
            Slab slab = bytes > MAX_BYTES ? map(bytes, 1) : withRoom(bytes + PAGE - 1 & -PAGE);
            int run = Long.numberOfTrailingZeros(slab.free & ~slab.used);
            int offset = run * slab.length;
            PageMemory memory =
                    new PageMemory(this, slab, run, slab.address + offset, slab.memory.slice(offset, bytes));
            slab.free &= ~(1L << run);
            if (slab == unused) {
                unused = null;
            }
            return memory;
        }
    }

    private Slab withRoom(int length) {
        List<Slab> ofLength = slabs.computeIfAbsent(length, key -> new ArrayList<>());
        Slab slab = find(ofLength);
        if (slab == null && used > 0) {
            clearUsed();
            slab = find(ofLength);
        }
        if (slab == null) {
            int runs = 0;
            for (Slab other : ofLength) {
                runs += other.runs;
            }
            slab = map(length, Math.min(MAX_RUNS, Math.max(MIN_RUNS, runs)));
            ofLength.add(slab);
        }
        return slab;
    }

    private static Slab find(List<Slab> ofLength) {
        for (int i = ofLength.size() - 1; i >= 0; i--) {
            Slab slab = ofLength.get(i);
            if ((slab.free & ~slab.used) != 0) {
                return slab;
            }
        }
        return null;
    }

    private static Slab map(int length, int runs) {
        int bytes = length * runs;
        long address = PageMemory.map0(bytes);
        if (address < 0) {
            throw new OutOfMemoryError("mmap of " + bytes + " bytes: errno " + -address +
                    "; see the limits vm.max_map_count and ulimit -v");
        }
        ByteBuffer memory = null;
        try {
            memory = PageMemory.buffer0(address, bytes);
            return new Slab(address, length, runs, memory);
        } finally {
            if (memory == null) {
                PageMemory.unmap0(address, bytes);
            }
        }
    }

    synchronized void giveBack(Slab slab, int run) {
        slab.free |= 1L << run;
        if (slab.length > MAX_BYTES) {
            unmap(slab);
            return;
        }
        slab.used |= 1L << run;
        used++;
        if (slab.isUnused()) {
            if (unused != null) {
                remove(unused);
            }
            unused = slab;
        }
        if (used > MAX_USED) {
            clearUsed();
        }
    }

    private void remove(Slab slab) {
        used -= Long.bitCount(slab.used);
        List<Slab> ofLength = slabs.get(slab.length);
        ofLength.remove(slab);
        if (ofLength.isEmpty()) {
            slabs.remove(slab.length);
        }
        unmap(slab);
    }

    private static void unmap(Slab slab) {
        PageMemory.unmap0(slab.address, slab.length * slab.runs);
    }

    private void clearUsed() {
        for (List<Slab> ofLength : slabs.values()) {
            for (Slab slab : ofLength) {
                clear(slab);
            }
        }
        used = 0;
    }

    private static void clear(Slab slab) {
        while (slab.used != 0) {
            int first = Long.numberOfTrailingZeros(slab.used);
            int count = Long.numberOfTrailingZeros(~(slab.used >>> first));
            PageMemory.clear0(slab.address + (long) first * slab.length, count * slab.length);
            slab.used &= ~(-1L >>> Long.SIZE - count << first);
        }
    }

    /** Returns the bytes of the mappings that are cut into runs. */
    synchronized long mappedBytes() {
        long bytes = 0;
        for (List<Slab> ofLength : slabs.values()) {
            for (Slab slab : ofLength) {
                bytes += (long) slab.length * slab.runs;
            }
        }
        return bytes;
    }
}
