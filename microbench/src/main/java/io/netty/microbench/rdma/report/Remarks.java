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

import io.netty.microbench.rdma.sample.Settling.Seen;
import io.netty.microbench.rdma.sample.Settling.State;

import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Writes a sentence for the foot of a table: what was seen in the rows that had not settled, and what to do.
 */
public final class Remarks {
    /** Mark behind each figure of a row that had not settled. */
    public static final String MARK = " ?";
    /** Share of the processor time from which the use by others matters. The kernel's count of less is inexact. */
    private static final double NOTABLE = 0.05;

    private final String longer;
    private final Map<State, Map<String, Set<String>>> rows = new EnumMap<>(State.class);
    private final Map<State, List<Seen>> seen = new EnumMap<>(State.class);

    /**
     * Creates an object without rows.
     *
     * @param longer the option that makes the run longer
     */
    public Remarks(String longer) {
        this.longer = longer;
    }

    /** Adds observations of a row in a round. Rounds that had settled are left out. */
    public void add(String scenario, String who, Seen what) {
        if (what.state() != State.SETTLED) {
            rows.computeIfAbsent(what.state(), state -> new LinkedHashMap<>())
                    .computeIfAbsent(scenario, name -> new LinkedHashSet<>()).add(who);
            seen.computeIfAbsent(what.state(), state -> new ArrayList<>()).add(what);
        }
    }

    /** Returns the sentence as a paragraph; empty if there is nothing to say. */
    public String write() {
        if (rows.isEmpty()) {
            return "";
        }
        String clauses = rows.keySet().stream().map(this::clause).collect(Collectors.joining("; "));
        boolean busy = seen.values().stream().flatMap(List::stream).anyMatch(what -> what.others() >= NOTABLE);
        return "\"" + MARK.trim() + "\": a row that had not settled, so read its range as well: " + clauses + ". "
                + (busy ? "Stop what else runs on this machine" : "Take a longer run, " + longer)
                + (busy ? ", or take a longer run, " + longer + ".\n" : ".\n");
    }

    private String clause(State state) {
        String others = percents(state, Seen::others, NOTABLE);
        String compiling = percents(state, Seen::compiling, 0);
        String what = switch (state) {
        case YOUNG -> "there was no time to compile the code of, and so there are no figures of";
        case COMPILING -> "compilers ran" + (compiling.isEmpty() ? "" : " for " + compiling + " of the time") + " in";
        case FEW -> "operations took so long that few windows ended in";
        case UNSTEADY -> "the rate jumped between windows in";
        case DRIFTING -> "the rate went one way in";
        case SETTLED -> throw new IllegalStateException();
        };
        return what + ' ' + rows.get(state).entrySet().stream()
                .map(row -> row.getKey() + " (" + String.join(", ", row.getValue()) + ')')
                .collect(Collectors.joining(", "))
                + (others.isEmpty() ? "" : ", while others took the cores for " + others + " of the time");
    }

    /** Returns the lowest to the highest value, as "3 to 20 %"; empty if no known value is high enough. */
    private String percents(State state, ToDoubleFunction<Seen> value, double min) {
        DoubleSummaryStatistics values = seen.get(state).stream().mapToDouble(value)
                .filter(share -> share >= min).summaryStatistics();
        if (values.getCount() == 0) {
            return "";
        }
        return new Spread(values.getAverage(), values.getMin(), values.getMax())
                .range(share -> String.format(Locale.ROOT, "%.0f", share * 100)) + " %";
    }
}
