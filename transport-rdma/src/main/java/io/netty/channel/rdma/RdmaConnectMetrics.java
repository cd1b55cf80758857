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

import io.netty.channel.rdma.monitor.Recorder;
import io.netty.channel.rdma.verbs.VerbsProvider;

import java.net.SocketAddress;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Connects of this process by provider: why the provider was taken, and why those failed that were not made, of all
 * byte-stream and message channels. Connections by device are counted by {@link RdmaDeviceMetrics}. Any thread.
 */
public final class RdmaConnectMetrics {
    private static final VerbsProvider[] PROVIDERS = VerbsProvider.values();
    private static final RdmaConnectMetrics TOTAL = new RdmaConnectMetrics();

    /** Connects by provider, then by reason. */
    private final LongAdder[][] connects = new LongAdder[PROVIDERS.length][];
    /** Failures by provider, the last one being none, then by reason. */
    private final LongAdder[][] failures = new LongAdder[PROVIDERS.length + 1][];
    private final LongAdder[] rejections = adders(RdmaRejection.values().length);
    private final LongAdder vanished = new LongAdder();

    private RdmaConnectMetrics() {
        Arrays.setAll(connects, provider -> adders(RdmaProviderReason.values().length));
        Arrays.setAll(failures, provider -> adders(RdmaConnectFailure.values().length));
    }

    private static LongAdder[] adders(int count) {
        LongAdder[] adders = new LongAdder[count];
        Arrays.setAll(adders, index -> new LongAdder());
        return adders;
    }

    /** The metrics of this process. */
    public static RdmaConnectMetrics total() {
        return TOTAL;
    }

    /** Connections that this process has asked for and that were made by this provider, for this reason. */
    public long connects(VerbsProvider provider, RdmaProviderReason reason) {
        return connects[provider.ordinal()][reason.ordinal()].sum();
    }

    /** Connects that have failed for this reason. Those that the application has cancelled don't count. */
    public long failures(RdmaConnectFailure reason) {
        return Arrays.stream(failures).mapToLong(reasons -> reasons[reason.ordinal()].sum()).sum();
    }

    /**
     * Connects that have failed for this reason and whose last attempt was by this provider.
     *
     * @param provider {@code null} for those without an attempt, for lack of a provider that the options allow.
     */
    public long failures(VerbsProvider provider, RdmaConnectFailure reason) {
        return failures(provider)[reason.ordinal()].sum();
    }

    private LongAdder[] failures(VerbsProvider provider) {
        return failures[provider == null ? PROVIDERS.length : provider.ordinal()];
    }

    /** Requests of peers that the listening channels of this process have rejected for this reason. */
    public long rejections(RdmaRejection reason) {
        return rejections[reason.ordinal()].sum();
    }

    /** Requests whose peers have gone, or have not answered in time, before their connection was made. */
    public long vanishedPeers() {
        return vanished.sum();
    }

    void connected(RdmaProviderChoice choice) {
        connects[choice.provider().ordinal()][choice.reason().ordinal()].increment();
    }

    /** @param provider of the last attempt, or {@code null}. */
    void failed(SocketAddress remote, VerbsProvider provider, Throwable cause) {
        RdmaConnectFailure reason = RdmaConnectFailure.of(cause);
        failures(provider)[reason.ordinal()].increment();
        Recorder.connectFailed(remote, reason.name().toLowerCase(Locale.ROOT), cause);
    }

    void rejected(RdmaRejection reason) {
        rejections[reason.ordinal()].increment();
    }

    void vanished() {
        vanished.increment();
    }

    /**
     * A text such as {@code ibverbs connects: none; embedded connects: NEAREST=2; connect failures: REFUSED=1; ...}.
     */
    @Override
    public String toString() {
        return Arrays.stream(PROVIDERS).map(provider -> provider.name().toLowerCase(Locale.ROOT) + " connects: " +
                text(RdmaProviderReason.values(), reason -> connects(provider, reason)))
                .collect(Collectors.joining("; ")) +
                "; connect failures: " + text(RdmaConnectFailure.values(), this::failures) + "; rejections: " +
                text(RdmaRejection.values(), this::rejections) + "; peers that vanished: " + vanishedPeers();
    }

    private static <E extends Enum<E>> String text(E[] reasons, ToLongFunction<E> counts) {
        String text = Arrays.stream(reasons).filter(reason -> counts.applyAsLong(reason) > 0)
                .map(reason -> reason + "=" + counts.applyAsLong(reason)).collect(Collectors.joining(", "));
        return text.isEmpty() ? "none" : text;
    }
}
