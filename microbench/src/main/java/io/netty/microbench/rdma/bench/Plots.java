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
import io.netty.microbench.rdma.report.Chart;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Results;
import io.netty.microbench.rdma.report.Spread;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * Draws results: a bar chart for each section. Its axis is logarithmic, so that equal ratios have equal heights.
 */
final class Plots {
    private final BenchResults run;
    private final Results results;

    Plots(BenchResults run) {
        this.run = run;
        results = run.results();
    }

    /** Writes a file {@code NAME.svg} for each section with any figure. */
    void write(Path folder) throws IOException {
        for (Section section : Section.all()) {
            if (run.isMeasured(section)) {
                BarPlot.ofFigures(chart(section)).write(folder.resolve(section.name() + ".svg"));
            }
        }
    }

    private Chart chart(Section section) {
        Figure figure = section.plotted();
        List<String> subjects = results.subjects(section.scenarios());
        List<String> scenarios = section.scenarios().stream().filter(scenario -> subjects.stream().anyMatch(
                subject -> results.spread(subject, scenario, figure) != null)).toList();
        List<String> labels = labels(scenarios);
        return new Chart(section.title() + " (" + (figure.isMoreBetter() ? "more" : "less") + " is better)",
                figure + ", " + figure.unit(), Goal.BASE, IntStream.range(0, labels.size())
                        .mapToObj(i -> new Chart.Group(labels.get(i), subjects.stream()
                                .map(subject -> bar(subject, scenarios.get(i), figure)).filter(Objects::nonNull)
                                .toList())).toList());
    }

    private Chart.Bar bar(String subject, String scenario, Figure figure) {
        Spread spread = results.spread(subject, scenario, figure);
        return spread == null ? null : new Chart.Bar(subject, figure.inUnit(spread.median()),
                figure.format(spread.median()), Double.NaN, "");
    }

    /** Returns the names without the words with which all of them start, because there is little room. */
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
}
