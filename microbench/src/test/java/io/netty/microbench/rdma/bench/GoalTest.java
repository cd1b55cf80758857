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

import io.netty.microbench.rdma.bench.BenchResults.Missing;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Results.Of;
import io.netty.microbench.rdma.report.Spread;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

class GoalTest {
    private static final String SMALL = "round trips of 64 B";
    private static final String PAGE = "round trips of 4 KiB";
    private static final String CROWD = Section.roundTripsBeside(10_000);

    /** The goal of a row of the table. */
    private static Goal goal(String subject, String scenario, Figure figure) {
        return Goal.of(BenchResultsTest.results()).stream().filter(goal -> goal.ours()
                .equals(new Of(subject, scenario, figure))).findFirst().orElseThrow();
    }

    private static Reading p50(int round, String subject, String scenario, double nanos) {
        return new Reading(round, subject, scenario, Figure.P50, nanos);
    }

    private static String verdict(Goal goal, Reading... readings) {
        return goal.verdict(goal.in(BenchResultsTest.results(readings)));
    }

    private static String figure(Goal goal, Reading... readings) {
        return goal.figure(goal.in(BenchResultsTest.results(readings)));
    }

    @Test
    void differencesAreOfTheSameRound() {
        Goal goal = goal("rdma polling", SMALL, Figure.P50);
        Reading[] readings = {
                p50(1, "rdma polling", SMALL, 1500), p50(1, "limit", SMALL, 1000),
                p50(2, "rdma polling", SMALL, 600), p50(2, "limit", SMALL, 100),
                p50(3, "rdma polling", SMALL, 9000)};
        assertThat(goal.text()).isEqualTo("at most 0.60 µs more than limit");
        assertThat(figure(goal, readings)).isEqualTo("0.50 µs more");
        assertThat(verdict(goal, readings)).isEqualTo("met");
        readings[2] = p50(2, "rdma polling", SMALL, 1600);
        assertThat(figure(goal, readings)).isEqualTo("1.00 µs more (0.50 to 1.50)");
        assertThat(verdict(goal, readings)).isEqualTo("missed by 0.40 µs, met in 1 of 2 rounds");
    }

    /** The machine may be twice as fast in one round as in the next. */
    @Test
    void ratiosAreOfTheSameRound() {
        Goal goal = goal("rdma polling", PAGE, Figure.P50);
        Reading[] readings = {
                p50(1, "rdma polling", PAGE, 2800), p50(1, "limit", PAGE, 2000),
                p50(2, "rdma polling", PAGE, 6000), p50(2, "limit", PAGE, 4000),
                p50(3, "rdma polling", PAGE, 2000), p50(3, "limit", PAGE, 1000)};
        assertThat(goal.text()).isEqualTo("at most 1.50 times limit");
        assertThat(figure(goal, readings)).isEqualTo("1.50 times (1.40 to 2.00)");
        assertThat(verdict(goal, readings)).isEqualTo("met in 2 of 3 rounds");
        readings[0] = p50(1, "rdma polling", PAGE, 6000);
        assertThat(verdict(goal, readings)).isEqualTo("missed by 33 %, met in 1 of 3 rounds");
    }

    @Test
    void ofRatesMoreIsBetter() {
        Goal goal = goal("rdma polling", Section.messages(16), Figure.OPERATIONS);
        Reading epoll = new Reading(1, "epoll polling", Section.messages(16), Figure.OPERATIONS, 5e6);
        assertThat(goal.text()).isEqualTo("at least 2.00 times epoll polling");
        assertThat(verdict(goal, epoll, new Reading(1, "rdma polling", Section.messages(16), Figure.OPERATIONS, 11e6)))
                .isEqualTo("met");
        assertThat(verdict(goal, epoll, new Reading(1, "rdma polling", Section.messages(16), Figure.OPERATIONS, 9e6)))
                .isEqualTo("missed by 10 %");
    }

    @Test
    void defaultsAreComparedWithDefaultsAndPollingWithPolling() {
        assertThat(goal("rdma", Section.UNARY, Figure.P50).base().subject()).isEqualTo("epoll");
        assertThat(goal("rdma polling", Section.UNARY, Figure.P50).base().subject()).isEqualTo("epoll polling");
    }

    @Test
    void roundTripsBesideManyAreComparedWithThoseAlone() {
        Goal goal = goal("rdma", CROWD, Figure.P50);
        assertThat(goal.text()).isEqualTo("at most 1.10 times " + Section.roundTripsBeside(0));
        assertThat(verdict(goal, p50(1, "rdma", Section.roundTripsBeside(0), 1000), p50(1, "rdma", CROWD, 1650)))
                .isEqualTo("missed by 50 %");
        assertThat(verdict(goal, p50(1, "rdma", Section.roundTripsBeside(0), 1000),
                p50(1, "rdma polling", CROWD, 1000))).startsWith("not measured");
    }

    @Test
    void manyEventLoopsAreComparedWithOne() {
        Goal goal = goal("rdma", Section.scaleMessages(7), Figure.OPERATIONS);
        assertThat(goal.text()).isEqualTo("at least 6.30 times " + Section.scaleMessages(1));
        assertThat(verdict(goal, new Reading(1, "rdma", Section.scaleMessages(1), Figure.OPERATIONS, 2e6),
                new Reading(1, "rdma", Section.scaleMessages(7), Figure.OPERATIONS, 13e6))).isEqualTo("met");
        BenchResults empty = BenchResultsTest.results();
        assertThat(goal.verdict(goal.in(new BenchResults(empty.format(), empty.taken(), empty.plan(), 1,
                empty.machine(), List.of(), List.of(new Missing("rdma", "scale", "too few cores"))))))
                .isEqualTo("not measured: too few cores");
    }

