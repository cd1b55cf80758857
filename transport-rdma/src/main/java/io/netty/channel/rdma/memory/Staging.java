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
 * Registered memory of one event loop for bytes that can't be sent in place: each is copied here once, and stays
 * until the device has sent it.
 *
 * <p>It comes from a pool of its own, at most {@code io.netty.rdma.maxStagingMemory} bytes (a system property;
 * default 64 MiB) for the process, that holds nothing but bytes in flight. So a shortage ends by itself, whatever the
 * application keeps of the other registered memory.
 *
 * <p>But bytes in flight to a peer that has stopped stay for as long as it takes to notice. So that such peers can't
 * hold all of it, a connection may hold one part in {@value #SHARES}, and less when there is less: with half of the
 * memory left, a quarter of that. With n connections that hold all they may, 1 / (1 + n / {@value #SHARES}) of the
 * memory is left. One that has nothing in flight gets a small piece in any case. On the loop only.
 */
public final class Staging {
    /**
     * Long pieces are cut into chunks of this size, so that the device sends one while the next one is being copied.
     */
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
     * Makes sure that there is some that the device can send from, before its first connection may need it.
     *
     * @throws IOException if there is no memory for it, or if it can't be registered.
     */
    public static void reserve(DeviceContext device) throws IOException {
        if (!POOL.reserve()) {
            throw PinnedMemory.PROCESS.exhausted("no registered memory to send from", "-XX:MaxDirectMemorySize");
        }
        POOL.register(device);
    }

    /** Sets whether what is not in use stays registered, as while there are event loops. Any thread. */
    public static void keepUnusedSlabs(boolean keep) {
        POOL.keepUnusedSlabs(keep);
    }

    /** The longest {@link #buffer}. */
    public static final int MAX_BUFFER = CellPool.SLAB_SIZE / 4;

    /** A whole buffer for one message, or {@code null} if there is none left. */
    public static ByteBuf buffer(int length) {
        return POOL.newBuffer(length, length, true);
    }

    public static long pinnedMemory() {
        return POOL.pinnedMemory();
    }

    /**
     * A buffer with some room for (a part of) a piece of this length, to be appended to and retained for the work
     * request; or {@code null} if there is none left for this connection.
     *
     * @param held bytes of staging memory that the connection has in flight.
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

    /** Gives back the end of the shared buffer, from this index on, which is not needed any more. */
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
