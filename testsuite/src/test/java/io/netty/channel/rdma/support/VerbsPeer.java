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
package io.netty.channel.rdma.support;

import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.stream.StreamProtocolException;
import io.netty.channel.rdma.stream.TargetSgl;
import io.netty.channel.rdma.verbs.AccessFlags;
import io.netty.channel.rdma.verbs.CompletionQueue;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionEventType;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.QueuePair;
import io.netty.channel.rdma.verbs.QueuePairInitAttributes;
import io.netty.channel.rdma.verbs.SendFlags;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.VerbsObject;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The other end of a connection as raw verbs: it can send whatever a test wants it to. Blocking, for one thread.
 */
public final class VerbsPeer implements AutoCloseable {
    private static final int QUEUE_DEPTH = 64;
    private static final int SGL_ENTRIES = 2;
    private static final int BUFFER_LENGTH = 4096;
    private static final int MEMORY = 1 << 21;

    private final Deque<VerbsObject> owned = new ArrayDeque<>();
    private final EventChannel events;
    private ConnectionId id;
    private ConnectionId request;
    private CompletionQueue queue;
    private QueuePair queuePair;
    private MemoryRegion memory;
    private final WorkCompletions completions = new WorkCompletions(16);
    private final SendWorkRequests requests = new SendWorkRequests(1, 1);
    private ConnectionData peer;

    private VerbsPeer() throws VerbsException {
        events = own(EventChannel.create());
        id = own(ConnectionId.create(events, PortSpace.TCP));
    }

