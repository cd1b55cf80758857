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

/**
 * Whole pages from the system. They are zero, and take physical memory only when they are written or a device pins
 * them. Java's direct buffers take all their memory at once, because the JDK fills them with zeroes.
 *
 * <p>Memory of up to {@value PagePool#MAX_BYTES} bytes is a part of a larger mapping: see {@link PagePool}.
 *
 * <p>The one owner closes it when the buffer is not used any more. It does not count as direct memory of the JVM. Any
 * thread.
 */
public final class PageMemory implements AutoCloseable {
    private final PagePool pool;
    private final PagePool.Mapping mapping;
    private final int run;
    private final long address;
    private final ByteBuffer buffer;

    PageMemory(PagePool pool, PagePool.Mapping mapping, int run, long address, ByteBuffer buffer) {
        this.pool = pool;
        this.mapping = mapping;
        this.run = run;
        this.address = address;
        this.buffer = buffer;
    }

    /**
     * @param bytes at least 1.
     * @throws OutOfMemoryError if the system has no more, or no more mappings ({@code vm.max_map_count}).
     */
    public static PageMemory map(int bytes) {
        return PagePool.PROCESS.take(bytes);
    }

    /** Returns the memory, which begins at a page. It must not be accessed after {@link #close()}. */
    public ByteBuffer buffer() {
        return buffer;
    }

    public long address() {
        return address;
    }

    @Override
    public void close() {
        pool.giveBack(mapping, run);
    }

    static native int pageSize0();

    static native long map0(int bytes);

    static native ByteBuffer buffer0(long address, int bytes);

    static native void unmap0(long address, int bytes);

    static native void clear0(long address, int bytes);
}
