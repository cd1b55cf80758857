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
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Settling;

import java.util.Locale;

/**
 * Writes results as a table that is easy to read as plain text and as Markdown.
 */
public final class Report {
    private static final String EPOLL = Mode.byDefault(Transport.EPOLL).toString();
    private static final String EPOLL_POLLING = Mode.polling(Transport.EPOLL).toString();

    private final Results results;
    private final String longer;

    /**
     * Creates a report of all results so far.
     *
     * @param longer the option that makes a run longer
     */
    public Report(Results results, String longer) {
        this.results = results;
        this.longer = longer;
    }

    /** Returns the table, and an explanation. */
    public String write() {
        Table table = new Table("what", "transport", "p50", "p99", "p99.9", "per second", "range", "client CPU",
                "server CPU", "x p50", "x rate", "x rate, polling", "rounds");
        for (String scenario : results.scenarios()) {
            for (String who : results.subjects()) {
                if (results.isMeasured(who, scenario)) {
                    table.row(row(scenario, who));
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

    private String[] row(String scenario, String who) {
        Figure rate = results.rate(scenario);
        String count = results.settledRounds(who, scenario, rate);
        Settling.State none = results.withoutFigures(who, scenario, rate);
        if (none != null) {
            return new String[] {scenario, who, "not settled", "", "", none.toString(), "", "", "", "", "", "", count};
        }
        String mark = results.isSettled(who, scenario, rate) ? "" : Remarks.MARK;
        return new String[] {scenario, who, latency(median(who, scenario, Figure.P50), mark),
                latency(median(who, scenario, Figure.P99), mark), latency(results.p999(who, scenario), mark),
                rate.perSecond(median(who, scenario, rate)) + mark,
                results.windows(who, scenario, rate).fullRange(rate::perSecond),
                cost(rate, median(who, scenario, Figure.CLIENT_COST)),
                cost(rate, median(who, scenario, Figure.SERVER_COST)),
                ratio(scenario, who, EPOLL, Figure.P50), ratio(scenario, who, EPOLL, rate),
                ratio(scenario, who, EPOLL_POLLING, rate), count};
    }

    private Double median(String who, String scenario, Figure figure) {
        Spread spread = results.spread(who, scenario, figure);
        return spread == null ? null : spread.median();
    }

    private static String latency(Double nanos, String mark) {
        return nanos == null ? "" : Figures.micros(nanos) + mark;
    }

    private static String cost(Figure rate, double nanos) {
        // Nanoseconds for a byte are as many seconds for 10^9 bytes.
        return Double.isNaN(nanos) ? "" : rate == Figure.OPERATIONS ? Figures.micros(nanos)
                : String.format(Locale.ROOT, "%.2f s", nanos);
    }

    private String ratio(String scenario, String who, String base, Figure figure) {
        Spread ratios = results.ratio(who, base, scenario, figure);
        if (ratios == null || !Double.isFinite(ratios.median())) {
            return "";
        }
        String median = String.format(Locale.ROOT, "%.1f", ratios.median());
        return ratios.min() == ratios.max() ? median
                : String.format(Locale.ROOT, "%s (%.1f to %.1f)", median, ratios.min(), ratios.max());
    }
}
