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
package io.netty.example.rdma.echo.compare;

import io.netty.example.rdma.Transport;
import io.netty.example.rdma.compare.Figures;
import io.netty.example.rdma.compare.Measurement;
import io.netty.example.rdma.compare.Mode;
import io.netty.example.rdma.compare.Results;
import io.netty.example.rdma.compare.Results.Summary;
import io.netty.example.rdma.compare.Table;

import java.util.List;
import java.util.function.ToLongFunction;

/**
 * Writes results as tables that read well as plain text and as Markdown.
 */
final class EchoReport {
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);
    private static final Mode EPOLL_POLLING = new Mode(Transport.EPOLL, true);

    private final Results results;
    private final List<Mode> modes;

    EchoReport(Results results, List<Mode> modes) {
        this.results = results;
        this.modes = modes;
    }

    String write() {
        return "Round trip, one message in flight: microseconds, medians of the rounds, range of p50 over them.\n"
                + "\"x\" is how many times shorter the p50 is than that of epoll.\n\n" + roundTrips()
                + "\nStreaming one way, counted by the receiver: GB/s (10^9 bytes), median and range of all windows.\n"
                + "\"x\" is how many times more it is than with epoll.\n\n" + streams();
    }

    private Table roundTrips() {
        Table table = new Table("message", "transport", "p50", "range of p50", "p99", "p99.9",
                "x epoll blocking", "x epoll polling");
        for (int bytes : EchoMeasurements.MESSAGE_BYTES) {
            for (Mode mode : modes) {
                Summary p50 = roundTrips(mode, bytes, Measurement::p50);
                table.row(Figures.size(bytes), mode.toString(), Figures.micros(p50.median()),
                        Figures.range(p50, Figures::micros),
                        Figures.micros(roundTrips(mode, bytes, Measurement::p99).median()),
                        Figures.micros(roundTrips(mode, bytes, Measurement::p999).median()),
                        Figures.ratio(roundTrips(EPOLL, bytes, Measurement::p50), p50),
                        Figures.ratio(roundTrips(EPOLL_POLLING, bytes, Measurement::p50), p50));
            }
        }
        return table;
    }

    private Table streams() {
        Table table = new Table("writes of", "transport", "GB/s", "range", "x epoll blocking", "x epoll polling");
        for (int bytes : EchoMeasurements.WRITE_BYTES) {
            for (Mode mode : modes) {
                Summary stream = stream(mode, bytes);
                table.row(Figures.size(bytes), mode.toString(), Figures.giga(stream.median()),
                        Figures.range(stream, Figures::giga), Figures.ratio(stream, stream(EPOLL, bytes)),
                        Figures.ratio(stream, stream(EPOLL_POLLING, bytes)));
            }
        }
        return table;
    }

    private Summary roundTrips(Mode mode, int bytes, ToLongFunction<Measurement> figure) {
        return results.summary(mode, EchoMeasurements.roundTrips(bytes), figure);
    }

    private Summary stream(Mode mode, int bytes) {
        return results.summary(mode, EchoMeasurements.stream(bytes), Measurement::perSecond);
    }
}
