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
package io.netty.channel.rdma.valkey;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One end of a simulated connection: an application that sends and receives fixed numbers of bytes, each a function of
 * its position, the memory of this end, and requests on their way to the other end.
 */
abstract class SimulatedEnd {
    static final long BASE = 0x7F00_0000_1000L;
    static final int KEY = 0x0102_0304;

    /** A request on its way. A SEND if the address is {@link #SEND}; without immediate data if it is {@link #EMPTY}. */
    record Request(long id, boolean signalled, long address, int key, int immediate, byte[] bytes) {
    }

    static final long SEND = -1;
    static final long EMPTY = -2;

    /** A completion; of a request of this end if {@code receive} is false. */
    record Completion(boolean receive, long id, boolean sent, int immediate, int bytes) {
    }

    final byte[] memory;
    final int depth;
    final ByteBuffer slots;
    final ArrayDeque<Request> requests = new ArrayDeque<>();
    final ArrayDeque<Completion> completions = new ArrayDeque<>();
    final long toSend;
    final long toReceive;
    SimulatedEnd peer;
    /** A message without a receive waits; otherwise it ends the connection, so the test fails. */
    final boolean retried;
    int receives;
    private int arrivals;
    long sent;
    long received;

    SimulatedEnd(int memoryBytes, int depth, boolean retried, long toSend, long toReceive) {
        memory = new byte[memoryBytes];
        this.depth = depth;
        this.retried = retried;
        this.toSend = toSend;
        this.toReceive = toReceive;
        receives = depth;
        slots = ByteBuffer.allocate(depth * ValkeyMessage.SIZE);
    }

    static byte value(long position) {
        return (byte) (position * 0x9E3779B97F4A7C15L >>> 56);
    }

    static byte[] values(long from, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = value(from + i);
        }
        return bytes;
    }

    void check(int index, int length) {
        for (int i = 0; i < length; i++) {
            if (memory[index + i] != value(received + i)) {
                throw new AssertionError("byte " + (received + i) + " of the stream is wrong");
            }
        }
        received += length;
    }

    /** The oldest request reaches the other end. False if there is none, or it has to wait. */
    boolean deliver() {
        Request request = requests.peek();
        if (request == null) {
            return false;
        }
        if (request.address != EMPTY) {
            if (peer.receives == 0) {
                assertThat(peer.retried).as("no receive is posted, and the receiver has asked for no retries").isTrue();
                return false;
            }
            peer.receives--;
            int slot = peer.arrivals++ % peer.depth;
            boolean send = request.address == SEND;
            if (send) {
                peer.slots.put(slot * ValkeyMessage.SIZE, request.bytes);
            } else {
                long offset = request.address - BASE;
                assertThat(request.key).as("key").isEqualTo(KEY);
                assertThat(offset).as("offset").isBetween(0L, (long) peer.memory.length - request.bytes.length);
                System.arraycopy(request.bytes, 0, peer.memory, (int) offset, request.bytes.length);
            }
            peer.completions.add(new Completion(true, slot, send, request.immediate, request.bytes.length));
        }
        requests.remove();
        if (request.signalled) {
            completions.add(new Completion(false, request.id, false, 0, 0));
        }
        return true;
    }

    /** Writes up to so many bytes as one message. Returns whether there was anything to do. */
    abstract boolean produce(int limit) throws Exception;

    /** Handles up to so many completions. Returns whether there were any. */
    abstract boolean poll(int limit) throws Exception;

    /** The application reads, or gives memory back. Returns whether there was anything to do. */
    abstract boolean consume(Random random, boolean all);

    /** Sends control messages that are due. Returns whether there were any. */
    abstract boolean control();

    abstract void surprise();

    boolean isFinished() {
        return sent == toSend && received == toReceive;
    }

    /** Random steps of both; then each does what there is to do until there is nothing, and all must be done. */
    static void run(SimulatedEnd a, SimulatedEnd b, long seed, int maxWrite, int steps) throws Exception {
        a.peer = b;
        b.peer = a;
        Random random = new Random(seed);
        for (int i = 0; i < steps; i++) {
            SimulatedEnd end = random.nextBoolean() ? a : b;
            switch (random.nextInt(6)) {
            case 0:
                end.produce(1 + random.nextInt(maxWrite));
                break;
            case 1:
                for (int n = random.nextInt(6); n > 0 && end.deliver(); n--) {
                    continue;
                }
                break;
            case 2:
                end.poll(1 + random.nextInt(5));
                break;
            case 3:
                end.consume(random, false);
                break;
            case 4:
                end.control();
                break;
            default:
                if (random.nextInt(20) == 0) {
                    end.surprise();
                }
            }
        }
        boolean did;
        do {
            did = false;
            for (SimulatedEnd end : new SimulatedEnd[] {a, b}) {
                did |= end.produce(maxWrite);
                while (end.deliver()) {
                    did = true;
                }
                did |= end.poll(Integer.MAX_VALUE);
                did |= end.consume(random, true);
                did |= end.control();
            }
        } while (did);
        assertThat(a.isFinished() && b.isFinished()).as("nobody waits for ever; a: %s; b: %s", a, b).isTrue();
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + ", sent " + sent + '/' + toSend + ", received " + received + '/' +
                toReceive + ", receives " + receives + ", requests " + requests.size();
    }
}
