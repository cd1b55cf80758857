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
package io.netty.example.rdma.harness;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Measurement.Unit;
import io.netty.example.rdma.util.Transport;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTest {
    private static final String FAST = Mode.byDefault(Transport.NIO).toString();
    private static final String EPOLL = Mode.byDefault(Transport.EPOLL).toString();
    private static final String EPOLL_POLLING = Mode.polling(Transport.EPOLL).toString();

    private final Results results = new Results();

    @Test
    void measurementIsReadAsItWasPrinted() {
        Measurement answers = new Measurement("plaintext, 16 in flight: 1 B", 1000, 5, Unit.OPERATIONS, 1, 22, 333);
        Measurement download = new Measurement("a download", 3, 12_345_678_901L, Unit.BYTES, 0, 0, 0);
        assertThat(Measurement.parse(answers.toString())).isEqualTo(answers);
        assertThat(Measurement.parse(download.toString())).isEqualTo(download);
        assertThat(Measurement.parse("something else")).isNull();
    }

    @Test
    void probeIsReadAsItWasPrinted() {
        Probe probe = new Probe(1, 22, 333, 4444, 55555, 666666);
        assertThat(Probe.parse(probe.toString())).isEqualTo(probe);
        assertThat(probe.since(new Probe(1, 2, 3, 4, 5, 6))).isEqualTo(new Probe(0, 20, 330, 4440, 55550, 666666));
    }

    @Test
    void medianAndRangeAreOfAllRounds() {
        for (long p50 : new long[] {5000, 1000, 9000, 3000}) {
            results.add(FAST, new Measurement("it", 1, 1, Unit.OPERATIONS, p50, p50, p50));
            results.add(FAST, new Measurement("another", 1, 1, Unit.OPERATIONS, 1, 1, 1));
        }
        Spread summary = results.spread(FAST, "it", Measurement::p50);
        assertThat(summary.median()).isEqualTo(4000);
        assertThat(summary.min()).isEqualTo(1000);
        assertThat(summary.max()).isEqualTo(9000);
    }

    @Test
    void windowsOfARoundAreTakenTogether() {
        Window shorter = window(1_000_000, 1000, 1000);
        Window longer = window(3_000_000, 1000, 3000, 3000, 3000, 3000, 3000);
        Sample sample = Sample.of("it", 0, Settling.State.SETTLED, List.of(shorter, longer),
                List.of(used(1_250_000, 100_000), used(3_750_000, 900_000)),
                List.of(used(2_000_000, 0), used(2_000_000, 4_000_000)));
        assertThat(sample.measurement().count()).isEqualTo(8);
        assertThat(sample.measurement().perSecond()).isEqualTo(2000);
        assertThat(sample.measurement().p99()).isBetween(3000L, 3010L);
        // A million nanoseconds in 5 ms, of which the windows are 4, in which 8 operations ended.
        assertThat(sample.client().cpuNanos()).isEqualTo(100_000);
        assertThat(sample.server().cpuNanos()).isEqualTo(500_000);
    }

    @Test
    void ratiosAreThoseOfEachRound() {
        for (int round = 1; round <= 3; round++) {
            results.add(FAST, new Measurement("plaintext", 1, 9000L * round, Unit.OPERATIONS, 1000, 2000, 3000));
            results.add(EPOLL, new Measurement("plaintext", 1, 3000, Unit.OPERATIONS, 2000, 2000, 3000));
            results.add(EPOLL_POLLING, new Measurement("plaintext", 1, 9000, Unit.OPERATIONS, 2000, 2000, 3000));
        }
        assertThat(new Report(results).write())
                .containsPattern("\\| plaintext \\| nio +\\| 1.0 +\\| 2.0 +\\| 3.0 +\\| 18000 +\\| 9000 to 27000 +"
                        + "\\| +\\| +\\| 2.0 +\\| 6.0 \\(3.0 to 9.0\\) +\\| 2.0 \\(1.0 to 3.0\\) +\\| 3 of 3 +\\|")
                .containsPattern("\\| plaintext \\| epoll .* 1.0 +\\| 1.0 +\\| 0.3 +\\| 3 of 3 +\\|");
    }

    @Test
    void bytesAreCountedWhereTheyMatter() {
        Sample sample = Sample.of("download", 1_000_000, Settling.State.SETTLED, List.of(window(1_000_000, 900_000)),
                List.of(used(1_000_000, 500_000)), List.of(used(1_000_000, 250_000)));
        results.add(FAST, sample);
        assertThat(new Report(results).write())
                .containsPattern("\\| download \\| nio .*\\| 1000 MB +\\| 1000 MB to 1000 MB "
                        + "+\\| 0.50 s +\\| 0.25 s +\\|");
    }

    @Test
    void rowThatDidNotSettleHasNoFigures() {
        add(Settling.State.COMPILING, 1234);
        add(Settling.State.UNSTEADY, 1234);
        assertThat(new Report(results).write())
                .containsPattern("\\| it +\\| nio +\\| not settled +\\|[ |]+unsteady[ |]+0 of 2")
                .doesNotContain("1234");
    }

    @Test
    void roundsThatDidNotSettleDoNotCount() {
        add(Settling.State.COMPILING, 4321);
        add(Settling.State.SETTLED, 1000);
        assertThat(new Report(results).write()).containsPattern("1000 to 1000 .*1 of 2").doesNotContain("4321");
        add(Settling.State.UNSTEADY, 4321);
        assertThat(new Report(results).write()).as("less than half").contains("not settled").doesNotContain("4321");
    }

    @Test
    void nothingIsComparedWithEpollThatWasNotMeasured() {
        results.add(FAST, new Measurement("plaintext", 1, 9000, Unit.OPERATIONS, 1000, 2000, 3000));
        assertThat(new Report(results).write()).containsPattern("9000 to 9000 [ |]+1 of 1");
    }

    private void add(Settling.State state, long perSecond) {
        results.add(FAST, Sample.of("it", 0, state, List.of(window(1_000_000_000 / perSecond, 1)),
                List.of(used(1, 1)), List.of(used(1, 1))));
    }

    private static Window window(long nanos, long... latencies) {
        Histogram histogram = new Histogram(3);
        for (long latency : latencies) {
            histogram.recordValue(latency);
        }
        return new Window(nanos, histogram);
    }

    private static Probe used(long nanos, long cpuNanos) {
        return new Probe(nanos, cpuNanos, 0, 0, 0, 0);
    }
}
