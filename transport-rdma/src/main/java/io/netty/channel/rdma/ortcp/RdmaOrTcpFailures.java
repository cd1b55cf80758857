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

import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.attempt.Destination;
import io.netty.channel.rdma.attempt.RecentFailures;
import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Remembers the destinations where RDMA has failed, so that not every connection waits for the same failure. Clients
 * share {@link #shared()}, unless {@link RdmaOrTcpChannelOption#FAILURES} says otherwise. Clients that may use other
 * providers ({@link RdmaChannelOption#PROVIDERS}) than the rest should have a memory of their own. Any thread.
 *
 * <p>Only failures are remembered. Successes of RDMA need not be, because RDMA is tried first anyway. The failure of a
 * destination is forgotten when a connect to it fails over TCP, too. It is also forgotten when a connection over RDMA
 * ends, because the server may have been restarted.
 */
public final class RdmaOrTcpFailures {
    private static final RdmaOrTcpFailures SHARED = new RdmaOrTcpFailures(RecentFailures.shared());
    private static final Duration MIN_INTERVAL = Duration.ofMillis(1);
    /** Keeps nanoseconds from an overflow. */
    private static final Duration MAX_INTERVAL = Duration.ofDays(365);

    private final RecentFailures memory;
    private volatile Probes probes;

    private RdmaOrTcpFailures(RecentFailures memory) {
        this.memory = memory;
    }

    /** @param maxDestinations how many are remembered at most, from 1; the oldest one is forgotten for a new one. */
    public RdmaOrTcpFailures(int maxDestinations) {
        this(maxDestinations, Ticker.systemTicker());
    }

    /**
     * @param maxDestinations how many are remembered at most, from 1; the oldest one is forgotten for a new one.
     * @param ticker          the clock, for tests.
     */
    public RdmaOrTcpFailures(int maxDestinations, Ticker ticker) {
        this(new RecentFailures(maxDestinations, ticker));
    }

    /**
     * The memory of the process, for 1024 destinations. It also has the destinations that do not answer by shared
     * memory, for all channels.
     */
    public static RdmaOrTcpFailures shared() {
        return SHARED;
    }

    /**
     * The reason why RDMA has failed for this destination. A connect with a local address, or with one of the options
     * {@link RdmaChannelOption#PROVIDERS}, {@link RdmaChannelOption#DEVICE}, {@link RdmaChannelOption#DEVICE_PORT} and
     * {@link RdmaChannelOption#GID_INDEX}, is remembered separately, for the same kind of connects, and not returned
     * here.
     *
     * @return {@code null} if no failure is remembered.
     */
    public RdmaOrTcpFallback get(InetSocketAddress destination) {
        RecentFailures.Remembered remembered = memory.get(new Destination(destination), RdmaOrTcpTransport.RDMA);
        return remembered == null ? null : fallback(remembered);
    }

    static RdmaOrTcpFallback fallback(RecentFailures.Remembered remembered) {
        return new RdmaOrTcpFallback(RdmaOrTcpFallback.Reason.REMEMBERED,
                TimeUnit.NANOSECONDS.toMillis(remembered.ageNanos()) + " ms ago: " + remembered.why());
    }

    /** Makes the next connection to this destination try RDMA, with all its providers. */
    public void forget(InetSocketAddress destination) {
        memory.forget(destination);
    }

    /** Makes the next connection to each destination try RDMA, with all its providers. */
    public void clear() {
        memory.clear();
    }

    /**
     * Helps clients with this memory to return to RDMA. Their connections over TCP stay as they are. RDMA is tried in
     * the background at each destination of connections over TCP that are made after this call, on their event loops.
     * An attempt is a connection that is closed at once; the server sees a connection without a byte. When RDMA
     * answers, the failure of the destination is forgotten, one line is logged, and {@code answered} is called, once
     * until there is another connection over TCP. The application can then let its pool, or its gRPC channel, connect
     * again at a good time.
     * <pre>
     * RdmaOrTcpFailures.shared().probe(Duration.ofMinutes(1), address -&gt; managedChannel.enterIdle());
     * </pre>
     * Destinations for which a {@link RdmaOrTcpRule} has chosen TCP are not tried, and none in a process that can't use
     * RDMA.
     *
     * @param every    how long to wait between two attempts at a destination, from 1 ms to 365 days. By default none
     *                 are made.
     * @param answered gets the resolved address on an event loop, so it must not block. Replaces the previous one;
     *                 {@code null} ends all attempts.
     */
    public void probe(Duration every, Consumer<InetSocketAddress> answered) {
        probes = answered == null ? null : new Probes(checkInterval(every).toNanos(), answered);
    }

    private static Duration checkInterval(Duration every) {
        ObjectUtil.checkNotNull(every, "every");
        if (every.compareTo(MIN_INTERVAL) < 0 || every.compareTo(MAX_INTERVAL) > 0) {
            throw new IllegalArgumentException("every: " + every + " (expected: " + MIN_INTERVAL + " to " +
                    MAX_INTERVAL + ')');
        }
        return every;
    }

    /** The probes, or {@code null} if none are wanted. */
    Probes probes() {
        return probes;
    }

    /** The number of destinations, including those whose time is over if no connect has asked for them since. */
    public int size() {
        return memory.size();
    }

    RecentFailures memory() {
        return memory;
    }
}
