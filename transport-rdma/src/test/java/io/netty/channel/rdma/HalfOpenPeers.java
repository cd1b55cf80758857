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
package io.netty.channel.rdma;

import io.netty.channel.rdma.connection.Rejection;
import io.netty.channel.rdma.stream.ConnectionData;
import io.netty.channel.rdma.verbs.ConnectionEvent;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.ConnectionParameters;
import io.netty.channel.rdma.verbs.EventChannel;
import io.netty.channel.rdma.verbs.PortSpace;
import io.netty.channel.rdma.verbs.VerbsException;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A hostile peer that asks for connections and never confirms one. It has no queue pairs and no memory for them. For
 * one thread.
 */
final class HalfOpenPeers implements AutoCloseable {
    private static final int MILLIS = (int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS);

    private final InetSocketAddress server;
    private final EventChannel events;
    private final Set<ConnectionId> ids = new HashSet<>();
    /** The server refuses connections of a queue pair that has one. */
    private int queuePairNumber = 1 << 20;
    private int asked;
    private int answered;
    private final List<ConnectionId> halfOpen = new ArrayList<>();
    private final List<String> rejections = new ArrayList<>();

    HalfOpenPeers(InetSocketAddress server) throws VerbsException {
        this.server = server;
        events = EventChannel.create();
    }

    /** Returns when the requests are under way. */
    void ask(int count) throws VerbsException {
        int all = asked + count;
        for (int i = 0; i < count; i++) {
            ConnectionId id = ConnectionId.create(events, PortSpace.TCP);
            ids.add(id);
            id.resolveAddress(null, server, MILLIS);
        }
        handleUntil(() -> asked == all);
    }

    /** Number of connections that the server has accepted. */
    int answered() {
        return answered;
    }

    /** Withdraws the requests that the server has accepted. */
    void withdrawAnswered() {
        halfOpen.forEach(this::close);
        halfOpen.clear();
    }

    /** Reasons with which the server has refused others. */
    List<String> rejections() {
        return rejections;
    }

    /** Handles events until something is true. */
    void handleUntil(BooleanSupplier condition) throws VerbsException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MILLIS);
        while (!condition.getAsBoolean()) {
            ConnectionEvent event = events.nextEvent();
            if (event != null) {
                handle(event);
                continue;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("asked " + asked + ", answered " + answered + ", rejections " +
                        rejections.size());
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    private void handle(ConnectionEvent event) throws VerbsException {
        ConnectionId id = event.id();
        switch (event.type()) {
        case ADDRESS_RESOLVED:
            id.resolveRoute(MILLIS);
            break;
        case ROUTE_RESOLVED:
            ByteBuffer data = ByteBuffer.allocate(ConnectionData.SIZE);
            new ConnectionData(ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN, false, 8, 1 << 20, 1, 2, 1 << 20, 1,
                    4096).write(data);
            id.connect(new ConnectionParameters().privateData(data.array()).queuePairNumber(queuePairNumber++));
            asked++;
            break;
        case CONNECT_RESPONSE:
            answered++;
            halfOpen.add(id);
            break;
        case REJECTED:
            rejections.add(Rejection.text(event.privateData()));
            close(id);
            break;
        case TIMEWAIT_EXIT:
            break;
        default:
            close(id);
        }
    }

    private void close(ConnectionId id) {
        if (ids.remove(id)) {
            id.close();
        }
    }

    /** Has so many connections half-open, as far as the server lets it, until the process ends. */
    private void refill(int count) throws VerbsException {
        ask(count);
        System.out.println("ASKED " + count);
        for (;;) {
            // A server that is asked again at once does nothing else.
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            ask(count - ids.size());
            handleUntil(() -> ids.size() < count);
        }
    }

    /** @param arguments the port of the server, and how many connections to ask it for. */
    public static void main(String[] arguments) throws Exception {
        new HalfOpenPeers(new InetSocketAddress(TestAddress.HOST, Integer.parseInt(arguments[0])))
                .refill(Integer.parseInt(arguments[1]));
    }

    @Override
    public void close() {
        ids.forEach(ConnectionId::close);
        events.close();
    }
}
