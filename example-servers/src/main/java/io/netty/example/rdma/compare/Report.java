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
package io.netty.example.rdma.compare;

import io.netty.example.rdma.Transport;
import io.netty.example.rdma.compare.Results.Summary;

import java.util.List;

/**
 * Writes results as a table that reads well as plain text and as Markdown.
 */
final class Report {
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);

    private final Results results;
    private final List<Mode> modes;

    Report(Results results, List<Mode> modes) {
        this.results = results;
        this.modes = modes;
    }

    String write() {
        Table table = new Table("what", "transport", "p50", "p99", "p99.9", "per second", "range", "x p50", "x rate");
        for (String scenario : results.scenarios()) {
            for (Mode mode : modes) {
                Measurement.Unit unit = results.unit(scenario);
                Summary p50 = results.summary(mode, scenario, Measurement::p50);
                Summary rate = results.summary(mode, scenario, Measurement::perSecond);
                table.row(scenario, mode.toString(), Figures.micros(p50.median()),
                        Figures.micros(results.summary(mode, scenario, Measurement::p99).median()),
                        Figures.micros(results.summary(mode, scenario, Measurement::p999).median()),
                        Figures.perSecond(rate.median(), unit),
                        Figures.range(rate, value -> Figures.perSecond(value, unit)),
                        Figures.ratio(results.summary(EPOLL, scenario, Measurement::p50), p50),
                        Figures.ratio(rate, results.summary(EPOLL, scenario, Measurement::perSecond)));
            }
        }
        return "Every answer was checked. Latency in microseconds, from the start of an operation to its checked end;"
                + "\nrates and their range; medians of the rounds. \"x\" is how many times better than epoll blocking:"
                + "\na shorter p50, a higher rate.\n\n" + table;
    }
}
