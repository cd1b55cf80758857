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

import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.ReceiveWorkRequests;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsObject;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The other end of a connection as raw verbs, in place of Valkey or of its client: it can send whatever a test wants it
 * to, and shows the bytes of what it gets. Blocking, for one thread.
 */
final class RawPeer implements AutoCloseable {
    private static final int MESSAGE = 32;
    private static final int QUEUE_DEPTH = 1024;
    private static final int SEND = 1 << 16;
    /** Where the peer may write. */
    private static final int RECEIVE = 1 << 20;
    static final int RECEIVE_LENGTH = 1 << 16;
    private static final int MEMORY = RECEIVE + RECEIVE_LENGTH;

    /** A message that has arrived, or the notice of bytes that were written with an immediate. */
    record Arrived(byte[] message, int immediate, int written) {
        int opcode() {
            return ByteBuffer.wrap(message).getShort(0);
        }
    }

    private final Deque<VerbsObject> owned = new ArrayDeque<>();
    private final EventChannel events;
    private final WorkCompletions completions = new WorkCompletions(16);
    private final SendWorkRequests requests = new SendWorkRequests(1, 1);
    private final ReceiveWorkRequests receive = new ReceiveWorkRequests(1, 1);
    private final Deque<Arrived> arrived = new ArrayDeque<>();
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(MEMORY);
    private ConnectionId id;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private MemoryRegion memory;
    private int sendStatus;

    private RawPeer() throws VerbsException {
        events = own(EventChannel.create());
        id = own(ConnectionId.create(events, PortSpace.TCP));
    }

