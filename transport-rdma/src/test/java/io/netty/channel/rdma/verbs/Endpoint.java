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
package io.netty.channel.rdma.verbs;

import java.nio.ByteBuffer;

/**
 * One end of a connection with everything that it needs: its own protection domain, completion channel and queue,
 * queue pair and a registered buffer.
 */
final class Endpoint implements AutoCloseable {
    static final int BUFFER_SIZE = 1 << 20;
    static final int REQUESTS = 64;
    static final int INLINE = 64;
    static final int SGES = 2;

    final ConnectionId id;
    final ProtectionDomain domain;
    final CompletionChannel channel;
    final CompletionQueue queue;
    final QueuePair queuePair;
    final ByteBuffer buffer;
    final MemoryRegion region;

    /**
     * @param id owned by the endpoint from now on; must be bound to a device.
     */
    Endpoint(ConnectionId id) throws VerbsException {
        this(id, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ |
                AccessFlags.REMOTE_ATOMIC);
    }

    Endpoint(ConnectionId id, int access) throws VerbsException {
        this.id = id;
        Device device = id.device();
        domain = device.allocateProtectionDomain();
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(4 * REQUESTS, channel);
        queuePair = id.createQueuePair(domain, new QueuePairInitAttributes(queue, queue).maxSendRequests(REQUESTS)
                .type(id.portSpace() == PortSpace.UDP ? QueuePairType.UNRELIABLE_DATAGRAM :
                        QueuePairType.RELIABLE_CONNECTION)
                .maxReceiveRequests(REQUESTS).maxSendSges(SGES).maxReceiveSges(SGES).maxInlineData(INLINE));
        buffer = NativeMemory.allocate(BUFFER_SIZE);
        region = domain.register(buffer, access);
    }

    /** The address of a byte of the buffer. */
    long at(int offset) {
        return region.memoryAddress() + offset;
    }

    void receive(long workRequestId, int offset, int length) {
        ReceiveWorkRequests requests = new ReceiveWorkRequests(1, 1);
        requests.receive(workRequestId).addSge(at(offset), length, region.lkey());
        post(requests);
    }

    void post(ReceiveWorkRequests requests) {
        if (queuePair.postReceive(requests) != requests.size()) {
            throw new AssertionError(queuePair.postException());
        }
    }

    void post(SendWorkRequests requests) {
        if (queuePair.postSend(requests) != requests.size()) {
            throw new AssertionError(queuePair.postException());
        }
    }

    boolean isSoftRoce() {
        return id.device().name().startsWith("rxe");
    }

    /** A signalled send of a part of the buffer. */
    void send(long workRequestId, int offset, int length) {
        post(new SendWorkRequests(1, 1).send(workRequestId, SendFlags.SIGNALED)
                .addSge(at(offset), length, region.lkey()));
    }

    /** Writes a pattern that depends on the seed, at the start of the buffer. */
    void fill(int seed, int length) {
        for (int i = 0; i < length; i++) {
            buffer.put(i, pattern(seed, i));
        }
    }

    /** Returns whether a part of the buffer has the pattern of {@link #fill}. */
    boolean holds(int seed, int offset, int length) {
        for (int i = 0; i < length; i++) {
            if (buffer.get(offset + i) != pattern(seed, i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() {
        id.close();
        region.close();
        queue.close();
        channel.close();
        domain.close();
    }

    private static byte pattern(int seed, int index) {
        return (byte) (seed * 31 + index * 7 + (index >> 8));
    }
}
