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
import io.netty.example.rdma.compare.Measurement.RoundTrips;
import io.netty.example.rdma.compare.Results.Summary;

import java.util.List;
import java.util.Locale;

/**
 * Writes results as tables that read well as plain text and as Markdown.
 */
final class Report {
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);
    private static final Mode EPOLL_POLLING = new Mode(Transport.EPOLL, true);

    private final Results results;
    private final List<Mode> modes;

    Report(Results results, List<Mode> modes) {
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
        for (int bytes : Plan.MESSAGE_BYTES) {
            for (Mode mode : modes) {
                Summary p50 = p50(mode, bytes);
                table.row(size(bytes), mode.toString(), micros(p50.median()),
                        micros(p50.min()) + " to " + micros(p50.max()),
                        micros(results.roundTrips(mode, bytes, RoundTrips::p99).median()),
                        micros(results.roundTrips(mode, bytes, RoundTrips::p999).median()),
                        ratio(p50(EPOLL, bytes), p50), ratio(p50(EPOLL_POLLING, bytes), p50));
            }
        }
        return table;
    }

    private Table streams() {
        Table table = new Table("writes of", "transport", "GB/s", "range", "x epoll blocking", "x epoll polling");
        for (int bytes : Plan.WRITE_BYTES) {
            for (Mode mode : modes) {
                Summary stream = results.stream(mode, bytes);
                table.row(size(bytes), mode.toString(), giga(stream.median()),
                        giga(stream.min()) + " to " + giga(stream.max()),
                        ratio(stream, results.stream(EPOLL, bytes)),
                        ratio(stream, results.stream(EPOLL_POLLING, bytes)));
            }
        }
        return table;
    }

    private Summary p50(Mode mode, int bytes) {
        return results.roundTrips(mode, bytes, RoundTrips::p50);
    }

    private static String ratio(Summary numerator, Summary denominator) {
        return numerator.isEmpty() || denominator.isEmpty() ? ""
                : String.format(Locale.ROOT, "%.1f", numerator.median() / denominator.median());
    }

    private static String micros(double nanos) {
        return String.format(Locale.ROOT, nanos < 100_000 ? "%.1f" : "%.0f", nanos / 1e3);
    }

    private static String giga(double bytesPerSecond) {
        return String.format(Locale.ROOT, "%.1f", bytesPerSecond / 1e9);
    }

    private static String size(int bytes) {
        return bytes < 1 << 10 ? bytes + " B" : bytes < 1 << 20 ? (bytes >> 10) + " KiB" : (bytes >> 20) + " MiB";
    }
}
