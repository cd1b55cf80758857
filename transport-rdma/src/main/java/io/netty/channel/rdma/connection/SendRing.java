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

/** The contents of one connection's send work requests in flight, by the numbers of a {@link SendQueue}. */
final class SendRing {
    /** Idle connections have nothing in flight, and most others little. */
    private static final int FIRST_PLACES = 4;

    private final SendQueue queue;
    private final int mask;
    /** The bytes of each request; as many places as requests were ever in flight, rounded to a power of two. */
    private int[] lengths = new int[FIRST_PLACES];
    /** True if nothing refers to the bytes of the request after its post. */
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
     * @param isCopied whether nothing refers to the bytes after the post of the request.
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

    /** Drops the memory of a next request that is not made, which was to be sent {@linkplain #sendInPlace in place}. */
    void discardNext() {
        inPlace.releaseFrom(queue.next());
    }

    /** Returns whether requests read memory in place. */
    boolean isInPlace() {
        return !inPlace.isEmpty();
    }

    /** Bytes of staging memory for requests in flight. A buffer that successive requests share counts once. */
    long staged() {
        return staged;
    }

    /** Returns a place for the request, less than the capacity, that no other request in flight has. */
    int index(long sequence) {
        return (int) sequence & mask;
    }

    /**
     * Completes the messages of requests that are done, and of the requests behind them whose bytes are copied.
     *
     * @param done the number of the last request that is known to be done, or less.
     * @return the bytes of messages in these requests, without those that were complete before.
     */
    long complete(long done) {
        long bytes = 0;
        long next = queue.next();
        for (; incomplete < next && (incomplete <= done || copied[place(incomplete)]); incomplete++) {
            bytes += lengths[place(incomplete)];
        }
        return bytes;
    }

    /** Removes a request, the oldest one, which is done and {@linkplain #complete complete}. */
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
