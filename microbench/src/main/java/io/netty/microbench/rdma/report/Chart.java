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

import io.netty.microbench.rdma.sample.Settling;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Chart of a run: for each scenario a group of bars, one for each measured subject.
 *
 * @param title  title of the whole
 * @param figure figure that the bars stand for, and the direction in which it is better
 * @param base   subject with which the others are compared
 */
public record Chart(String title, String figure, String base, List<Group> groups) {
    /** Bars that are compared with each other. */
    public record Group(String name, List<Bar> bars) {
        /** Returns the bar of a subject, {@code null} if there is none. */
        public Bar bar(String who) {
            return bars.stream().filter(bar -> bar.who().equals(who)).findFirst().orElse(null);
        }
    }

    /**
     * One figure.
     *
     * @param length length of the bar, in any unit that the group has in common
     * @param text   the figure and its unit, or the reason why there is none
     * @param ratio  how many times better it is than {@link Chart#base}; NaN if that is not known
     * @param mark   text behind the figure: {@link Remarks#MARK} if it had not settled, or empty
     */
    public record Bar(String who, double length, String text, double ratio, String mark) {
        /** Creates a bar without a figure. */
        public static Bar without(String who, Settling.State state) {
            return new Bar(who, 0, "not settled: " + state, Double.NaN, "");
        }

        /** Returns whether there is a figure. */
        public boolean hasFigure() {
            return length > 0;
        }
    }

    /**
     * Makes a chart of rates: the median of the rounds, and its ratio to that of the base. Rows without figures are
     * left out.
     *
     * @param whom          subjects to be drawn
     * @param preferredBase the base, if it is one of them; else the first one is the base
     */
    public static Chart ofRates(String title, Results results, List<String> whom, String preferredBase) {
        String base = whom.contains(preferredBase) ? preferredBase : whom.get(0);
        List<Group> groups = new ArrayList<>();
        for (String scenario : results.scenarios()) {
            groups.add(new Group(scenario, whom.stream().filter(who -> results.isMeasured(who, scenario))
                    .map(who -> rate(results, who, scenario, base)).toList()));
        }
        return new Chart(title, "per second, more is better", base, groups);
    }

    private static Bar rate(Results results, String who, String scenario, String base) {
        Figure rate = results.rate(scenario);
        Settling.State none = results.withoutFigures(who, scenario, rate);
        if (none != null) {
            return Bar.without(who, none);
        }
        double median = results.spread(who, scenario, rate).median();
        Spread ratios = results.ratio(who, base, scenario, rate);
        return new Bar(who, median, rate.perSecond(median) + "/s", ratios == null ? Double.NaN : ratios.median(),
                results.isSettled(who, scenario, rate) ? "" : Remarks.MARK);
    }

    /** Returns whether a bar has a mark. */
    boolean hasMarks() {
        return groups.stream().flatMap(group -> group.bars().stream()).anyMatch(bar -> !bar.mark().isEmpty());
    }

    /** All subjects that have a bar in any group. */
    Set<String> whom() {
        Set<String> whom = new LinkedHashSet<>();
        groups.forEach(group -> group.bars().forEach(bar -> whom.add(bar.who())));
        return whom;
    }
}
