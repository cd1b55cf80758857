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

    private final Map<Integer, List<Mapping>> mappings = new HashMap<>();
    private Mapping unused;
    private int used;

    /** A mapping. */
    static final class Mapping {
        private final long address;
        private final int length;
        private final int runs;
        private final ByteBuffer memory;
        /** Runs without an owner: a bit for each. */
        private long free;
        /** Runs without an owner whose memory may not be zero. */
        private long used;

        private Mapping(long address, int length, int runs, ByteBuffer memory) {
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
            Mapping mapping = bytes > MAX_BYTES ? map(bytes, 1) : withRoom(bytes + PAGE - 1 & -PAGE);
            int run = Long.numberOfTrailingZeros(mapping.free & ~mapping.used);
            int offset = run * mapping.length;
            PageMemory memory =
                    new PageMemory(this, mapping, run, mapping.address + offset, mapping.memory.slice(offset, bytes));
            mapping.free &= ~(1L << run);
            if (mapping == unused) {
                unused = null;
            }
            return memory;
        }
    }

    private Mapping withRoom(int length) {
        List<Mapping> ofLength = mappings.computeIfAbsent(length, key -> new ArrayList<>());
        Mapping mapping = find(ofLength);
        if (mapping == null && used > 0) {
            clearUsed();
            mapping = find(ofLength);
        }
        if (mapping == null) {
            int runs = 0;
            for (Mapping other : ofLength) {
                runs += other.runs;
            }
            mapping = map(length, Math.min(MAX_RUNS, Math.max(MIN_RUNS, runs)));
            ofLength.add(mapping);
        }
        return mapping;
    }

    private static Mapping find(List<Mapping> ofLength) {
        for (int i = ofLength.size() - 1; i >= 0; i--) {
            Mapping mapping = ofLength.get(i);
            if ((mapping.free & ~mapping.used) != 0) {
                return mapping;
            }
        }
        return null;
    }

    private static Mapping map(int length, int runs) {
        int bytes = length * runs;
        long address = PageMemory.map0(bytes);
        if (address < 0) {
            throw new OutOfMemoryError("mmap of " + bytes + " bytes: errno " + -address +
                    "; see the limits vm.max_map_count and ulimit -v");
        }
        ByteBuffer memory = null;
        try {
            memory = PageMemory.buffer0(address, bytes);
            return new Mapping(address, length, runs, memory);
        } finally {
            if (memory == null) {
                PageMemory.unmap0(address, bytes);
            }
        }
    }

    synchronized void giveBack(Mapping mapping, int run) {
        mapping.free |= 1L << run;
        if (mapping.length > MAX_BYTES) {
            unmap(mapping);
            return;
        }
        mapping.used |= 1L << run;
        used++;
        if (mapping.isUnused()) {
            if (unused != null) {
                remove(unused);
            }
            unused = mapping;
        }
        if (used > MAX_USED) {
            clearUsed();
        }
    }

    private void remove(Mapping mapping) {
        used -= Long.bitCount(mapping.used);
        List<Mapping> ofLength = mappings.get(mapping.length);
        ofLength.remove(mapping);
        if (ofLength.isEmpty()) {
            mappings.remove(mapping.length);
        }
        unmap(mapping);
    }

    private static void unmap(Mapping mapping) {
        PageMemory.unmap0(mapping.address, mapping.length * mapping.runs);
    }

    private void clearUsed() {
        for (List<Mapping> ofLength : mappings.values()) {
            for (Mapping mapping : ofLength) {
                clear(mapping);
            }
        }
        used = 0;
    }

    private static void clear(Mapping mapping) {
        while (mapping.used != 0) {
            int first = Long.numberOfTrailingZeros(mapping.used);
            int count = Long.numberOfTrailingZeros(~(mapping.used >>> first));
            PageMemory.clear0(mapping.address + (long) first * mapping.length, count * mapping.length);
            mapping.used &= ~(-1L >>> Long.SIZE - count << first);
        }
    }

    /** Returns the bytes of the mappings that are cut into runs. */
    synchronized long mappedBytes() {
        long bytes = 0;
        for (List<Mapping> ofLength : mappings.values()) {
            for (Mapping mapping : ofLength) {
                bytes += (long) mapping.length * mapping.runs;
            }
        }
        return bytes;
    }
}
