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

import io.netty.channel.rdma.attempt.Destination;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class RdmaOrTcpFailuresTest {
    private static final RdmaOrTcpFallback REFUSED =
            new RdmaOrTcpFallback(RdmaOrTcpFallback.Reason.REFUSED, "Connection refused");

    private final MockTicker clock = Ticker.newMockTicker();
    private final RdmaOrTcpFailures failures = new RdmaOrTcpFailures(3, clock);

    @Test
    void failureIsForgottenAfterItsTime() {
        remember(destination(1), REFUSED, Duration.ofSeconds(2));
        remember(destination(2), REFUSED, Duration.ofSeconds(3));
        assertThat(failures.get(destination(1)).reason()).isEqualTo(RdmaOrTcpFallback.Reason.REMEMBERED);
        clock.advance(2, TimeUnit.SECONDS);
        assertThat(failures.get(destination(1))).isNull();
        assertThat(failures.get(destination(2)).message()).isEqualTo("2000 ms ago: REFUSED: Connection refused");
        assertThat(failures.size()).isOne();
        clock.advance(1, TimeUnit.SECONDS);
        assertThat(failures.get(destination(2))).isNull();
        assertThat(failures.size()).isZero();
    }

    @Test
    void laterFailureCountsFromThen() {
        remember(destination(1), REFUSED, Duration.ofSeconds(2));
        clock.advance(1, TimeUnit.SECONDS);
        remember(destination(1), REFUSED, Duration.ofSeconds(2));
        clock.advance(1, TimeUnit.SECONDS);
        assertThat(failures.get(destination(1)).message()).startsWith("1000 ms ago");
    }

    @Test
    void oldestDestinationGivesWay() {
        for (int port : new int[] {1, 2, 3, 1, 4}) {
            remember(destination(port), REFUSED, Duration.ofSeconds(2));
        }
        assertThat(failures.size()).isEqualTo(3);
        assertThat(failures.get(destination(2))).isNull();
        for (int port : new int[] {1, 3, 4}) {
            assertThat(failures.get(destination(port))).as("port %s", port).isNotNull();
        }
    }

    @Test
    void portsAndAddressesAreToldApart() throws Exception {
        remember(destination(1), REFUSED, Duration.ofSeconds(2));
        assertThat(failures.get(new InetSocketAddress("192.0.2.2", 1))).isNull();
        assertThat(failures.get(destination(2))).isNull();
        // A name that was resolved to the same address is the same destination.
        assertThat(failures.get(new InetSocketAddress(InetAddress.getByAddress("name",
                new byte[] {(byte) 192, 0, 2, 1}), 1))).isNotNull();
    }

    @Test
    void canBeForgottenAndCleared() {
        remember(destination(1), REFUSED, Duration.ofSeconds(2));
        remember(destination(2), REFUSED, Duration.ofSeconds(2));
        failures.forget(destination(1));
        assertThat(failures.get(destination(1))).isNull();
        assertThat(failures.size()).isOne();
        failures.clear();
        assertThat(failures.size()).isZero();
    }

    @Test
    void sizeMustBePositive() {
        assertThatThrownBy(() -> new RdmaOrTcpFailures(0)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxDestinations");
    }

    /** As a connect does. */
    private void remember(InetSocketAddress destination, RdmaOrTcpFallback fallback, Duration time) {
        failures.memory().remember(new Destination(destination), RdmaOrTcpTransport.RDMA, fallback, time.toNanos());
    }

    private static InetSocketAddress destination(int port) {
        // RFC 5737: an address for documentation.
        return new InetSocketAddress("192.0.2.1", port);
    }
}
