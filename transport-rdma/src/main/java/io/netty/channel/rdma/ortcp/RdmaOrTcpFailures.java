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
import io.netty.channel.rdma.attempt.FailureMemory;
import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Remembers for which destinations RDMA has failed, so that not every connection waits for it to fail again. Clients
 * share {@link #shared()}, unless {@link RdmaOrTcpChannelOption#FAILURES} says otherwise. Clients that may use other
 * providers ({@link RdmaChannelOption#PROVIDERS}) than the rest want a memory of their own. Any thread.
 *
 * <p>Only failures are remembered. That RDMA has worked changes nothing, as it is tried first anyway; and if it fails
 * where it worked before, that attempt falls back like any other. What is remembered of a destination is forgotten when
 * a connection to it fails over TCP, too, and when one of RDMA ends: a server that is restarted is another one.
 */
public final class RdmaOrTcpFailures {
    private static final RdmaOrTcpFailures SHARED = new RdmaOrTcpFailures(FailureMemory.shared());
    private static final Duration MIN_INTERVAL = Duration.ofMillis(1);
    /** So that there is no overflow in nanoseconds. */
    private static final Duration MAX_INTERVAL = Duration.ofDays(365);

    private final FailureMemory memory;
    private volatile Probes probes;

    private RdmaOrTcpFailures(FailureMemory memory) {
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
        this(new FailureMemory(maxDestinations, ticker));
    }

    /**
     * The memory of the process, for 1024 destinations. There is also remembered which of them do not answer by shared
     * memory, whoever connects.
     */
    public static RdmaOrTcpFailures shared() {
        return SHARED;
    }

    /**
     * Why RDMA has failed for this destination. What has failed from a local address that was asked for, or with one of
     * the options {@link RdmaChannelOption#PROVIDERS}, {@link RdmaChannelOption#DEVICE}, {@link
     * RdmaChannelOption#DEVICE_PORT} and {@link RdmaChannelOption#GID_INDEX}, is remembered for connects alike alone,
     * and not returned here.
     *
     * @return {@code null} if nothing is remembered, or not any more.
     */
    public RdmaOrTcpFallback get(InetSocketAddress destination) {
        FailureMemory.Remembered remembered = memory.get(new Destination(destination), RdmaOrTcpTransport.RDMA);
        return remembered == null ? null : fallback(remembered);
    }

    static RdmaOrTcpFallback fallback(FailureMemory.Remembered remembered) {
        return new RdmaOrTcpFallback(RdmaOrTcpFallback.Reason.REMEMBERED,
                TimeUnit.NANOSECONDS.toMillis(remembered.ageNanos()) + " ms ago: " + remembered.why());
    }

    /** The next connection to this destination tries RDMA, and all that it has. */
    public void forget(InetSocketAddress destination) {
        memory.forget(destination);
    }

    /** The next connection to any destination tries RDMA, and all that it has. */
    public void clear() {
        memory.clear();
    }

    /**
     * Has clients that remember here find back to RDMA. Their connections over TCP stay as they are, for as long as
     * the application, or its pool, keeps them. From now on, as long as there are some that are made after this call,
     * RDMA is tried in the background at each of their destinations, on their event loops: a connection that is closed
     * as soon as it is made, which the server sees as one without a byte. When RDMA answers, what is remembered of the
     * destination is forgotten, one line is logged, and the application is told, once until there is another
     * connection over TCP: so it can have its pool, or its gRPC channel, connect anew when that harms nobody.
     * <pre>
     * RdmaOrTcpFailures.shared().probe(Duration.ofMinutes(1), address -&gt; managedChannel.enterIdle());
     * </pre>
     * Not tried are destinations where a {@link RdmaOrTcpRule} has chosen TCP, or in a process that can't use RDMA.
     *
     * @param every    how long to wait between two attempts at a destination, from 1 ms to 365 days. By default none
     *                 are made.
     * @param answered is given the address, resolved, on an event loop, so it must not block. It takes the place of
     *                 the one before; {@code null} ends all attempts.
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

    /** Or {@code null}. */
    Probes probes() {
        return probes;
    }

    /** The number of destinations, including those whose time is over and that nobody has asked for since. */
    public int size() {
        return memory.size();
    }

    FailureMemory memory() {
        return memory;
    }
}
