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

import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class TableGoalTest {
    private static final String SLOW = Section.paced(1000, 1);
    private static final String FAST = Section.paced(10_000, 16);
    private static final String FASTER = Section.paced(30_000, 16);

    private static TableGoal goal(String measure, String base) {
        return TableGoal.of(BenchResultsTest.results()).stream().filter(goal -> goal.measure().equals(measure)
                && goal.cells().get(0).base().subject().equals(base)).findFirst().orElseThrow();
    }

    private static Reading reading(String subject, String scenario, Figure figure, double value) {
        return new Reading(1, subject, scenario, figure, value);
    }

    private static Reading p50(String subject, String scenario, double value) {
        return reading(subject, scenario, Figure.P50, value);
    }

    @Test
    void worstCellIsTheFigure() {
        TableGoal goal = goal("paced, from 10000 a second: p50", "epoll");
        assertThat(goal.subject()).isEqualTo("rdma");
        assertThat(goal.text()).isEqualTo("at most 0.50 times epoll");
        BenchResults results = BenchResultsTest.results(p50("rdma", FAST, 40), p50("epoll", FAST, 100),
                p50("rdma", FASTER, 60), p50("epoll", FASTER, 100));
        assertThat(goal.verdict(results)).isEqualTo("met in 1 of 2 cells");
        assertThat(goal.figure(results)).isEqualTo("0.60 times: " + FASTER + ": p50");
        results = BenchResultsTest.results(p50("rdma", FAST, 40), p50("epoll", FAST, 100));
        assertThat(goal.verdict(results)).isEqualTo("met in 1 of 1 cells");
    }

    @Test
    void worstRateIsTheLowest() {
        TableGoal goal = goal("under noise: rate", "rdma polling");
        String five = Section.underNoise("plaintext, 1 connection", 5);
        String stream = Section.underNoise("a stream of writes of 64 KiB", 20);
        assertThat(goal.text()).isEqualTo("at least 0.80 times rdma polling");
        BenchResults results = BenchResultsTest.results(
                reading("rdma", five, Figure.OPERATIONS, 70), reading("rdma polling", five, Figure.OPERATIONS, 100),
                reading("rdma", stream, Figure.BYTES, 30), reading("rdma polling", stream, Figure.BYTES, 100));
        assertThat(goal.figure(results)).isEqualTo("0.30 times: " + stream + ": bytes");
        assertThat(goal.verdict(results)).isEqualTo("met in 0 of 2 cells");
    }

    @Test
    void cellIsMetInTheMedianOfTheRounds() {
        TableGoal goal = goal("paced, below 10000 a second: p50", "epoll");
        BenchResults results = BenchResultsTest.results(p50("rdma", SLOW, 100), p50("epoll", SLOW, 100),
                new Reading(2, "rdma", SLOW, Figure.P50, 100), new Reading(2, "epoll", SLOW, Figure.P50, 100),
                new Reading(3, "rdma", SLOW, Figure.P50, 900), new Reading(3, "epoll", SLOW, Figure.P50, 100));
        assertThat(goal.verdict(results)).isEqualTo("met in 1 of 1 cells");
        assertThat(goal.figure(results)).isEqualTo("1.00 times (1.00 to 9.00): " + SLOW + ": p50");
    }

    @Test
    void cellsWithoutAFigureAreCountedAndThoseOfOtherPlansAreNot() {
        TableGoal goal = goal("paced, from 10000 a second: p50", "epoll");
        BenchResults results = BenchResultsTest.results(p50("rdma", FAST, 40), p50("epoll", FAST, 100),
                p50("epoll", FASTER, 100), new Reading(1, "rdma", FASTER, Figure.P50, 10, "too short"));
        assertThat(goal.verdict(results)).isEqualTo("met in 1 of 1 cells, 1 more without a figure");
    }

    @Test
    void cellsThatHadNotSettledCountAndAreTold() {
        TableGoal goal = goal("paced, from 10000 a second: p50", "epoll");
        BenchResults results = BenchResultsTest.results(p50("rdma", FAST, 40), p50("epoll", FAST, 100),
                p50("epoll", FASTER, 100), new Reading(1, "rdma", FASTER, Figure.P50, 10, "compiling"));
        assertThat(goal.verdict(results)).isEqualTo("met in 2 of 2 cells, of which 1 had not settled");
    }

    @Test
    void tableThatWasNotMeasuredSaysHowItIs() {
        BenchResults results = BenchResultsTest.results();
        for (TableGoal goal : TableGoal.of(results)) {
            assertThat(goal.figure(results)).isEmpty();
            assertThat(goal.verdict(results))
                    .startsWith("not measured: not in this run, but by `./run-bench.sh --only");
        }
    }

    /** Else a cell would never be measured. */
    @Test
    void cellsAreAboutWhatTablesShow() {
        for (TableGoal goal : TableGoal.of(BenchResultsTest.results())) {
            assertThat(goal.cells()).as(goal.measure()).isNotEmpty().allSatisfy(cell ->
                    assertThat(Section.has(cell.ours().scenario(), cell.ours().figure())).isTrue());
        }
    }

    /** One row has one text for all. */
    @Test
    void cellsHaveTheSameGoal() {
        for (TableGoal goal : TableGoal.of(BenchResultsTest.results())) {
            assertThat(goal.cells()).as(goal.measure()).allSatisfy(cell -> {
                assertThat(cell.ours().subject()).isEqualTo(goal.subject());
                assertThat(cell.text()).isEqualTo(goal.text());
            });
        }
    }

    @Test
    void allRatesAndNumbersOfConnectionsAreInTheGoals() {
        List<String> cells = TableGoal.of(BenchResultsTest.results()).stream().filter(goal ->
                goal.measure().endsWith(": p99")).flatMap(goal -> goal.cells().stream())
                .map(cell -> cell.ours().scenario()).toList();
        assertThat(cells).containsExactlyInAnyOrderElementsOf(Stream.of(1, 16, 256).flatMap(connections ->
                Stream.of(100, 300, 1000, 3000, 10_000, 30_000, 100_000).map(rate -> Section.paced(rate, connections)))
                .toList());
    }

    @Test
    void runInTheGuestHasNone() {
        BenchResults empty = BenchResultsTest.results();
        assertThat(TableGoal.of(new BenchResults(empty.format(), empty.taken(), Effort.RXE.name(), 1, empty.machine(),
                List.of(), List.of()))).isEmpty();
    }
}
