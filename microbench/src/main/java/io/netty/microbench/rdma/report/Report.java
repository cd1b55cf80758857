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

import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Measurement.Unit;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Writes results as a table that reads well as plain text and as Markdown.
 */
public final class Report {
    private static final String EPOLL = Mode.byDefault(Transport.EPOLL).toString();
    private static final String EPOLL_POLLING = Mode.polling(Transport.EPOLL).toString();

    private final Results results;
    private final String longer;
    private final Collection<String> whom;

    /**
     * Begins with all results so far.
     *
     * @param longer the option that makes a run longer
     */
    public Report(Results results, String longer) {
        this.results = results;
        this.longer = longer;
        whom = results.whom();
    }

    /** Returns the table, and how to read it. */
    public String write() {
        Table table = new Table("what", "transport", "p50", "p99", "p99.9", "per second", "range", "client CPU",
                "server CPU", "x p50", "x rate", "x rate, polling", "rounds");
        for (String scenario : results.scenarios()) {
            for (String who : whom) {
                List<Sample> rounds = results.rounds(who, scenario);
                if (!rounds.isEmpty()) {
                    table.row(row(scenario, who, rounds));
                }
            }
        }
        String remarks = results.remarks(longer);
        return """
                Latency in microseconds, from the start of an operation to its end: p50 and p99 are medians of the
                rounds, p99.9 is of all rounds together. Rates are medians, and the range is that of all windows, of
                a tenth of a second or two each. CPU is what all threads of a process take for an operation, in
                microseconds, or for 10^9 bytes, in seconds. "x" is how many times better than epoll's default, or
                than epoll polling, in the same round: a shorter p50, a higher rate; median and range. Rounds count
                in which both processes had settled, or all if most had not: then the row has a "?".

                """ + table + (remarks.isEmpty() ? "" : '\n' + remarks);
    }

    private String[] row(String scenario, String who, List<Sample> rounds) {
        String count = results.settledRounds(who, scenario);
        Settling.State none = results.withoutFigures(who, scenario);
        if (none != null) {
            return new String[] {scenario, who, "not settled", "", "", none.toString(), "", "", "", "", "", "", count};
        }
        String mark = results.isSettled(who, scenario) ? "" : Remarks.MARK;
        Unit unit = results.unit(scenario);
        Spread p50 = results.spread(who, scenario, Measurement::p50);
        Spread rate = results.spread(who, scenario, Measurement::perSecond);
        return new String[] {scenario, who, latency(p50.median(), mark),
                latency(results.spread(who, scenario, Measurement::p99).median(), mark),
                latency(results.percentile(who, scenario, 99.9, Measurement::p999), mark),
                Figures.perSecond(rate.median(), unit) + mark,
                results.windows(who, scenario, Measurement::perSecond)
                        .fullRange(value -> Figures.perSecond(value, unit)),
                cost(who, scenario, sample -> sample.client().cpuNanos()),
                cost(who, scenario, sample -> sample.server().cpuNanos()),
                ratio(scenario, EPOLL, who, Measurement::p50),
                ratio(scenario, who, EPOLL, Measurement::perSecond),
                ratio(scenario, who, EPOLL_POLLING, Measurement::perSecond), count};
    }

    private static String latency(double nanos, String mark) {
        return nanos == 0 ? "" : Figures.micros(nanos) + mark;
    }

    private String cost(String who, String scenario, ToDoubleFunction<Sample> cpuNanos) {
        double cost = results.samples(who, scenario, cpuNanos).median();
        if (Double.isNaN(cost)) {
            return "";
        }
        // So many nanoseconds for a byte are as many seconds for 10^9 of them.
        return results.unit(scenario) == Unit.OPERATIONS ? Figures.micros(cost)
                : String.format(Locale.ROOT, "%.2f s", cost);
    }

    private String ratio(String scenario, String numerator, String denominator,
                         ToDoubleFunction<Measurement> figure) {
        Spread ratios = results.ratios(scenario, numerator, denominator, figure);
        if (ratios == null || !Double.isFinite(ratios.median())) {
            return "";
        }
        String median = String.format(Locale.ROOT, "%.1f", ratios.median());
        return ratios.min() == ratios.max() ? median
                : String.format(Locale.ROOT, "%s (%.1f to %.1f)", median, ratios.min(), ratios.max());
    }
}
