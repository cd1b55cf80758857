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

import io.netty.channel.rdma.LogRecorder;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.monitor.TcpDestination;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import io.netty.util.internal.logging.InternalLogLevel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class FallbackLogTest {
    /** RFC 5737: an address for documentation. */
    private static final String HOST = "192.0.2.35";

    private final MockTicker clock = Ticker.newMockTicker();

    @Test
    void linesAreBoundedAndThoseLeftOutAreCounted() {
        FallbackLog log = new FallbackLog(clock);
        for (int i = 0; i < 20; i++) {
            assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.INFO);
        }
        for (int i = 0; i < 1000; i++) {
            assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.DEBUG);
        }
        clock.advance(3, TimeUnit.SECONDS);
        try (LogRecorder recorder = new LogRecorder(RdmaOrTcp.class.getName(), Level.INFO)) {
            assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.INFO);
            assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.DEBUG);
            assertThat(recorder.messages(Level.INFO)).singleElement().asString().contains("1000 lines", "left out");
        }
        clock.advance(1, TimeUnit.HOURS);
        for (int i = 0; i < 20; i++) {
            assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.INFO);
        }
        assertThat(log.levelOfChange()).isEqualTo(InternalLogLevel.DEBUG);
    }

    @Test
    void destinationIsNewWithEachReasonAndAfterRdma() {
        InetSocketAddress remote = new InetSocketAddress(HOST, 1);
        TcpDestination.Connected first = TcpDestination.connected(remote, "refused", "Connection refused");
        assertThat(first.isNew()).isTrue();
        TcpDestination.Connected second = TcpDestination.connected(remote, "refused", "Connection refused");
        assertThat(second.isNew()).isFalse();
        assertThat(rows()).containsExactly(new TcpDestination.Row(remote, "refused", "Connection refused", 2, 2));
        first.closed();
        TcpDestination.Connected third = TcpDestination.connected(remote, "timeout", "no answer");
        assertThat(third.isNew()).isTrue();
        assertThat(TcpDestination.connectedByRdma(remote)).isTrue();
        assertThat(TcpDestination.connectedByRdma(remote)).isFalse();
        assertThat(rows()).as("there are connections").containsExactly(
                new TcpDestination.Row(remote, "timeout", "no answer", 3, 2));
        TcpDestination.Connected fourth = TcpDestination.connected(remote, "timeout", "no answer");
        assertThat(fourth.isNew()).isTrue();
        TcpDestination.connectedByRdma(remote);
        second.closed();
        third.closed();
        fourth.closed();
        assertThat(rows()).isEmpty();
    }

    private static List<TcpDestination.Row> rows() {
        return TcpDestination.all().stream().filter(row -> row.remote().getHostString().equals(HOST)).toList();
    }

    @Test
    void destinationsAreBounded() {
        for (int i = 1; i <= 2000; i++) {
            TcpDestination.connected(new InetSocketAddress(HOST, i), "refused", "").closed();
        }
        assertThat(TcpDestination.all()).hasSize(1024);
        for (int i = 1; i <= 2000; i++) {
            TcpDestination.connectedByRdma(new InetSocketAddress(HOST, i));
        }
        assertThat(rows()).isEmpty();
    }

    @Test
    void listenerOfThisHostHasLongerToAnswer() {
        InetSocketAddress own = TestAddress.anyPort();
        boolean sharedMemory = VerbsApi.usable().get(0).provider() == VerbsProvider.EMBEDDED;
        assertThat(settings(0, Map.of()).rdmaTimeoutMillis(own))
                .isEqualTo(sharedMemory ? 3000 : 1000);
        assertThat(settings(7, Map.of()).rdmaTimeoutMillis(own)).isEqualTo(7);
        assertThat(settings(0, Map.of(RdmaChannelOption.PROVIDERS,
                Set.of(VerbsProvider.IBVERBS))).rdmaTimeoutMillis(own)).isEqualTo(1000);
    }

    private static ConnectPlan.Settings settings(int rdmaConnectTimeoutMillis,
                                                 Map<io.netty.channel.ChannelOption<?>, ?> options) {
        return new ConnectPlan.Settings(0, rdmaConnectTimeoutMillis, 0, new RdmaOrTcpFailures(1),
                ConnectPlan.Settings.DEFAULT_RULE, options);
    }
}