    @Test
    void figuresAloneHaveUnits() {
        Goal goal = goal("rdma", CROWD, Figure.SERVER_MEMORY);
        Reading reading = new Reading(1, "rdma", CROWD, Figure.SERVER_MEMORY, 20 << 10);
        assertThat(goal.text()).isEqualTo("at most 16.0 KiB");
        assertThat(figure(goal, reading)).isEqualTo("20.0 KiB");
        assertThat(verdict(goal, reading)).isEqualTo("missed by 4.00 KiB");
    }

    @Test
    void allocatingNothingAllowsForTheBenchmarksCommandsOnly() {
        String alone = Section.roundTripsBeside(0);
        Goal goal = goal("rdma polling", alone, Figure.ALLOCATED);
        assertThat(verdict(goal, new Reading(1, "rdma polling", alone, Figure.ALLOCATED, 0.02))).isEqualTo("met");
        assertThat(verdict(goal, new Reading(1, "rdma polling", alone, Figure.ALLOCATED, 16)))
                .isEqualTo("missed by 15.5 B");
    }

    @Test
    void whatWasNotMeasuredSaysWhy() {
        Goal goal = goal("rdma polling", SMALL, Figure.P50);
        assertThat(verdict(goal)).isEqualTo(
                "not measured: not in this run, but by `./run-bench.sh --only limit,echo`");
        assertThat(verdict(goal, p50(1, "limit", SMALL, 100),
                new Reading(1, "rdma polling", SMALL, Figure.P50, 100, "too short")))
                .isEqualTo("not measured: rdma polling had not settled: too short");
        assertThat(verdict(goal, p50(1, "limit", SMALL, 100), p50(2, "rdma polling", SMALL, 100),
                new Reading(1, "rdma polling", SMALL, Figure.P50, 100, "too short")))
                .isEqualTo("not measured: in no round have both a figure");
        BenchResults empty = BenchResultsTest.results();
        for (Missing missing : List.of(new Missing("rdma polling", "echo", "no device"),
                new Missing("limit", "limit", "no device"))) {
            assertThat(goal.verdict(goal.in(new BenchResults(empty.format(), empty.taken(), empty.plan(), 1,
                    empty.machine(), List.of(), List.of(new Missing("rdma", "echo", "x"),
                            new Missing("rdma polling", "http", "y"), missing)))))
                    .isEqualTo("not measured: no device");
        }
        assertThat(goal.figure(goal.in(empty))).isEmpty();
        assertThat(verdict(goal("rdma", CROWD, Figure.P50),
                new Reading(1, "rdma", Section.roundTripsBeside(0), Figure.P50, 1, "too short"),
                p50(2, "rdma", Section.roundTripsBeside(0), 1))).contains("--only idle");
    }

    @Test
    void unsettledReadingsDecideAndSaySo() {
        Goal goal = goal("rdma polling", SMALL, Figure.P50);
        Reading limit = p50(1, "limit", SMALL, 100);
        assertThat(verdict(goal, limit, new Reading(1, "rdma polling", SMALL, Figure.P50, 100, "unsteady")))
                .isEqualTo("met, not settled");
        assertThat(verdict(goal, limit, new Reading(1, "rdma polling", SMALL, Figure.P50, 800, "compiling")))
                .isEqualTo("missed by 0.10 µs, not settled");
        assertThat(verdict(goal, new Reading(1, "limit", SMALL, Figure.P50, 100, "drifting"),
                p50(1, "rdma polling", SMALL, 100))).isEqualTo("met, not settled");
        assertThat(verdict(goal, limit, p50(1, "rdma polling", SMALL, 100), p50(2, "limit", SMALL, 100),
                new Reading(2, "rdma polling", SMALL, Figure.P50, 9999, "unsteady")))
                .as("the round that settled alone").isEqualTo("met");
        Goal alone = goal("rdma polling", Section.roundTripsBeside(0), Figure.ALLOCATED);
        assertThat(verdict(alone, new Reading(1, "rdma polling", Section.roundTripsBeside(0), Figure.ALLOCATED, 0,
                "few windows"))).isEqualTo("met, not settled");
    }

    @Test
    void runInTheGuestIsAboutTheWireAlone() {
        BenchResults empty = BenchResultsTest.results();
        List<Goal> inGuest = Goal.of(new BenchResults(empty.format(), empty.taken(), Effort.RXE.name(), 1,
                empty.machine(), List.of(), List.of()));
        assertThat(inGuest).isNotEmpty().allMatch(goal -> goal.ours().scenario().contains(WireLoad.WHERE));
        assertThat(Goal.of(empty)).containsAll(inGuest).hasSizeGreaterThan(inGuest.size());
    }

    /** Else a goal would never be measured. */
    @Test
    void goalsAreAboutWhatTablesShow() {
        for (Goal goal : Goal.of(BenchResultsTest.results())) {
            if (!goal.parts().isEmpty()) {
                assertThat(Stream.of(goal.ours(), goal.base()).filter(of -> of != null))
                        .allSatisfy(of -> assertThat(Section.isShown(of.scenario())).as(of.scenario()).isTrue());
            }
        }
    }

    @Test
    void medianOfTheOutcomeIsOfTheRatios() {
        Goal goal = goal("rdma polling", PAGE, Figure.P50);
        Spread value = goal.in(BenchResultsTest.results(
                p50(1, "rdma polling", PAGE, 10), p50(1, "limit", PAGE, 10),
                p50(2, "rdma polling", PAGE, 30), p50(2, "limit", PAGE, 10))).value();
        assertThat(value.median()).isCloseTo(2, Offset.offset(1e-9));
    }
}
