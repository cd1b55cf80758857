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
package io.netty.microbench.rdma.report;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Measurement.Unit;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Windows;
import io.netty.microbench.rdma.load.Window;
import io.netty.microbench.rdma.process.Probe;
import io.netty.microbench.rdma.sample.CompilerWatch;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.LongStream;

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
        Probe probe = new Probe(1, 22, 333, 4444, 55555, 666666, 7777777);
        assertThat(Probe.parse(probe.toString())).isEqualTo(probe);
        assertThat(probe.since(new Probe(1, 2, 3, 4, 5, 6, 7)))
                .isEqualTo(new Probe(0, 20, 330, 4440, 55550, 666660, 7777777));
    }

    @Test
    void medianAndRangeAreOfAllRounds() {
        for (long p50 : new long[] {5000, 1000, 9000, 3000}) {
            results.add(FAST, new Measurement("it", 1, 1, Unit.OPERATIONS, p50, p50, p50));
            results.add(FAST, new Measurement("another", 1, 1, Unit.OPERATIONS, 1, 1, 1));
        }
        Spread summary = results.spread(FAST, "it", Figure.P50);
        assertThat(summary.median()).isEqualTo(4000);
        assertThat(summary.min()).isEqualTo(1000);
        assertThat(summary.max()).isEqualTo(9000);
    }

    @Test
    void windowsOfARoundAreTakenTogether() {
        Window shorter = window(1_000_000, 1000, 1000);
        Window longer = window(3_000_000, 1000, 3000, 3000, 3000, 3000, 3000);
        Sample sample = Sample.of("it", 0, Settling.Seen.SETTLED, List.of(shorter, longer),
                List.of(used(1_250_000, 100_000), used(3_750_000, 900_000)),
                List.of(used(2_000_000, 0), used(2_000_000, 4_000_000)));
        assertThat(sample.measurement().count()).isEqualTo(8);
        assertThat(sample.windows()).extracting(Measurement::perSecond).containsExactly(2000L, 2000L);
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
        assertThat(write())
                .containsPattern("\\| plaintext \\| nio +\\| 1.0 +\\| 2.0 +\\| 3.0 +\\| 18000 +\\| 9000 to 27000 +"
                        + "\\| +\\| +\\| 2.0 +\\| 6.0 \\(3.0 to 9.0\\) +\\| 2.0 \\(1.0 to 3.0\\) +\\| 3 of 3 +\\|")
                .containsPattern("\\| plaintext \\| epoll .* 1.0 +\\| 1.0 +\\| 0.3 +\\| 3 of 3 +\\|");
    }

    @Test
    void bytesAreCountedWhereTheyMatter() {
        Sample sample = Sample.of("download", 1_000_000, Settling.Seen.SETTLED, List.of(window(1_000_000, 900_000)),
                List.of(used(1_000_000, 500_000)), List.of(used(1_000_000, 250_000)));
        results.add(FAST, sample);
        assertThat(write())
                .containsPattern("\\| download \\| nio .*\\| 1000 MB +\\| 1000 MB to 1000 MB "
                        + "+\\| 0.50 s +\\| 0.25 s +\\|");
    }

    @Test
    void rowThatDidNotSettleHasAFigureAMarkAndTheRangeOfItsWindows() {
        add(FAST, Settling.State.UNSTEADY, 1000, 250, 2000);
        assertThat(write())
                .containsPattern("\\| it +\\| nio +\\|.*\\| 545 \\? +\\| 250 to 2000 .*\\| 0 of 1 +\\|")
                .contains("\n\n\"?\": ", "the rate jumped between windows in it (nio)");
    }

    @Test
    void rangeOfARowThatSettledIsThatOfItsWindowsToo() {
        add(FAST, Settling.State.SETTLED, 1000, 900, 1100);
        add(FAST, Settling.State.SETTLED, 1000, 1000, 1200);
        assertThat(write()).contains(" 900 to 1200 ", "2 of 2")
                .doesNotContain(Remarks.MARK + ' ', "\"?\": ");
    }

    @Test
    void rowThatWouldBeWrongHasNoFigures() {
        add(FAST, Settling.State.YOUNG, 1234);
        add(EPOLL, Settling.State.SETTLED, 1000);
        assertThat(write())
                .containsPattern("\\| it +\\| nio +\\| not settled +\\|[ |]+too short[ |]+0 of 1")
                .doesNotContain("1234").contains("no figures of it (nio)");
    }

    @Test
    void roundsThatDidNotSettleCountOnlyWhereMostDidNot() {
        add(FAST, Settling.State.COMPILING, 4321);
        add(FAST, Settling.State.SETTLED, 1000);
        assertThat(write()).containsPattern("1000 to 1000 .*1 of 2").doesNotContain("4321");
        add(FAST, Settling.State.UNSTEADY, 4321);
        add(FAST, Settling.State.YOUNG, 9999);
        assertThat(write()).as("less than half")
                .containsPattern("\\| 4321 \\? +\\| 1000 to 4321 .*1 of 4").doesNotContain("9999");
    }

    /** The ratio may have been as high as the best of one by the worst of the other. */
    @Test
    void ratioOfARowThatDidNotSettleHasTheRangeOfWindows() {
        add(FAST, Settling.State.UNSTEADY, 1000, 1000, 4000);
        add(EPOLL, Settling.State.SETTLED, 500, 500, 500);
        Spread ratios = results.ratio(FAST, EPOLL, "it", Figure.OPERATIONS);
        assertThat(ratios.min()).isEqualTo(2);
        assertThat(ratios.max()).isEqualTo(8);
        assertThat(ratios.median()).isBetween(2.0, 8.0);
        assertThat(results.ratio(EPOLL, FAST, "it", Figure.OPERATIONS).min()).isEqualTo(1 / 8.0);
        add(FAST, Settling.State.SETTLED, 1000, 1000, 1100);
        add(EPOLL, Settling.State.SETTLED, 500, 500, 500);
        assertThat(results.ratio(FAST, EPOLL, "it", Figure.OPERATIONS).max()).as("half of the rounds settled")
                .isBetween(2.0, 2.2);
    }

    @Test
    void ratioIsOfRoundsThatHaveFiguresWhereNoneSettledForBoth() {
        add(FAST, Settling.State.UNSTEADY, 3000);
        add(FAST, Settling.State.SETTLED, 1000);
        add(EPOLL, Settling.State.SETTLED, 1000);
        add(EPOLL, Settling.State.COMPILING, 1000);
        assertThat(results.ratio(FAST, EPOLL, "it", Figure.OPERATIONS)).isEqualTo(new Spread(2, 1, 3));
    }

    @Test
    void partsOfAProgramsMeasurementAreItsWindows() {
        Measurement measurement = new Measurement("it", 10, 5000, Unit.BYTES, 1, 2, 3);
        // Two operations in each window; the last one takes six times as long as the others.
        Windows windows = Windows.parse("windows 10 0 1000 2000 3000 4000 5000 11000 0 2 4 6 8 10");
        CompilerWatch watch = new CompilerWatch(List.of());
        watch.close();
        Sample sample = watch.sample(measurement, windows);
        assertThat(sample.windows()).extracting(Measurement::perSecond)
                .containsExactly(10000L, 10000L, 10000L, 10000L, 1667L);
        assertThat(sample.state()).isEqualTo(Settling.State.YOUNG);
    }

    @Test
    void nothingIsComparedWithEpollThatWasNotMeasured() {
        results.add(FAST, new Measurement("plaintext", 1, 9000, Unit.OPERATIONS, 1000, 2000, 3000));
        assertThat(write()).containsPattern("9000 to 9000 [ |]+1 of 1");
    }

    private String write() {
        return new Report(results, "--full").write();
    }

    /** A round with a window for each rate. */
    private void add(String who, Settling.State state, long... perSecond) {
        results.add(who, Sample.of("it", 0, new Settling.Seen(state, 0, 0),
                LongStream.of(perSecond).mapToObj(rate -> window(1_000_000_000 / rate, 1)).toList(),
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
        return new Probe(nanos, cpuNanos, 0, 0, 0, 0, 0);
    }
}
