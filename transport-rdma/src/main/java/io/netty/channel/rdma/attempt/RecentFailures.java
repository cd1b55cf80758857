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
package io.netty.channel.rdma.attempt;

import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers failed candidates, by destination, for a time. After this time one connect tries the candidate. Others pass
 * it over until the result is known, for the time of an attempt at most. Any thread.
 *
 * <p>Only failures are remembered: a candidate that works is tried first anyway.
 */
public final class RecentFailures {
    /** Maximum number of destinations, which take about 100 KiB. */
    private static final int DEFAULT_MAX_DESTINATIONS = 1024;
    private static final RecentFailures SHARED = new RecentFailures(DEFAULT_MAX_DESTINATIONS, Ticker.systemTicker());

    private final int maxDestinations;
    private final Ticker ticker;
    /** Destinations in the order in which they were remembered, with the candidates of each, which are one or two. */
    private final Map<Destination, List<Entry>> destinations = new LinkedHashMap<>();

    private static final class Entry {
        final Object candidate;
        final Object why;
        final long since;
        final long nanos;
        /** Set while a connect tries the candidate again. */
        boolean tried;
        long triedSince;
        long triedNanos;

        Entry(Object candidate, Object why, long since, long nanos) {
            this.candidate = candidate;
            this.why = why;
            this.since = since;
            this.nanos = nanos;
        }
    }

    /** A failure of a candidate that is remembered. */
    public static final class Remembered {
        private final Object why;
        private final long ageNanos;

        Remembered(Object why, long ageNanos) {
            this.why = why;
            this.ageNanos = ageNanos;
        }

        /** The reason that was given to {@link AttemptPlan#failed}. */
        public Object why() {
            return why;
        }

        public long ageNanos() {
            return ageNanos;
        }
    }

    /** @param maxDestinations maximum number of destinations, at least 1; a new one replaces the oldest one. */
    public RecentFailures(int maxDestinations, Ticker ticker) {
        this.maxDestinations = ObjectUtil.checkPositive(maxDestinations, "maxDestinations");
        this.ticker = ObjectUtil.checkNotNull(ticker, "ticker");
    }

    /** Returns the memory of the process, for 1024 destinations. */
    public static RecentFailures shared() {
        return SHARED;
    }

    /**
     * Returns the failure for which a candidate is passed over. For callers that do not try the candidate.
     *
     * @return {@code null} if no failure is remembered, or its time is over.
     */
    public Remembered get(Destination destination, Object candidate) {
        synchronized (destinations) {
            Entry entry = find(destination, candidate);
            if (entry == null) {
                return null;
            }
            long age = ticker.nanoTime() - entry.since;
            if (age < entry.nanos) {
                return new Remembered(entry.why, age);
            }
            if (!isBeingTried(entry)) {
                remove(destination, entry);
            }
            return null;
        }
    }

    /**
     * Returns the failure for which a candidate is passed over, or {@code null}: then the caller tries the candidate.
     * If it had failed, other connects pass it over during this attempt.
     *
     * @param attemptNanos the maximum time of the attempt.
     */
    Remembered ask(Destination destination, Object candidate, long attemptNanos) {
        synchronized (destinations) {
            Entry entry = find(destination, candidate);
            if (entry == null) {
                return null;
            }
            long now = ticker.nanoTime();
            if (now - entry.since < entry.nanos || isBeingTried(entry)) {
                return new Remembered(entry.why, now - entry.since);
            }
            entry.tried = true;
            entry.triedSince = now;
            entry.triedNanos = attemptNanos;
            return null;
        }
    }

    private boolean isBeingTried(Entry entry) {
        return entry.tried && ticker.nanoTime() - entry.triedSince < entry.triedNanos;
    }

    private Entry find(Destination destination, Object candidate) {
        List<Entry> entries = destinations.get(destination);
        if (entries != null) {
            for (Entry entry : entries) {
                if (entry.candidate == candidate) {
                    return entry;
                }
            }
        }
        return null;
    }

    private void remove(Destination destination, Entry entry) {
        List<Entry> entries = destinations.get(destination);
        entries.remove(entry);
        if (entries.isEmpty()) {
            destinations.remove(destination);
        }
    }

    /**
     * Notes that a candidate has failed. From now on it is passed over.
     *
     * @param candidate a constant.
     * @param why       the result of {@link Remembered#why()}.
     */
    public void remember(Destination destination, Object candidate, Object why, long nanos) {
        ObjectUtil.checkNotNull(destination, "destination");
        synchronized (destinations) {
            // Removed first, so that it becomes the youngest one.
            List<Entry> entries = destinations.remove(destination);
            if (entries == null) {
                entries = new ArrayList<>(1);
                if (destinations.size() == maxDestinations) {
                    destinations.remove(destinations.keySet().iterator().next());
                }
            }
            entries.removeIf(entry -> entry.candidate == candidate);
            entries.add(new Entry(candidate, why, ticker.nanoTime(), nanos));
            destinations.put(destination, entries);
        }
    }

    /** Forgets the failure of a candidate, so that it is tried first again. */
    void forget(Destination destination, Object candidate) {
        synchronized (destinations) {
            Entry entry = find(destination, candidate);
            if (entry != null) {
                remove(destination, entry);
            }
        }
    }

    /** Forgets all failures of the address, with any restriction. */
    public void forget(InetSocketAddress address) {
        synchronized (destinations) {
            destinations.keySet().removeIf(destination -> destination.address().equals(address));
        }
    }

    public void clear() {
        synchronized (destinations) {
            destinations.clear();
        }
    }

    /**
     * Returns the number of destinations, including those whose time is over and that no connect has asked for since.
     */
    public int size() {
        synchronized (destinations) {
            return destinations.size();
        }
    }
}
