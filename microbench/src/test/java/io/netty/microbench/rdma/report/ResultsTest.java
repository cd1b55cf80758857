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

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ResultsTest {
    private static final String SCENARIO = "round trips of 64 B";

    private static Reading p50(int round, String subject, double nanos) {
        return new Reading(round, subject, SCENARIO, Figure.P50, nanos);
    }

    private static Results results(Reading... readings) {
        return new Results(List.of(readings));
    }

    @Test
    void mediansAreOfAllRoundsThatSettledIfMostDid() {
        Results results = results(p50(1, "rdma", 3), p50(2, "rdma", 1), p50(3, "rdma", 8),
                unsettled(4, "rdma", 100, "unsteady"));
        assertThat(results.spread("rdma", SCENARIO, Figure.P50)).isEqualTo(new Spread(3, 1, 8));
        assertThat(results.spread("nio", SCENARIO, Figure.P50)).isNull();
        assertThat(results.isSettled("rdma", SCENARIO, Figure.P50)).isTrue();
        assertThat(results.unsettled("rdma", SCENARIO, Figure.P50)).extracting(Reading::state)
                .containsExactly("unsteady");
    }

    @Test
    void whereMostRoundsDidNotSettleAllCountThatAreNotWrong() {
        Results results = results(p50(1, "rdma", 3), unsettled(2, "rdma", 100, "unsteady"),
                unsettled(3, "rdma", 50, "compiling"), unsettled(4, "rdma", 9999, "too short"));
        assertThat(results.spread("rdma", SCENARIO, Figure.P50)).isEqualTo(new Spread(50, 3, 100));
        assertThat(results.isSettled("rdma", SCENARIO, Figure.P50)).isFalse();
        assertThat(results.windows("rdma", SCENARIO, Figure.P50)).isEqualTo(new Spread(50, 2, 1000));
        assertThat(results(unsettled(1, "rdma", 9999, "too short")).windows("rdma", SCENARIO, Figure.P50)).isNull();
    }

    /** Where it had not settled, it may have been as much as the best of one beside the worst of the other. */
    @Test
    void ratiosOfUnsettledReadingsHaveTheRangeOfWindows() {
        Results results = results(unsettled(1, "rdma", 10, "unsteady"), p50(1, "epoll", 40));
        assertThat(results.ratio("rdma", "epoll", SCENARIO, Figure.P50)).isEqualTo(new Spread(4, 0.4, 20));
    }

    @Test
    void ratiosAreOfRoundsThatHaveFiguresWhereNoneSettledForBoth() {
        Results results = results(p50(1, "rdma", 10), new Reading(2, "rdma", SCENARIO, Figure.P50, 10, "drifting"),
                p50(2, "epoll", 40), new Reading(1, "epoll", SCENARIO, Figure.P50, 20, "drifting"));
        assertThat(results.ratio("rdma", "epoll", SCENARIO, Figure.P50)).isEqualTo(new Spread(3, 2, 4));
    }

    private static Reading unsettled(int round, String subject, double nanos, String state) {
        return new Reading(round, subject, SCENARIO, Figure.P50, nanos, state,
                new Reading.Windows(Math.min(2, nanos), 10 * nanos, 0.1, 0.2));
    }

    @Test
    void medianOfAnEvenNumberLiesBetween() {
        assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 9.0))).isEqualTo(new Spread(3, 1, 9));
    }

    /** The machine may be twice as fast in one round as in the next: that must not show in a ratio. */
    @Test
    void ratiosAreOfTheSameRound() {
        Results results = results(p50(1, "rdma", 1), p50(1, "epoll", 10), p50(2, "rdma", 20),
                p50(2, "epoll", 200), p50(3, "rdma", 1));
        assertThat(results.ratio("rdma", "epoll", SCENARIO, Figure.P50)).isEqualTo(new Spread(10, 10, 10));
        assertThat(results.ratio("rdma", "nio", SCENARIO, Figure.P50)).isNull();
    }

    @Test
    void moreThanOneMeansBetterWhateverIsCounted() {
        Results results = results(new Reading(1, "rdma", SCENARIO, Figure.OPERATIONS, 10),
                new Reading(1, "epoll", SCENARIO, Figure.OPERATIONS, 2));
        assertThat(results.ratio("rdma", "epoll", SCENARIO, Figure.OPERATIONS).median()).isEqualTo(5);
    }
}
