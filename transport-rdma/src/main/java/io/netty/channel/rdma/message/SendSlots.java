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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.memory.MemoryInFlight;
import io.netty.util.ReferenceCounted;

import java.util.ArrayList;
import java.util.List;

/**
 * The operations in flight of one channel, by the numbers of their work requests, with the memory that the device uses
 * until they are done. The slots keep references, so the channel may drop its messages meanwhile.
 *
 * <p>On the loop of the channel.
 */
final class SendSlots {
    final RdmaMessageMetrics metrics;
    private final int mask;
    private final RdmaOperation[] operations;
    private final boolean[] retained;
    private final int[] lengths;
    private final Throwable[] failures;
    private final ByteBuf[] staging;
    private final MemoryInFlight inPlace = new MemoryInFlight();
    private final List<Copy>[] copies;
    private long first;
    private long next;
    /** All requests before this number have completed. */
    private long done;

    /**
     * @param depth the most that are in flight.
     * @param metrics that count them.
     */
    @SuppressWarnings({ "unchecked", "rawtypes" })
    SendSlots(int depth, RdmaMessageMetrics metrics) {
        this.metrics = metrics;
        int size = 1 << 32 - Integer.numberOfLeadingZeros(depth - 1);
        mask = size - 1;
        operations = new RdmaOperation[size];
        retained = new boolean[size];
        lengths = new int[size];
        failures = new Throwable[size];
        staging = new ByteBuf[size];
        copies = new List[size];
    }

    /** Bytes that were read into staging memory, and where they belong. */
    private record Copy(ByteBuf to, int index, int length) { }

    int size() {
        return (int) (next - first);
    }

    boolean isEmpty() {
        return first == next;
    }

    /** The number of the next work request. */
    long next() {
        return next;
    }

    /**
     * Enters the next work request.
     *
     * @param operation {@code null} for a work request that nobody waits for. Retained by the caller until it is
     *         removed, unless it is not posted.
     * @param failure if it is not posted, else {@code null}.
     */
    void add(RdmaOperation operation, Throwable failure) {
        int i = (int) next & mask;
        operations[i] = operation;
        failures[i] = failure;
        retained[i] = operation != null && failure == null;
        if (retained[i]) {
            operation.posted();
        }
        lengths[i] = retained[i] ? operation.length() : 0;
        next++;
    }

    void staging(long id, ByteBuf buf) {
        staging[(int) id & mask] = buf;
    }

    /** Takes over a reference to memory that the work request uses in place. */
    void addMemory(long id, ReferenceCounted used) {
        inPlace.add(id, used);
    }

    void addCopy(long id, ByteBuf to, int index, int length) {
        int i = (int) id & mask;
        if (copies[i] == null) {
            copies[i] = new ArrayList<>(1);
        }
        copies[i].add(new Copy(to, index, length));
    }

    /** Notes that a work request has completed, and with it all before. */
    void completed(long id, Throwable failure) {
        if (id >= first && id < next) {
            done = Math.max(done, id + 1);
            failures[(int) id & mask] = failure;
        }
    }

    /** Notes the cause for operations from this one on, which were not posted. */
    void notPosted(long id, Throwable cause) {
        for (long i = Math.max(id, first); i < next; i++) {
            failures[(int) i & mask] = cause;
        }
        done = next;
    }

    /** Returns whether the oldest one has completed, or was never posted. */
    boolean isFirstDone() {
        return first < next && (first < done || failures[(int) first & mask] != null);
    }

    /** The operation of a work request in flight, or {@code null}. */
    RdmaOperation operation(long id) {
        return id >= first && id < next ? operations[(int) id & mask] : null;
    }

    /** The oldest operation, or {@code null} if nobody waits for it. */
    RdmaOperation first() {
        return operations[(int) first & mask];
    }

    /** The reason why the oldest operation failed, or {@code null}. */
    Throwable firstFailure() {
        return failures[(int) first & mask];
    }

    /** Copies the result of the oldest operation, which has succeeded, to the application's memory or the operation. */
    void finishFirst() {
        int i = (int) first & mask;
        if (copies[i] != null) {
            int from = 0;
            for (Copy copy : copies[i]) {
                copy.to.setBytes(copy.index, staging[i], from, copy.length);
                from += copy.length;
            }
        }
        RdmaOperation operation = operations[i];
        if (operation != null) {
            operation.completed(lengths[i]);
            if (operation instanceof ValueOperation && ((ValueOperation) operation).isKept() &&
                    lengths[i] == Long.BYTES) {
                ((ValueOperation) operation).yields(ValueOperation.number(staging[i], 0));
            }
        }
    }

    /** Removes the oldest one and gives back what it needed. */
    void removeFirst() {
        int i = (int) first & mask;
        RdmaOperation operation = operations[i];
        if (operation != null && isFirstDone()) {
            if (failures[i] == null) {
                metrics.completed(operation.kind(), lengths[i]);
            } else {
                metrics.failed();
            }
        }
        operations[i] = null;
        failures[i] = null;
        inPlace.releaseUntil(first);
        releaseStaging(first);
        first++;
        if (retained[i]) {
            operation.returned();
            operation.release();
        }
    }

    /** Releases the memory of the next work request, which is not entered. */
    void discardNext() {
        inPlace.releaseFrom(next);
        releaseStaging(next);
    }

    private void releaseStaging(long id) {
        int i = (int) id & mask;
        copies[i] = null;
        if (staging[i] != null) {
            staging[i].release();
            staging[i] = null;
        }
    }

    /** The queue pair is gone. */
    void release() {
        while (!isEmpty()) {
            removeFirst();
        }
    }
}
