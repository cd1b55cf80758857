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

import java.net.SocketAddress;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counters of the connects of this process, and of the requests of its peers, by their outcome. Providers and reasons
 * are enums of higher layers. Any thread.
 */
public final class ConnectCounters {
    private enum Outcome {
        CONNECTED, FAILED, REJECTED, VANISHED
    }

    private record Key(Outcome outcome, Enum<?> provider, Enum<?> reason) { }

    private static final Map<Key, LongAdder> COUNTERS = new ConcurrentHashMap<>();

    private ConnectCounters() { }

    private static void count(Outcome outcome, Enum<?> provider, Enum<?> reason) {
        COUNTERS.computeIfAbsent(new Key(outcome, provider, reason), key -> new LongAdder()).increment();
    }

    private static long get(Outcome outcome, Enum<?> provider, Enum<?> reason) {
        LongAdder counter = COUNTERS.get(new Key(outcome, provider, reason));
        return counter == null ? 0 : counter.sum();
    }

    private static long sum(Outcome outcome) {
        return COUNTERS.entrySet().stream().filter(entry -> entry.getKey().outcome == outcome)
                .mapToLong(entry -> entry.getValue().sum()).sum();
    }

    /** Counts a connect that has succeeded. The reason is why this provider was chosen. */
    public static void connected(Enum<?> provider, Enum<?> reason) {
        count(Outcome.CONNECTED, provider, reason);
    }

    /** Counts a connect that has failed. */
    public static void failed(SocketAddress remote, Enum<?> lastProvider, Enum<?> reason, Throwable cause) {
        count(Outcome.FAILED, lastProvider, reason);
        Recorder.connectFailed(remote, reason.name().toLowerCase(Locale.ROOT), cause);
    }

    /** Counts a request of a peer that was rejected. */
    public static void rejected(Enum<?> reason) {
        count(Outcome.REJECTED, null, reason);
    }

    /** Counts a request whose peer has gone before its connection was made. */
    public static void vanished() {
        count(Outcome.VANISHED, null, null);
    }

    public static long connects(Enum<?> provider, Enum<?> reason) {
        return get(Outcome.CONNECTED, provider, reason);
    }

    /** @param lastProvider the provider of the last attempt; {@code null} for connects without one. */
    public static long failures(Enum<?> lastProvider, Enum<?> reason) {
        return get(Outcome.FAILED, lastProvider, reason);
    }

    /** Returns the number of all connects that have failed. */
    public static long failures() {
        return sum(Outcome.FAILED);
    }

    public static long rejections(Enum<?> reason) {
        return get(Outcome.REJECTED, null, reason);
    }

    /** Returns the number of all requests that were rejected. */
    public static long rejections() {
        return sum(Outcome.REJECTED);
    }

    public static long vanishedPeers() {
        return sum(Outcome.VANISHED);
    }
}
