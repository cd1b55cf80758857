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

import io.netty.microbench.rdma.report.BarPlot;
import io.netty.microbench.rdma.report.Spread;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Draws results: a bar chart for each section, with a logarithmic axis, on which equal ratios are equally high.
 */
final class Plots {
    private static final int WIDTH = 900;
    private static final double DECADE = 10;

    private final BenchResults results;

    Plots(BenchResults results) {
        this.results = results;
    }

    /** Writes a file {@code NAME.svg} for each section of which anything was measured. */
    void write(Path folder) throws IOException {
        for (Section section : Section.all()) {
            if (results.isMeasured(section)) {
                draw(section).write(folder.resolve(section.name() + ".svg"));
            }
        }
    }

    private BarPlot draw(Section section) {
        Figure figure = section.plotted();
        List<String> subjects = results.subjects(section.scenarios());
        List<String> scenarios = section.scenarios().stream().filter(scenario -> subjects.stream().anyMatch(
                subject -> results.spread(subject, scenario, figure) != null)).toList();
        double floor = floor(subjects, scenarios, figure);
        BarPlot plot = new BarPlot(section.title() + " (" + (figure.isMoreBetter() ? "more" : "less") + " is better)",
                figure + ", " + figure.unit(), WIDTH, floor);
        for (String subject : subjects) {
            List<Double> heights = new ArrayList<>();
            for (String scenario : scenarios) {
                Spread spread = results.spread(subject, scenario, figure);
                // What was not measured has no bar.
                heights.add(spread == null ? null : Math.max(floor, figure.inUnit(spread.median())));
            }
            plot.add(subject, Subjects.colour(subject), labels(scenarios), heights);
        }
        return plot;
    }

    /** The names without the words with which all of them start: there is little room. */
    static List<String> labels(List<String> scenarios) {
        if (scenarios.size() < 2) {
            return scenarios;
        }
        String common = scenarios.stream().reduce(Plots::commonPrefix).orElseThrow();
        int start = common.lastIndexOf(' ') + 1;
        return scenarios.stream().map(scenario -> scenario.substring(start)).toList();
    }

    private static String commonPrefix(String a, String b) {
        int mismatch = Arrays.mismatch(a.toCharArray(), b.toCharArray());
        return mismatch < 0 ? a : a.substring(0, mismatch);
    }

    /** The power of ten below all values. */
    private double floor(List<String> subjects, List<String> scenarios, Figure figure) {
        double min = subjects.stream().flatMap(subject -> scenarios.stream()
                .map(scenario -> results.spread(subject, scenario, figure))).filter(spread -> spread != null)
                .mapToDouble(spread -> figure.inUnit(spread.median())).filter(value -> value > 0).min().orElse(1);
        return Math.pow(DECADE, Math.floor(Math.log10(min)));
    }
}
