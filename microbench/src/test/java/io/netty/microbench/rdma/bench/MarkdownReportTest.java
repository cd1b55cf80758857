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
package io.netty.microbench.rdma.bench;

import io.netty.example.rdma.util.Measurement;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;

import static org.assertj.core.api.Assertions.assertThat;

class MarkdownReportTest {
    private static final String SCENARIO = "round trips of 64 B";

    private static final BenchResults RESULTS = BenchResultsTest.results(
            new Reading(1, "limit", SCENARIO, Figure.P50, 500), new Reading(2, "limit", SCENARIO, Figure.P50, 600),
            new Reading(1, "rdma", SCENARIO, Figure.P50, 1000), new Reading(2, "rdma", SCENARIO, Figure.P50, 1000),
            new Reading(1, "rdma", SCENARIO, Figure.P99, 2500), new Reading(1, "epoll", SCENARIO, Figure.P50, 70_000),
            new Reading(2, "epoll", SCENARIO, Figure.P50, 80_000),
            new Reading(1, "nio", SCENARIO, Figure.P50, 5, "too short"),
            new Reading(1, "rdma", "round trips of 1 MiB", Figure.P50, 200_000));

    @TempDir
    private Path folder;

    @Test
    void rowsHaveMediansRangesAndRatios() {
        assertThat(new MarkdownReport(RESULTS).write().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| round trips of 64 B | limit | 0.55 | 0.50 to 0.60 | | 137 (133 to 140) | |",
                        "| round trips of 64 B | rdma | 1.00 | 1.00 | 2.50 | 75.0 (70.0 to 80.0) | 0.55 (0.50 to 0.60) "
                                + "|",
                        "| round trips of 64 B | epoll | 75.0 | 70.0 to 80.0 | | | 0.01 |",
                        "| round trips of 1 MiB | rdma | 200 | 200 | | | |",
                        "![Round trips](round-trips.svg)");
    }

    @Test
    void eventLoopsTogetherHaveTheirRatioToOne() {
        MarkdownReport report = new MarkdownReport(BenchResultsTest.results(
                new Reading(1, "rdma", Section.scaleStreams(1), Figure.BYTES, 10e9),
                new Reading(2, "rdma", Section.scaleStreams(1), Figure.BYTES, 10e9),
                new Reading(1, "rdma", Section.scaleStreams(7), Figure.BYTES, 60e9),
                new Reading(2, "rdma", Section.scaleStreams(7), Figure.BYTES, 70e9)));
        assertThat(report.write().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| what | transport | bytes, GB/s | range | x 1 loop |",
                        "| streams of 64 KiB, 2 connections a loop, 1 loop | rdma | 10.0 | 10.0 | |",
                        "| streams of 64 KiB, 2 connections a loop, 7 loops | rdma | 65.0 | 60.0 to 70.0 "
                                + "| 6.50 (6.00 to 7.00) |");
    }