    /** A listener; {@link #accept} is next. */
    static RawPeer listen(InetSocketAddress local) throws VerbsException {
        RawPeer peer = new RawPeer();
        try {
            peer.id.bind(local);
            peer.id.listen(4);
            return peer;
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
    }

    /** A client that is connected, and has sent nothing. */
    static RawPeer connect(InetSocketAddress remote) throws VerbsException {
        RawPeer peer = new RawPeer();
        try {
            int timeoutMillis = (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS);
            peer.id.resolveAddress(null, remote, timeoutMillis);
            peer.await(ConnectionEventType.ADDRESS_RESOLVED);
            peer.id.resolveRoute(timeoutMillis);
            peer.await(ConnectionEventType.ROUTE_RESOLVED);
            peer.createQueuePair();
            peer.id.connect(new ConnectionParameters().rnrRetryCount(7));
            peer.await(ConnectionEventType.ESTABLISHED);
            return peer;
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
    }

    InetSocketAddress localAddress() {
        return id.localAddress();
    }

    /** Accepts the next request, without retries for messages that find no receive, as Valkey does. */
    void accept() throws VerbsException {
        id = own(await(ConnectionEventType.CONNECT_REQUEST).id());
        createQueuePair();
        id.accept(new ConnectionParameters().rnrRetryCount(0));
        await(ConnectionEventType.ESTABLISHED);
    }

    /** Sends a message of any bytes; returns the status of its completion. */
    int send(byte[] message) throws VerbsException {
        buffer.put(SEND, message);
        requests.clear();
        requests.send(1, SendFlags.SIGNALED).addSge(memory.memoryAddress() + SEND, message.length, memory.lkey());
        return post();
    }

    /** As {@link #send}, with immediate data. */
    int sendWithImmediate(byte[] message, int immediate) throws VerbsException {
        buffer.put(SEND, message);
        requests.clear();
        requests.sendWithImmediate(1, SendFlags.SIGNALED, immediate)
                .addSge(memory.memoryAddress() + SEND, message.length, memory.lkey());
        return post();
    }

    /** Announces {@link #RECEIVE_LENGTH} bytes that the other end may write to. */
    int register() throws VerbsException {
        return register(memory.memoryAddress() + RECEIVE, RECEIVE_LENGTH, memory.rkey());
    }

    int register(long address, int length, int key) throws VerbsException {
        return send(ByteBuffer.allocate(MESSAGE).putShort(0, (short) 3).putLong(16, address).putInt(24, length)
                .putInt(28, key).array());
    }

    int key() {
        return memory.rkey();
    }

    long receiveAddress() {
        return memory.memoryAddress() + RECEIVE;
    }

    /** RDMA WRITE of bytes, without immediate data. */
    int write(long address, int key, byte[] bytes) throws VerbsException {
        requests.clear();
        requests.write(1, SendFlags.SIGNALED, address, key);
        return post(bytes);
    }

    int writeWithImmediate(long address, int key, byte[] bytes, int immediate) throws VerbsException {
        requests.clear();
        requests.writeWithImmediate(1, SendFlags.SIGNALED, address, key, immediate);
        return post(bytes);
    }

    private int post(byte[] bytes) throws VerbsException {
        if (bytes.length > 0) {
            buffer.put(SEND, bytes);
            requests.addSge(memory.memoryAddress() + SEND, bytes.length, memory.lkey());
        }
        return post();
    }

    private int post() throws VerbsException {
        sendStatus = -1;
        if (queuePair.postSend(requests) != 1) {
            throw queuePair.postException();
        }
        long deadline = deadline();
        while (sendStatus < 0) {
            poll(deadline, "a send completion");
        }
        return sendStatus;
    }

    /** The message or notice that arrives next. */
    Arrived next() throws VerbsException {
        long deadline = deadline();
        while (arrived.isEmpty()) {
            poll(deadline, "a message");
        }
        return arrived.poll();
    }

    /** The next message with this number; those before it are left out. */
    Arrived next(int opcode) throws VerbsException {
        for (;;) {
            Arrived next = next();
            if (next.message != null && next.opcode() == opcode) {
                return next;
            }
        }
    }

    /** The next notice of bytes; messages before it are left out. */
    Arrived nextBytes() throws VerbsException {
        for (;;) {
            Arrived next = next();
            if (next.message == null) {
                return next;
            }
        }
    }

    /** Bytes that were written to the announced memory. */
    byte[] received(int offset, int length) {
        byte[] bytes = new byte[length];
        buffer.get(RECEIVE + offset, bytes);
        return bytes;
    }

    private void poll(long deadline, String what) throws VerbsException {
        queue.poll(completions);
        for (int i = 0; i < completions.size(); i++) {
            long workRequest = completions.workRequestId(i);
            if (workRequest == 1) {
                sendStatus = completions.status(i);
            } else if (completions.status(i) == WorkCompletionStatus.SUCCESS) {
                arrived(i, (int) workRequest);
            }
        }
        if (completions.size() == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("nothing within " + TestTimeouts.SECONDS + " s: " + what);
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    private void arrived(int index, int slot) throws VerbsException {
        if (completions.opcode(index) == WorkCompletionOpcode.RECEIVE) {
            byte[] message = new byte[completions.byteLength(index)];
            buffer.get(slot, message);
            arrived.add(new Arrived(message, 0, 0));
        } else {
            arrived.add(new Arrived(null, completions.immediate(index), completions.byteLength(index)));
        }
        postReceive(slot);
    }

    void disconnect() throws VerbsException {
        id.disconnect();
    }

    void awaitDisconnected() throws VerbsException {
        await(ConnectionEventType.DISCONNECTED);
    }

    private ConnectionEvent await(ConnectionEventType type) throws VerbsException {
        long deadline = deadline();
        for (;;) {
            ConnectionEvent event = events.nextEvent();
            if (event != null && event.type() == type) {
                return event;
            }
            if (event != null) {
                throw new AssertionError(event + " (expected: " + type + ')');
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("nothing within " + TestTimeouts.SECONDS + " s: " + type);
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    private void createQueuePair() throws VerbsException {
        ProtectionDomain domain = own(id.device().allocateProtectionDomain());
        queue = own(id.device().createCompletionQueue(2 * QUEUE_DEPTH, null));
        memory = own(domain.register(buffer, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE));
        queuePair = own(id.createQueuePair(domain, new QueuePairInitAttributes(queue, queue)
                .maxSendRequests(QUEUE_DEPTH).maxReceiveRequests(QUEUE_DEPTH)));
        for (int slot = 1; slot <= QUEUE_DEPTH; slot++) {
            postReceive(slot * MESSAGE);
        }
    }

    private void postReceive(int slot) throws VerbsException {
        receive.clear();
        receive.receive(slot).addSge(memory.memoryAddress() + slot, MESSAGE, memory.lkey());
        if (queuePair.postReceive(receive) != 1) {
            throw queuePair.postException();
        }
    }

    private <T extends VerbsObject> T own(T object) {
        owned.push(object);
        return object;
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
    }

    @Override
    public void close() {
        // In the opposite order of creation, as each uses those before it.
        while (!owned.isEmpty()) {
            owned.pop().close();
        }
    }
}
