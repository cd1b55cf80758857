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

import java.io.IOException;

/**
 * Registered memory of one event loop for bytes that can't be sent in place. They are copied here once, and stay until
 * the device has sent them.
 *
 * <p>The memory comes from a separate pool of the process, which holds only bytes in flight: at most {@code
 * io.netty.rdma.maxStagingMemory} bytes (a system property; default 64 MiB). So a shortage ends by itself, even if the
 * application keeps all other registered memory.
 *
 * <p>Bytes in flight to a peer that has stopped stay until this side notices. To keep such peers from holding all
 * staging memory, a connection may hold one part in {@value #SHARES}, and less when less is left: with half of the
 * memory left, a quarter of this part. With n connections that hold their maximum, 1 / (1 + n / {@value #SHARES}) of
 * the memory is left. A connection with nothing in flight gets a small piece in any case. On the loop only.
 */
public final class Staging {
    /** Long pieces are cut into chunks of this size, so that the device sends one while the next one is copied. */
    public static final int CHUNK = 64 << 10;
    private static final int SHARED = 16 << 10;
    /** Pieces up to this size share a buffer. */
    private static final int MAX_SHARED_PIECE = 4 << 10;

    private static final int SHARES = 64;
    private static final int MIN_PIECE = 4 << 10;

    private static final CellPool POOL = new CellPool(ByteBufAllocator.DEFAULT, new PinnedMemory(
            Math.max(PinnedMemory.size("io.netty.rdma.maxStagingMemory", 64 << 20), 16 << 20), 0,
            PinnedMemory.PROCESS));

    private final CellPool pool;
    private ByteBuf shared;

    public Staging() {
        this(POOL);
    }

    Staging(CellPool pool) {
        this.pool = pool;
    }

    /**
     * Makes sure that there is staging memory registered with the device, before its first connection needs it.
     *
     * @throws IOException if there is no memory for it, or if it can't be registered.
     */
    public static void reserve(DeviceContext device) throws IOException {
        if (!POOL.reserve()) {
            throw PinnedMemory.PROCESS.exhausted("no registered memory to send from", "-XX:MaxDirectMemorySize");
        }
        POOL.register(device);
    }

    /** Sets whether unused memory stays registered, as it does while there are event loops. Any thread. */
    public static void keepUnusedSlabs(boolean keep) {
        POOL.keepUnusedSlabs(keep);
    }

    /** Maximum length of a {@link #buffer}. */
    public static final int MAX_BUFFER = CellPool.SLAB_SIZE / 4;

    /** Returns a whole buffer for one message, or {@code null} if there is none left. */
    public static ByteBuf buffer(int length) {
        return POOL.newBuffer(length, length, true);
    }

    public static long pinnedMemory() {
        return POOL.pinnedMemory();
    }

    /**
     * Returns a buffer with room for (a part of) a piece of this length; or {@code null} if there is none left for this
     * connection. The caller appends the bytes, and retains the buffer for the work request.
     *
     * @param held the bytes of staging memory that the connection has in flight.
     */
    public ByteBuf take(int length, long held) {
        long left = share() - held;
        if (left < CHUNK && pool.reclaim()) {
            left = share() - held;
        }
        if (left < CHUNK) {
            return scarce(length, held, left);
        }
        if (length > MAX_SHARED_PIECE) {
            return pool.newBuffer(CHUNK, CHUNK, true);
        }
        return shared(length);
    }

    private long share() {
        double available = pool.availableMemory();
        return (long) (available * available / pool.maxPinnedMemory() / SHARES);
    }

    private ByteBuf scarce(int length, long held, long left) {
        if (left < MIN_PIECE && held > 0) {
            return null;
        }
        int piece = MIN_PIECE;
        while (piece < length && piece << 1 <= left) {
            piece <<= 1;
        }
        return pool.newBuffer(piece, piece, true);
    }

    private ByteBuf shared(int length) {
        if (shared == null || shared.writableBytes() < length) {
            ByteBuf next = pool.newBuffer(SHARED, SHARED, true);
            if (next == null) {
                return null;
            }
            close();
            shared = next;
        }
        return shared.retain();
    }

    /** Gives back the end of the shared buffer, from this index on. */
    public void rewind(ByteBuf buf, int index) {
        if (buf == shared) {
            buf.writerIndex(index);
        }
    }

    public void close() {
        if (shared != null) {
            shared.release();
            shared = null;
        }
    }
}