    @Test
    void roundsThatDifferHaveAMark() {
        MarkdownReport report = new MarkdownReport(BenchResultsTest.results(
                new Reading(1, "rdma", SCENARIO, Figure.P50, 1000), new Reading(2, "rdma", SCENARIO, Figure.P50, 9000),
                new Reading(1, "epoll", SCENARIO, Figure.P50, 70_000),
                new Reading(2, "epoll", SCENARIO, Figure.P50, 70_000)));
        assertThat(report.write().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| round trips of 64 B | rdma | 5.00 ? | 1.00 to 9.00 | 38.9 (7.78 to 70.0) |");
        assertThat(report.writeSummary().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| round trips of 64 B: p50, µs | 5.00 ? | 70.0 |");
    }

    @Test
    void summaryHasAColumnForEachSubject() {
        assertThat(new MarkdownReport(RESULTS).writeSummary().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| what | limit | rdma | epoll | nio |",
                        "| round trips of 64 B: p50, µs | 0.55 | 1.00 | 75.0 | |");
    }

    @Test
    void targetsComeFirst() {
        MarkdownReport report = new MarkdownReport(BenchResultsTest.results(
                new Reading(1, "limit", SCENARIO, Figure.P50, 500),
                new Reading(1, "rdma polling", SCENARIO, Figure.P50, 2000)));
        String row = "| round trips of 64 B: p50 | rdma polling | at most 0.60 µs more than limit | 1.50 µs more "
                + "| missed by 0.90 µs |";
        for (String text : List.of(report.write(), report.writeSummary())) {
            List<String> lines = text.lines().map(line -> line.replaceAll(" +", " ")).toList();
            assertThat(lines).contains(row);
            assertThat(lines.stream().filter(line -> line.startsWith("## "))).first().isEqualTo("## Targets");
        }
        assertThat(report.writeTargets().lines().map(line -> line.replaceAll(" +", " "))).contains(row);
    }

    @Test
    void whatWouldBeWrongSaysSoInsteadOfANumber() {
        assertThat(new MarkdownReport(RESULTS).write().lines().filter(line -> line.contains("| nio ")))
                .singleElement().asString().contains("not settled: too short").doesNotContainPattern("0\\.0");
    }

    @Test
    void whatHasNotSettledHasAMarkTheRangeOfItsWindowsAndARemark() {
        MarkdownReport report = new MarkdownReport(BenchResultsTest.results(
                new Reading(1, "rdma", SCENARIO, Figure.P50, 1000, "unsteady",
                        new Reading.Windows(500, 7000, 0, 0.4)),
                new Reading(1, "epoll", SCENARIO, Figure.P50, 70_000)));
        assertThat(report.write().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| round trips of 64 B | rdma | 1.00 ? | 0.50 to 7.00 | 70.0 (10.0 to 140) |")
                .anySatisfy(line -> assertThat(line).startsWith("\"?\": ").contains("the rate jumped between windows "
                        + "in round trips of 64 B (rdma), while others took the cores for 40 % of the time."));
        assertThat(report.writeSummary().lines().map(line -> line.replaceAll(" +", " ")))
                .contains("| round trips of 64 B: p50, µs | 1.00 ? | 70.0 |");
    }

    /** The plots have the same range. */
    @Test
    void readingsHaveTheRangeOfTheirWindows() {
        List<Measurement> windows = List.of(measurement(100, 20), measurement(300, 10));
        Readings readings = new Readings(1, "rdma");
        readings.addBatches(new Sample(measurement(200, 15),
                new Settling.Seen(Settling.State.UNSTEADY, 0.1, 0.2), windows, null, new Sample.Cost(1, 2),
                new Sample.Cost(3, 4), new Histogram(3)), 64);
        assertThat(readings.list()).first().isEqualTo(new Reading(1, "rdma", SCENARIO, Figure.OPERATIONS, 12_800,
                "unsteady", new Reading.Windows(6400, 19_200, 0.1, 0.2)));
        readings.add(new Sample(measurement(200, 15), new Settling.Seen(Settling.State.UNSTEADY, 0.1, 0.2), windows,
                null, new Sample.Cost(1, 2), new Sample.Cost(3, 4), new Histogram(3)), "it");
        assertThat(readings.list()).contains(new Reading(1, "rdma", "it", Figure.P50, 15, "unsteady",
                new Reading.Windows(10, 20, 0.1, 0.2)),
                new Reading(1, "rdma", "it", Figure.CPU_PER_OPERATION, 4, "unsteady"));
    }

    private static Measurement measurement(long perSecond, long nanos) {
        return new Measurement(SCENARIO, 1, perSecond, Measurement.Unit.OPERATIONS, nanos, nanos, nanos);
    }

    @Test
    void whatCouldNotBeMeasuredSaysWhy() {
        assertThat(new MarkdownReport(RESULTS).write()).contains("| echo | io_uring  | not in this kernel |");
    }

    @Test
    void thereIsAPlotForEachSectionWithFigures() throws Exception {
        new Plots(RESULTS).write(folder);
        try (var files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactly("round-trips.svg");
        }
        DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
        parsers.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        assertThat(parsers.newDocumentBuilder().parse(folder.resolve("round-trips.svg").toFile())
                .getDocumentElement().getNodeName()).isEqualTo("svg");
    }

    @Test
    void labelsLeaveOutWhatAllHave() {
        assertThat(Plots.labels(List.of("plaintext, 1 connection", "plaintext, 16 connections")))
                .containsExactly("1 connection", "16 connections");
        assertThat(Plots.labels(List.of("a", "b"))).containsExactly("a", "b");
        assertThat(Plots.labels(List.of("only one"))).containsExactly("only one");
    }

    @Test
    void machineIsDescribedAsFarAsItTells() {
        Machine machine = Machine.here("embedded");
        assertThat(machine.processor()).isNotEmpty();
        assertThat(machine.memory()).isPositive();
        assertThat(machine.toString()).contains(machine.cores() + " cores of ", "Netty 4.2", "embedded verbs provider");
    }
}
