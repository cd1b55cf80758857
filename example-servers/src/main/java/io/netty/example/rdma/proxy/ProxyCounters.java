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
package io.netty.example.rdma.proxy;

import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of a proxy. Event loops count, any thread reads. {@code RdmaMetrics} counts bytes that went without a copy,
 * and {@code RdmaOrTcpMetrics} the reasons for TCP in place of RDMA.
 */
public final class ProxyCounters {
    final LongAdder accepted = new LongAdder();
    private final LongAdder ended = new LongAdder();
    final LongAdder unreachable = new LongAdder();
    final LongAdder failed = new LongAdder();
    private final LongAdder bytesToServer = new LongAdder();
    private final LongAdder bytesToClient = new LongAdder();
    final Map<RdmaOrTcpTransport, LongAdder> connected = new EnumMap<>(RdmaOrTcpTransport.class);

    ProxyCounters() {
        for (RdmaOrTcpTransport transport : RdmaOrTcpTransport.values()) {
            connected.put(transport, new LongAdder());
        }
    }

    void end(long toServer, long toClient) {
        bytesToServer.add(toServer);
        bytesToClient.add(toClient);
        ended.increment();
    }

    /** Number of connections of clients. */
    public long accepted() {
        return accepted.sum();
    }

    /** Number of connections of clients that have not ended. */
    public long open() {
        // The order matters: a connection may end between the two reads.
        long done = ended.sum();
        return Math.max(0, accepted.sum() - done);
    }

    /** Number of connections to the server over this transport. */
    public long connected(RdmaOrTcpTransport transport) {
        return connected.get(transport).sum();
    }

    /** Number of connections of clients that were reset because the server could not be reached. */
    public long unreachable() {
        return unreachable.sum();
    }

    /** Number of connections that were reset later, because one side failed or nothing moved. */
    public long failed() {
        return failed.sum();
    }

    /** Returns a text for users. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "connections: %d, %d of them open; to the server: %d over RDMA, %d over TCP, "
                        + "%d could not be made; %d failed; of those that have ended: %,d bytes to the server, "
                        + "%,d bytes back", accepted(), open(), connected(RdmaOrTcpTransport.RDMA),
                connected(RdmaOrTcpTransport.TCP), unreachable(), failed(), bytesToServer.sum(), bytesToClient.sum());
    }
}
