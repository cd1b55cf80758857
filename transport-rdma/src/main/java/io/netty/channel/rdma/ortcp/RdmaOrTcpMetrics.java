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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.monitor.TcpDestination;

import java.net.SocketAddress;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of this process's connections, by transport and reason. Any thread may read the counters; all but {@link
 * #tcpConnections()} never decrease.
 */
public final class RdmaOrTcpMetrics {
    private static final RdmaOrTcpMetrics TOTAL = new RdmaOrTcpMetrics();

    private final Map<RdmaOrTcpTransport, LongAdder> connects = counters(RdmaOrTcpTransport.class);
    private final Map<RdmaOrTcpTransport, LongAdder> accepts = counters(RdmaOrTcpTransport.class);
    private final Map<RdmaOrTcpFallback.Reason, LongAdder> fallbacks = counters(RdmaOrTcpFallback.Reason.class);
    private final LongAdder failures = new LongAdder();

    private RdmaOrTcpMetrics() { }

    private static <E extends Enum<E>> Map<E, LongAdder> counters(Class<E> type) {
        Map<E, LongAdder> counters = new EnumMap<>(type);
        for (E constant : type.getEnumConstants()) {
            counters.put(constant, new LongAdder());
        }
        return counters;
    }

    /** The counters of all channels of this package in this process. */
    public static RdmaOrTcpMetrics total() {
        return TOTAL;
    }

    /** Connections that were made over this transport. */
    public long connects(RdmaOrTcpTransport transport) {
        return connects.get(transport).sum();
    }

    /** Connections over this transport that servers got from their listeners. */
    public long accepts(RdmaOrTcpTransport transport) {
        return accepts.get(transport).sum();
    }

    /** The open connections over TCP that clients have made. */
    public long tcpConnections() {
        return TcpDestination.open();
    }

    /** Number of attempts over TCP for this reason, failed ones included. */
    public long fallbacks(RdmaOrTcpFallback.Reason reason) {
        return fallbacks.get(reason).sum();
    }

    /** Number of connects for which both transports failed. Cancelled attempts and unknown hosts don't count. */
    public long failures() {
        return failures.sum();
    }

    void connected(RdmaOrTcpTransport transport) {
        connects.get(transport).increment();
    }

    void accepted(RdmaOrTcpTransport transport) {
        accepts.get(transport).increment();
        if (transport == RdmaOrTcpTransport.TCP) {
            TcpDestination.accepted();
        }
    }

    void fellBack(SocketAddress remote, RdmaOrTcpFallback.Reason reason) {
        fallbacks.get(reason).increment();
        Recorder.fellBack(remote, reason.name().toLowerCase(Locale.ROOT));
    }

    void failed() {
        failures.increment();
    }

    @Override
    public String toString() {
        return "connects: " + connects + ", accepts: " + accepts + ", fall backs to TCP: " + fallbacks +
                ", failures: " + failures;
    }
}
