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
import io.netty.example.rdma.compare.Measurement.Unit;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTest {
    private static final Mode FAST = new Mode(Transport.NIO, false);
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);

    @Test
    void measurementIsReadAsItWasPrinted() {
        Measurement answers = new Measurement("plaintext, 16 in flight: 1 B", 1000, 5, Unit.OPERATIONS, 1, 22, 333);
        Measurement download = new Measurement("a download", 3, 12_345_678_901L, Unit.BYTES, 0, 0, 0);
        assertThat(Measurement.parse(answers.toString())).isEqualTo(answers);
        assertThat(Measurement.parse(download.toString())).isEqualTo(download);
        assertThat(Measurement.parse("something else")).isNull();
    }

    @Test
    void medianAndRangeAreOfAllRounds() {
        Results results = new Results();
        for (long p50 : new long[] {5000, 1000, 9000, 3000}) {
            results.add(FAST, new Measurement("it", 1, 1, Unit.OPERATIONS, p50, p50, p50));
            results.add(FAST, new Measurement("another", 1, 1, Unit.OPERATIONS, 1, 1, 1));
        }
        Results.Summary summary = results.summary(FAST, "it", Measurement::p50);
        assertThat(summary.median()).isEqualTo(4000);
        assertThat(summary.min()).isEqualTo(1000);
        assertThat(summary.max()).isEqualTo(9000);
    }

    @Test
    void ratioSaysHowManyTimesBetterThanEpoll() {
        Results results = new Results();
        results.add(FAST, new Measurement("plaintext", 1, 9000, Unit.OPERATIONS, 1000, 2000, 3000));
        results.add(EPOLL, new Measurement("plaintext", 1, 3000, Unit.OPERATIONS, 2000, 2000, 3000));
        results.add(FAST, new Measurement("download", 1, 1_000_000_000, Unit.BYTES, 4_000_000, 4_000_000, 4_000_000));
        results.add(EPOLL, new Measurement("download", 1, 500_000_000, Unit.BYTES, 8_000_000, 8_000_000, 8_000_000));
        assertThat(new Report(results, List.of(FAST, EPOLL)).write())
                .containsPattern("\\| plaintext \\| nio blocking +\\| 1.0 +\\| 2.0 +\\| 3.0 +\\| 9000 +"
                        + "\\| 9000 to 9000 +\\| 2.0 +\\| 3.0 +\\|")
                .containsPattern("\\| download +\\| nio blocking +\\| 4000 +\\| 4000 +\\| 4000 +\\| 1000 MB +"
                        + "\\| 1000 MB to 1000 MB +\\| 2.0 +\\| 2.0 +\\|")
                .containsPattern("\\| download +\\| epoll blocking .* 1.0 +\\| 1.0 +\\|");
    }

    @Test
    void nothingIsComparedWithEpollThatWasNotMeasured() {
        Results results = new Results();
        results.add(FAST, new Measurement("plaintext", 1, 9000, Unit.OPERATIONS, 1000, 2000, 3000));
        assertThat(new Report(results, List.of(FAST)).write()).containsPattern("9000 to 9000 +\\| +\\| +\\|");
    }
}
