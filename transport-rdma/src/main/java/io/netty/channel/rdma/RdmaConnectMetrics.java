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

import java.net.SocketAddress;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Connections of this process that were not made, and why: of all byte-stream and message channels. Those that were
 * made are counted by {@link RdmaDeviceMetrics}. Any thread.
 */
public final class RdmaConnectMetrics {
    private static final RdmaConnectMetrics TOTAL = new RdmaConnectMetrics();

    private final LongAdder[] failures = adders(RdmaConnectFailure.values().length);
    private final LongAdder[] rejections = adders(RdmaRejection.values().length);
    private final LongAdder vanished = new LongAdder();

    private RdmaConnectMetrics() { }

    private static LongAdder[] adders(int count) {
        LongAdder[] adders = new LongAdder[count];
        Arrays.setAll(adders, index -> new LongAdder());
        return adders;
    }

    /** Those of this process. */
    public static RdmaConnectMetrics total() {
        return TOTAL;
    }

    /** Connects that have failed for this reason. Those that the application has cancelled don't count. */
    public long failures(RdmaConnectFailure reason) {
        return failures[reason.ordinal()].sum();
    }

    /** Requests of peers that the listening channels of this process have rejected for this reason. */
    public long rejections(RdmaRejection reason) {
        return rejections[reason.ordinal()].sum();
    }

    /** Requests whose peers have gone, or have not answered in time, before their connection was made. */
    public long vanishedPeers() {
        return vanished.sum();
    }

    void failed(SocketAddress remote, Throwable cause) {
        RdmaConnectFailure reason = RdmaConnectFailure.of(cause);
        failures[reason.ordinal()].increment();
        Recorder.connectFailed(remote, reason.name().toLowerCase(Locale.ROOT), cause);
    }

    void rejected(RdmaRejection reason) {
        rejections[reason.ordinal()].increment();
    }

    void vanished() {
        vanished.increment();
    }

    @Override
    public String toString() {
        return "connect failures: " + text(RdmaConnectFailure.values(), failures) + "; rejections: " +
                text(RdmaRejection.values(), rejections) + "; peers that vanished: " + vanishedPeers();
    }

    private static String text(Enum<?>[] reasons, LongAdder[] counts) {
        return Arrays.stream(reasons).map(reason -> reason + "=" + counts[reason.ordinal()])
                .collect(Collectors.joining(", "));
    }
}
