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
import io.netty.channel.rdma.memory.MemoryInFlight;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.channel.rdma.stream.SendQueue;

/** Contents of the send work requests in flight of one connection, by the numbers of a {@link SendQueue}. */
final class SendRing {
    /** Idle connections have nothing in flight, and most others little. */
    private static final int FIRST_PLACES = 4;

    private final SendQueue queue;
    private final int mask;
    /** As many as there were ever in flight at a time, in powers of two. */
    private int[] lengths = new int[FIRST_PLACES];
    /** True if nothing refers to the bytes of the request any more once it is posted. */
    private boolean[] copied = new boolean[FIRST_PLACES];
    private ByteBuf[] staging = new ByteBuf[FIRST_PLACES];
    private final MemoryInFlight inPlace = new MemoryInFlight();
    private long staged;
    /** The number of the oldest request whose messages are not complete. */
    private long incomplete;

    /** @param depth the most requests in flight. */
    SendRing(SendQueue queue, int depth) {
        this.queue = queue;
        mask = capacity(depth) - 1;
    }

    /** Number of places for requests, a power of two. */
    static int capacity(int depth) {
        return 1 << 32 - Integer.numberOfLeadingZeros(depth - 1);
    }

    private int place(long sequence) {
        return (int) sequence & lengths.length - 1;
    }

    private void grow(long next) {
        int places = lengths.length * 2;
        int[] newLengths = new int[places];
        boolean[] newCopied = new boolean[places];
        ByteBuf[] newStaging = new ByteBuf[places];
        for (long sequence = queue.oldest(); sequence < next; sequence++) {
            int to = (int) sequence & places - 1;
            newLengths[to] = lengths[place(sequence)];
            newCopied[to] = copied[place(sequence)];
            newStaging[to] = staging[place(sequence)];
        }
        lengths = newLengths;
        copied = newCopied;
        staging = newStaging;
    }

    /**
     * Enters the latest request. Takes over the reference to the staging buffer, which may be {@code null}.
     *
     * @param isCopied whether nothing refers to the bytes any more once the request is posted.
     */
    void add(long sequence, int length, ByteBuf stagingBuffer, boolean isCopied) {
        long before = sequence - queue.oldest();
        assert sequence == queue.next() - 1 && before <= mask;
        if (before >= lengths.length) {
            grow(sequence);
        }
        int i = place(sequence);
        lengths[i] = length;
        copied[i] = isCopied;
        if (stagingBuffer != null && (before == 0 || staging[place(sequence - 1)] != stagingBuffer)) {
            staged += stagingBuffer.capacity();
        }
        staging[i] = stagingBuffer;
    }

    /** Takes over a reference to memory that the next request sends in place. */
    void sendInPlace(RequestMemory memory) {
        inPlace.add(queue.next(), memory);
    }

    /** There will be no next request with what was to be sent {@linkplain #sendInPlace in place}. */
    void discardNext() {
        inPlace.releaseFrom(queue.next());
    }

    /** Returns whether requests read memory in place. */
    boolean isInPlace() {
        return !inPlace.isEmpty();
    }

    /** Bytes of staging memory that are kept for what is in flight; what successive requests share counts once. */
    long staged() {
        return staged;
    }

    /** A place of the request, less than the capacity, that no other in flight has. */
    int index(long sequence) {
        return (int) sequence & mask;
    }

    /**
     * The messages of requests are complete that are done, and of those behind them whose bytes are copied.
     *
     * @param done the number of the last request that is known to be done, or less.
     * @return how many bytes of messages these requests carry, without those that were complete before.
     */
    long complete(long done) {
        long bytes = 0;
        long next = queue.next();
        for (; incomplete < next && (incomplete <= done || copied[place(incomplete)]); incomplete++) {
            bytes += lengths[place(incomplete)];
        }
        return bytes;
    }

    /** The request, the oldest one that was not removed, is done and {@linkplain #complete complete}. */
    void remove(long sequence) {
        int i = place(sequence);
        ByteBuf buf = staging[i];
        inPlace.releaseUntil(sequence);
        if (buf != null) {
            staging[i] = null;
            if (sequence + 1 == queue.next() || staging[place(sequence + 1)] != buf) {
                staged -= buf.capacity();
            }
            buf.release();
        }
    }
}
