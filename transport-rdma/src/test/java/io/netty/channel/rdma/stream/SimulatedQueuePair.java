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
package io.netty.channel.rdma.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a reliable connection and the memory registered for it. Work requests wait in order until the test
 * delivers them; a message that finds no receive posted waits too, as one that is refused with RNR and retried for ever
 * does.
 */
final class SimulatedQueuePair {
    private static final class WorkRequest {
        final long id;
        final boolean hasImmediate;
        final int immediate;
        final long address;
        final int key;
        final byte[] bytes;
        final boolean signalled;

        WorkRequest(long id, boolean hasImmediate, int immediate, long address, int key, byte[] bytes,
                    boolean signalled) {
            this.id = id;
            this.hasImmediate = hasImmediate;
            this.immediate = immediate;
            this.address = address;
            this.key = key;
            this.bytes = bytes;
            this.signalled = signalled;
        }
    }

    private static final class Region {
        final long base;
        final byte[] memory;

        Region(long base, byte[] memory) {
            this.base = base;
            this.memory = memory;
        }
    }

    /** A completion: of a send if {@code receive} is false. */
    record Completion(boolean receive, long id, int immediate, int bytes) {
    }

    private final int sendDepth;
    private final int receiveDepth;
    private final ArrayDeque<WorkRequest> sends = new ArrayDeque<>();
    private final ArrayDeque<Completion> completions = new ArrayDeque<>();
    private final Map<Integer, Region> regions = new HashMap<>();
    private SimulatedQueuePair peer;
    private long nextBase = 0x10_0000;
    private int nextKey = 7;
    private long posted;
    private long reaped;
    private int receives;
    /** Data messages that were posted by the peer and not yet polled here. */
    private int dataUnderWay;
    private int mostDataUnderWay;

    SimulatedQueuePair(int sendDepth, int receiveDepth) {
        this.sendDepth = sendDepth;
        this.receiveDepth = receiveDepth;
        receives = receiveDepth;
    }

    static void connect(SimulatedQueuePair a, SimulatedQueuePair b) {
        a.peer = b;
        b.peer = a;
    }

    /** Registers memory for remote write. */
    int register(byte[] memory) {
        int key = nextKey;
        nextKey += 13;
        regions.put(key, new Region(nextBase, memory));
        // A hole between regions, so that a write past the end of one never hits another.
        nextBase += memory.length + 0x1000;
        return key;
    }

    long address(int key) {
        return regions.get(key).base;
    }

    void deregister(int key) {
        regions.remove(key);
    }

    void post(long id, int immediate, long address, int key, byte[] bytes, boolean signalled) {
        post(new WorkRequest(id, true, immediate, address, key, bytes, signalled));
        if (Immediate.type(immediate) == Immediate.DATA) {
            peer.dataUnderWay++;
            peer.mostDataUnderWay = Math.max(peer.mostDataUnderWay, peer.dataUnderWay);
        }
    }

    void postWithoutImmediate(long id, boolean signalled) {
        post(new WorkRequest(id, false, 0, 0, 0, new byte[0], signalled));
    }

    private void post(WorkRequest request) {
        assertThat(posted - reaped).as("send queue").isLessThan(sendDepth);
        posted++;
        sends.add(request);
    }

    /** Delivers the oldest work request to the peer. False if there is none, or the peer has no receive for it. */
    boolean deliver() {
        WorkRequest request = sends.peek();
        if (request == null || request.hasImmediate && peer.receives == 0) {
            return false;
        }
        sends.remove();
        if (request.bytes.length > 0) {
            peer.write(request);
        }
        if (request.hasImmediate) {
            peer.receives--;
            peer.completions.add(new Completion(true, 0, request.immediate, request.bytes.length));
        }
        if (request.signalled) {
            completions.add(new Completion(false, request.id, request.immediate, 0));
        }
        return true;
    }

    private void write(WorkRequest request) {
        Region region = regions.get(request.key);
        assertThat(region).as("remote key %d", request.key).isNotNull();
        long offset = request.address - region.base;
        assertThat(offset).as("remote address").isBetween(0L, (long) region.memory.length - request.bytes.length);
        System.arraycopy(request.bytes, 0, region.memory, (int) offset, request.bytes.length);
    }

    Completion poll() {
        Completion completion = completions.poll();
        if (completion == null) {
            return null;
        }
        if (!completion.receive) {
            reaped = completion.id + 1;
        } else if (Immediate.type(completion.immediate) == Immediate.DATA) {
            dataUnderWay--;
        }
        return completion;
    }

    void postReceive() {
        receives++;
        assertThat(receives).as("receive queue").isLessThanOrEqualTo(receiveDepth);
    }

    /** Number of receives that were polled and are not posted again. */
    int missingReceives() {
        return receiveDepth - receives - (int) completions.stream().filter(Completion::receive).count();
    }

    int mostDataUnderWay() {
        return mostDataUnderWay;
    }

    /** A target SGL over an array, in the given byte order. */
    static final class ArraySgl implements TargetSgl {
        final byte[] memory;
        private final ByteBuffer buffer;
        private int looks;

        ArraySgl(int entries, ByteOrder order) {
            memory = new byte[entries * ENTRY_SIZE];
            buffer = ByteBuffer.wrap(memory).order(order);
        }

        @Override
        public int entries() {
            return memory.length / ENTRY_SIZE;
        }

        @Override
        public int length(int entry) {
            looks++;
            return buffer.getInt(entry * ENTRY_SIZE + 12);
        }

        @Override
        public long address(int entry) {
            return buffer.getLong(entry * ENTRY_SIZE);
        }

        @Override
        public int key(int entry) {
            return buffer.getInt(entry * ENTRY_SIZE + 8);
        }

        @Override
        public void clearLength(int entry) {
            buffer.putInt(entry * ENTRY_SIZE + 12, 0);
        }

        /** Number of the owner's looks at an entry. */
        int looks() {
            return looks;
        }

        void set(int entry, long address, int key, int length) {
            buffer.putLong(entry * ENTRY_SIZE, address);
            buffer.putInt(entry * ENTRY_SIZE + 8, key);
            buffer.putInt(entry * ENTRY_SIZE + 12, length);
        }
    }
}
