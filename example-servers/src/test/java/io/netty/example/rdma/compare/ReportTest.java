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
package io.netty.example.rdma.compare;

import io.netty.example.rdma.Transport;
import io.netty.example.rdma.compare.Measurement.RoundTrips;
import io.netty.example.rdma.compare.Measurement.Stream;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTest {
    private static final Mode FAST = new Mode(Transport.NIO, false);
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);

    @Test
    void measurementIsReadAsItWasPrinted() {
        Measurement roundTrips = new RoundTrips(64, 1000, 1, 22, 333);
        Measurement stream = new Stream(65536, 12_345_678_901L);
        assertThat(Measurement.parse(roundTrips.toString())).isEqualTo(roundTrips);
        assertThat(Measurement.parse(stream.toString())).isEqualTo(stream);
        assertThat(Measurement.parse("something else")).isNull();
    }

    @Test
    void medianAndRangeAreOfAllRounds() {
        Results results = new Results();
        for (long p50 : new long[] {5000, 1000, 9000, 3000}) {
            results.add(FAST, new RoundTrips(64, 1, p50, p50, p50));
        }
        Results.Summary summary = results.roundTrips(FAST, 64, RoundTrips::p50);
        assertThat(summary.median()).isEqualTo(4000);
        assertThat(summary.min()).isEqualTo(1000);
        assertThat(summary.max()).isEqualTo(9000);
    }

    @Test
    void ratioSaysHowManyTimesBetterThanEpoll() {
        Results results = new Results();
        for (Mode mode : List.of(FAST, EPOLL)) {
            long factor = mode == FAST ? 1 : 8;
            for (int bytes : Plan.MESSAGE_BYTES) {
                results.add(mode, new RoundTrips(bytes, 1, 2000 * factor, 3000, 4000));
            }
            for (int bytes : Plan.WRITE_BYTES) {
                results.add(mode, new Stream(bytes, 16_000_000_000L / factor));
            }
        }
        assertThat(new Report(results, List.of(FAST, EPOLL)).write())
                .containsPattern("\\| 64 B +\\| nio blocking +\\| 2.0 +\\| 2.0 to 2.0 +\\| 3.0 +\\| 4.0 +\\| 8.0 +\\|")
                .containsPattern("\\| 64 KiB +\\| nio blocking +\\| 16.0 +\\| 16.0 to 16.0 +\\| 8.0 +\\|")
                .containsPattern("\\| 64 KiB +\\| epoll blocking +\\| 2.0 +\\| 2.0 to 2.0 +\\| 1.0 +\\|");
    }
}