    /** A listener; {@link #accept} or {@link #reject} is next. */
    public static VerbsPeer listen(InetSocketAddress local) throws VerbsException {
        VerbsPeer peer = new VerbsPeer();
        try {
            peer.id.bind(local);
            peer.id.listen(4);
            return peer;
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
    }

    /** A client with a queue pair; {@link #connect} is next. */
    public static VerbsPeer resolve(InetSocketAddress remote) throws VerbsException {
        VerbsPeer peer = new VerbsPeer();
        try {
            int timeoutMillis = (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS);
            peer.id.resolveAddress(null, remote, timeoutMillis);
            peer.await(ConnectionEventType.ADDRESS_RESOLVED);
            peer.id.resolveRoute(timeoutMillis);
            peer.await(ConnectionEventType.ROUTE_RESOLVED);
            peer.createQueuePair();
            return peer;
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
    }

    /** Connects with proper connection data and reads the answer. */
    public static VerbsPeer connected(InetSocketAddress remote) throws VerbsException, StreamProtocolException {
        VerbsPeer peer = resolve(remote);
        try {
            ConnectionEvent event = peer.connect(peer.connectionData());
            if (event.type() != ConnectionEventType.ESTABLISHED) {
                throw new AssertionError(event);
            }
            peer.peer = ConnectionData.read(ByteBuffer.wrap(event.privateData()));
            return peer;
        } catch (Throwable t) {
            peer.close();
            throw t;
        }
    }

    public InetSocketAddress localAddress() {
        return id.localAddress();
    }

    /** Connection data of the peer's accept. */
    public ConnectionData peer() {
        return peer;
    }

    /** Asks to connect, and does not wait for an answer. */
    public void request() throws VerbsException {
        id.connect(new ConnectionParameters().privateData(connectionData()));
    }

    /** Asks to connect with any private data; returns ESTABLISHED, REJECTED or whatever came of it. */
    public ConnectionEvent connect(byte[] privateData) throws VerbsException {
        id.connect(new ConnectionParameters().privateData(privateData));
        return nextEvent();
    }

    /** Accepts the next connect request, or the one that has no answer yet, with any private data. */
    public void accept(byte[] privateData) throws VerbsException {
        if (request == null) {
            awaitRequest();
        }
        id = request;
        createQueuePair();
        id.accept(new ConnectionParameters().privateData(privateData));
    }

    /** Leaves the next connect request without an answer, unless it is {@link #accept}ed, until this is closed. */
    public void awaitRequest() throws VerbsException {
        request = own(await(ConnectionEventType.CONNECT_REQUEST).id());
    }

    /** Refuses the next connect request. */
    public void reject(byte[] privateData) throws VerbsException {
        try (ConnectionId refused = await(ConnectionEventType.CONNECT_REQUEST).id()) {
            refused.reject(privateData);
        }
    }

    /** Connection data of an honest peer: a table of 2 entries and a buffer of 4096 bytes. */
    public byte[] connectionData() {
        ByteBuffer out = ByteBuffer.allocate(ConnectionData.SIZE);
        new ConnectionData(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN, false, QUEUE_DEPTH - 8,
                memory.memoryAddress(), memory.rkey(), SGL_ENTRIES, bufferAddress(), memory.rkey(), BUFFER_LENGTH)
                .write(out);
        return out.array();
    }

    private long bufferAddress() {
        return memory.memoryAddress() + SGL_ENTRIES * TargetSgl.ENTRY_SIZE;
    }

    /** RDMA WRITE WITH IMMEDIATE of so many bytes; returns the status of its completion. */
    public int writeWithImmediate(int immediate, long remoteAddress, int remoteKey, int length) throws VerbsException {
        requests.clear();
        requests.writeWithImmediate(1, SendFlags.SIGNALED, remoteAddress, remoteKey, immediate);
        return post(length);
    }

    /** SEND of so many bytes, which the protocol does not know; returns the status of its completion. */
    public int send(int length) throws VerbsException {
        requests.clear();
        requests.send(1, SendFlags.SIGNALED);
        return post(length);
    }

    private int post(int length) throws VerbsException {
        if (length > 0) {
            requests.addSge(memory.memoryAddress(), length, memory.lkey());
        }
        if (queuePair.postSend(requests) != 1) {
            throw queuePair.postException();
        }
        long deadline = deadline();
        for (;;) {
            queue.poll(completions);
            for (int i = 0; i < completions.size(); i++) {
                if (completions.workRequestId(i) == 1) {
                    return completions.status(i);
                }
                if (completions.status(i) == WorkCompletionStatus.SUCCESS) {
                    queuePair.postEmptyReceives(0, 1);
                }
            }
            pause(deadline, "a send completion");
        }
    }

    public void disconnect() throws VerbsException {
        id.disconnect();
    }

    public void awaitDisconnected() throws VerbsException {
        await(ConnectionEventType.DISCONNECTED);
    }

    private ConnectionEvent await(ConnectionEventType type) throws VerbsException {
        for (;;) {
            ConnectionEvent event = nextEvent();
            if (event.type() == type) {
                return event;
            }
            // An acceptor hears of its own success, which is of no interest here.
            if (event.type() != ConnectionEventType.ESTABLISHED) {
                throw new AssertionError(event + " (expected: " + type + ')');
            }
        }
    }

    private ConnectionEvent nextEvent() throws VerbsException {
        long deadline = deadline();
        for (;;) {
            ConnectionEvent event = events.nextEvent();
            if (event != null) {
                return event;
            }
            pause(deadline, "an event of the connection manager");
        }
    }

    private void createQueuePair() throws VerbsException {
        Device device = id.device();
        ProtectionDomain domain = own(device.allocateProtectionDomain());
        queue = own(device.createCompletionQueue(2 * QUEUE_DEPTH, null));
        memory = own(domain.register(ByteBuffer.allocateDirect(MEMORY),
                AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE));
        queuePair = own(id.createQueuePair(domain, new QueuePairInitAttributes(queue, queue)
                .maxSendRequests(QUEUE_DEPTH).maxReceiveRequests(QUEUE_DEPTH)));
        queuePair.postEmptyReceives(0, QUEUE_DEPTH);
    }

    private <T extends VerbsObject> T own(T object) {
        owned.push(object);
        return object;
    }

    private static long deadline() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
    }

    private static void pause(long deadline, String what) {
        if (System.nanoTime() - deadline > 0) {
            throw new AssertionError("nothing within " + TestTimeouts.SECONDS + " s: " + what);
        }
        LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
    }

    @Override
    public void close() {
        // In the opposite order of creation, as each uses those before it.
        while (!owned.isEmpty()) {
            owned.pop().close();
        }
    }
}
