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

import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.Stream;

/**
 * Goal for every cell of some tables: one {@link Goal} for all, shown in one row. Cells without readings do not count,
 * such as rates that a run leaves out.
 *
 * @param measure name for users
 * @param cells   goals that differ in scenario and figure alone, one or more
 */
record TableGoal(String measure, List<Goal> cells) {
    /** Minimum rate, in messages a second, at which event loops may wait for the next message without sleeping. */
    private static final int FAST = 10_000;
    /** Maximum ratio of two subjects that wait alike. */
    private static final double ALIKE = 1.1;
    private static final List<Figure> P50 = List.of(Figure.P50);
    private static final List<Figure> P99 = List.of(Figure.P99);
    private static final List<Figure> RATE = List.of(Figure.OPERATIONS, Figure.BYTES);
    private static final List<Figure> PROCESSOR_TIME = List.of(Figure.CLIENT_CPU, Figure.SERVER_CPU);

    private static final List<Scenarios> ROUND_TRIPS = List.of(Scenarios.of(Part.ECHO, "round-trips"));
    private static final List<Scenarios> STREAMS = List.of(Scenarios.of(Part.ECHO, "streams"));
    private static final List<Scenarios> REQUESTS = List.of(Scenarios.of(Part.HTTP, "http"),
            Scenarios.of(Part.GRPC, "grpc"));
    private static final List<Scenarios> NOISE = List.of(Scenarios.of(Part.NOISE, "noise"),
            Scenarios.of(Part.NOISE, "noise-streams"));
    private static final List<Scenarios> BELOW_FAST = List.of(Scenarios.paced(rate -> rate < FAST));
    private static final List<Scenarios> FROM_FAST = List.of(Scenarios.paced(rate -> rate >= FAST));

    /** Rows of a table. */
    private record Scenarios(Part part, List<String> names) {
        static Scenarios of(Part part, String section) {
            return new Scenarios(part, Section.all().stream().filter(other -> other.name().equals(section)).findFirst()
                    .orElseThrow().scenarios());
        }

        static Scenarios paced(IntPredicate rates) {
            return new Scenarios(Part.PACED, Section.PACED_CONNECTIONS.stream().flatMap(connections ->
                    Section.PACED_RATES.stream().filter(rates::test).map(rate -> Section.paced(rate, connections)))
                    .toList());
        }
    }

    /** Returns the goals of a run. A run over a wire has none of these tables. */
    static List<TableGoal> of(BenchResults run) {
        return run.plan().equals(Effort.RXE.name()) ? List.of() : List.of(
                of("round trips, HTTP, gRPC: p50", List.of(ROUND_TRIPS, REQUESTS), P50, Goal.RDMA_POLLING, ALIKE),
                of("streams, HTTP, gRPC: rate", List.of(STREAMS, REQUESTS), RATE, Goal.RDMA_POLLING, 0.9),
                of("under noise: rate", List.of(NOISE), RATE, Goal.RDMA_POLLING, 0.8),
                of("under noise: rate", List.of(NOISE), RATE, Goal.BASE, 1),
                of("paced, below 10000 a second: p50", List.of(BELOW_FAST), P50, Goal.BASE, ALIKE),
                of("paced, below 10000 a second: p99", List.of(BELOW_FAST), P99, Goal.BASE, ALIKE),
                of("paced, below 10000 a second: processor time", List.of(BELOW_FAST), PROCESSOR_TIME, Goal.BASE,
                        ALIKE),
                of("paced, from 10000 a second: p50", List.of(FROM_FAST), P50, Goal.BASE, 0.5),
                of("paced, from 10000 a second: p99", List.of(FROM_FAST), P99, Goal.BASE, 1),
                of("paced, from 10000 a second: processor time", List.of(FROM_FAST), PROCESSOR_TIME, Goal.BASE,
                        1));
    }

    /** Creates the goal for the transport in its default mode, in each figure of the tables. */
    private static TableGoal of(String measure, List<List<Scenarios>> tables, List<Figure> figures, String base,
                                double factor) {
        return new TableGoal(measure, tables.stream().flatMap(List::stream).flatMap(table -> table.names().stream()
                .flatMap(scenario -> figures.stream().filter(figure -> Section.has(scenario, figure))
                        .map(figure -> Goal.times(Goal.RDMA, scenario, figure, table.part(), base, factor)))).toList());
    }

    /** A cell that was measured. */
    private record Cell(Goal goal, Goal.Outcome outcome) {
        boolean isMet() {
            return goal.isMet(outcome);
        }

        /** Returns 1 if the goal is just reached, and more if it is missed. */
        double distance() {
            double value = outcome.value().median();
            return goal.atLeast() ? goal.bound() / value : value / goal.bound();
        }
    }

    private Stream<Cell> measured(BenchResults run) {
        return cells.stream().map(goal -> new Cell(goal, goal.in(run)))
                .filter(cell -> cell.outcome.value() != null);
    }

    String subject() {
        return cells.get(0).ours().subject();
    }

    /** Returns the bound for each cell, for users. */
    String text() {
        return cells.get(0).text();
    }

    /** Returns the value of the cell that is furthest from the goal, for users. */
    String figure(BenchResults run) {
        return measured(run).max(Comparator.comparingDouble(Cell::distance))
                .map(cell -> cell.goal.figure(cell.outcome) + ": " + cell.goal.measure()).orElse("");
    }

    /** Returns the number of cells that reached the goal, for users. */
    String verdict(BenchResults run) {
        List<Cell> measured = measured(run).toList();
        if (measured.isEmpty()) {
            return "not measured: " + cells.get(0).in(run).why();
        }
        long met = measured.stream().filter(Cell::isMet).count();
        long without = cells.stream().filter(goal -> goal.wasTried(run)).count() - measured.size();
        long unsettled = measured.stream().filter(cell -> !cell.outcome.settled()).count();
        return "met in " + met + " of " + measured.size() + " cells"
                + (unsettled == 0 ? "" : ", of which " + unsettled + " had not settled")
                + (without == 0 ? "" : ", " + without + " more without a figure");
    }
}
