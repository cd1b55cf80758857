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
package io.netty.channel.rdma.monitor;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * An address to which clients for RDMA and TCP have connected over TCP, the number of connections, and the reason why
 * they do not use RDMA. At most 1024 addresses; a new one replaces the least recently used one. Any thread.
 */
public final class TcpDestination {
    /** Maximum number of destinations, which take about 200 KiB. */
    private static final int MAX = 1024;
    /** Destinations, the least recently used one first. The lock of the map protects all objects of this class. */
    private static final Map<InetSocketAddress, TcpDestination> ALL = new LinkedHashMap<>(16, 0.75f, true);
    private static final LongAdder CONNECTS = new LongAdder();
    private static final LongAdder ACCEPTS = new LongAdder();
    private static final LongAdder OPEN = new LongAdder();

    private final InetSocketAddress remote;
    /** {@code null} if an RDMA connection was made later. */
    private String reason;
    private String lastReason = "";
    private String message = "";
    private long connects;
    private int connections;

    private TcpDestination(InetSocketAddress remote) {
        this.remote = remote;
    }

    /** The values of a destination to show. */
    public record Row(InetSocketAddress remote, String reason, String message, long connects, long connections) { }

    /** Counts a connection over TCP. {@link Connected#closed} must be called at its end. */
    public static Connected connected(InetSocketAddress remote, String reason, String message) {
        CONNECTS.increment();
        OPEN.increment();
        synchronized (ALL) {
            TcpDestination destination = ALL.get(remote);
            if (destination == null) {
                if (ALL.size() == MAX) {
                    ALL.remove(ALL.keySet().iterator().next());
                }
                destination = new TcpDestination(remote);
                ALL.put(remote, destination);
            }
            boolean isNew = !reason.equals(destination.reason);
            destination.reason = reason;
            destination.lastReason = reason;
            destination.message = message;
            destination.connects++;
            destination.connections++;
            return new Connected(destination, isNew);
        }
    }

    /** A connection over TCP. */
    public static final class Connected {
        private final TcpDestination destination;
        private final boolean isNew;

        private Connected(TcpDestination destination, boolean isNew) {
            this.destination = destination;
            this.isNew = isNew;
        }

        /**
         * Returns whether this is the first connection to the destination, or the first one after others with another
         * reason.
         */
        public boolean isNew() {
            return isNew;
        }

        public void closed() {
            OPEN.decrement();
            synchronized (ALL) {
                destination.connections--;
                destination.removeIfOver();
            }
        }
    }

    private void removeIfOver() {
        if (reason == null && connections == 0) {
            ALL.remove(remote, this);
        }
    }

    /** Notes an RDMA connection. Returns whether the connection before it was over TCP. */
    public static boolean connectedByRdma(InetSocketAddress remote) {
        synchronized (ALL) {
            TcpDestination destination = ALL.get(remote);
            if (destination == null || destination.reason == null) {
                return false;
            }
            destination.reason = null;
            destination.removeIfOver();
            return true;
        }
    }

    /** Counts a connection over TCP of a server for RDMA and TCP. */
    public static void accepted() {
        ACCEPTS.increment();
    }

    /** Returns the number of connections over TCP that clients for both have made so far. */
    public static long connects() {
        return CONNECTS.sum();
    }

    /** Returns the number of connections over TCP that clients for both have now, to all addresses. */
    public static long open() {
        return OPEN.sum();
    }

    /** Returns the number of connections over TCP that servers for both have accepted so far. */
    public static long accepts() {
        return ACCEPTS.sum();
    }

    /** Returns the rows of all known destinations, the last used one at the end. */
    public static List<Row> all() {
        synchronized (ALL) {
            List<Row> rows = new ArrayList<>(ALL.size());
            for (TcpDestination destination : ALL.values()) {
                rows.add(new Row(destination.remote, destination.lastReason, destination.message,
                        destination.connects, destination.connections));
            }
            return rows;
        }
    }
}
