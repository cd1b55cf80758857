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
package io.netty.channel.rdma.bootstrap;

import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Remembers for which destinations RDMA has failed, so that not every connection waits for it to fail again. {@link
 * RdmaOrTcpBootstrap}s share {@link #shared()}, unless told otherwise. Any thread.
 *
 * <p>Only failures are remembered. That RDMA has worked changes nothing, as it is tried first anyway; and if it fails
 * where it worked before, that attempt falls back like any other.
 */
public final class RdmaOrTcpPaths {
    /** Some 100 KiB. */
    private static final int DEFAULT_MAX_DESTINATIONS = 1024;
    private static final RdmaOrTcpPaths SHARED = new RdmaOrTcpPaths(DEFAULT_MAX_DESTINATIONS);

    private final int maxDestinations;
    private final Ticker ticker;
    /** In the order in which they were remembered. */
    private final Map<InetSocketAddress, Entry> entries = new LinkedHashMap<>();

    private static final class Entry {
        final Fallback fallback;
        final long since;
        final long nanos;

        Entry(Fallback fallback, long since, long nanos) {
            this.fallback = fallback;
            this.since = since;
            this.nanos = nanos;
        }
    }

    /**
     * @param maxDestinations how many are remembered at most, from 1; the oldest one is forgotten for a new one.
     */
    public RdmaOrTcpPaths(int maxDestinations) {
        this(maxDestinations, Ticker.systemTicker());
    }

    /**
     * @param maxDestinations how many are remembered at most, from 1; the oldest one is forgotten for a new one.
     * @param ticker          the clock, for tests.
     */
    public RdmaOrTcpPaths(int maxDestinations, Ticker ticker) {
        this.maxDestinations = ObjectUtil.checkPositive(maxDestinations, "maxDestinations");
        this.ticker = ObjectUtil.checkNotNull(ticker, "ticker");
    }

    /** The memory of the process, for 1024 destinations. */
    public static RdmaOrTcpPaths shared() {
        return SHARED;
    }

    /**
     * Why RDMA has failed for this destination.
     *
     * @return {@code null} if nothing is remembered, or not any more.
     */
    public Fallback get(InetSocketAddress destination) {
        synchronized (entries) {
            Entry entry = entries.get(destination);
            if (entry == null) {
                return null;
            }
            long age = ticker.nanoTime() - entry.since;
            if (age >= entry.nanos) {
                entries.remove(destination);
                return null;
            }
            return new Fallback(FallbackReason.REMEMBERED, TimeUnit.NANOSECONDS.toMillis(age) + " ms ago: " +
                    entry.fallback);
        }
    }

    /** The next connection to this destination tries RDMA. */
    public void forget(InetSocketAddress destination) {
        synchronized (entries) {
            entries.remove(destination);
        }
    }

    /** The next connection to any destination tries RDMA. */
    public void clear() {
        synchronized (entries) {
            entries.clear();
        }
    }

    /** The number of destinations, including those whose time is over and that nobody has asked for since. */
    public int size() {
        synchronized (entries) {
            return entries.size();
        }
    }

    void remember(InetSocketAddress destination, Fallback fallback, Duration time) {
        Objects.requireNonNull(destination, "destination");
        synchronized (entries) {
            // Removed first, so that it becomes the youngest one.
            entries.remove(destination);
            if (entries.size() == maxDestinations) {
                entries.remove(entries.keySet().iterator().next());
            }
            entries.put(destination, new Entry(fallback, ticker.nanoTime(), time.toNanos()));
        }
    }
}
