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
package io.netty.example.rdma.top;

import io.netty.example.rdma.top.RunningJvm.Reading;

import javax.management.openmbean.CompositeData;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Changes between two readings, as text.
 */
final class Screen {
    private final Reading before;
    private final Reading after;
    private final double seconds;

    Screen(Reading before, Reading after) {
        this.before = before;
        this.after = after;
        seconds = Math.max(1, after.nanos() - before.nanos()) / 1e9;
    }

    /** @param maxConnections maximum number of rows of connections; the busiest ones are shown */
    String text(int maxConnections) {
        StringBuilder text = new StringBuilder(4096);
        process(text);
        loops(text);
        devices(text);
        connections(text, maxConnections);
        tcpDestinations(text, maxConnections);
        agent(text);
        return text.toString();
    }

    private void process(StringBuilder text) {
        CompositeData now = after.process();
        line(text, "sent      %s in place, %s inline, %s copied", rate(before.process(), now, "bytesSentInPlace"),
                rate(before.process(), now, "bytesSentInline"), rate(before.process(), now, "bytesSentCopied"));
        line(text, "received  %s in place, %s copied", rate(before.process(), now, "bytesReceivedInPlace"),
                rate(before.process(), now, "bytesReceivedCopied"));
        line(text, "waiting   %s connections wait for their peers; %.0f stalls/s", number(now, "stalledConnections"),
                perSecond(before.process(), now, "creditStalls"));
        long pinned = number(now, "pinnedMemory");
        long receive = number(now, "receiveMemory");
        long staging = number(now, "stagingMemory");
        line(text, "memory    %s pinned of %s: receive memory %s, staging %s, slabs of allocators and the rest %s",
                bytes(pinned), bytes(number(now, "maxPinnedMemory")), bytes(receive), bytes(staging),
                bytes(Math.max(0, pinned - receive - staging)));
        line(text, "transport %d connections by RDMA; clients for both have %d over TCP (%d so far), servers have " +
                "accepted %d over TCP so far", after.connections().size(), number(now, "tcpConnections"),
                number(now, "tcpConnects"), number(now, "tcpAccepts"));
        line(text, "failures  %s connects, %s rejections", number(now, "connectFailures"), number(now, "rejections"));
    }

    private void loops(StringBuilder text) {
        line(text, "%n%-32s %6s %12s %12s %7s %10s %7s", "LOOP", "CONN", "COMPL/s", "POLLS/s", "EMPTY", "SLEEPS/s",
                "ASLEEP");
        for (CompositeData now : after.loops()) {
            CompositeData then = find(before.loops(), now, "name");
            double empty = perSecond(then, now, "emptyPolls");
            double polls = empty + perSecond(then, now, "fruitfulPolls");
            line(text, "%-32s %6d %12.0f %12.0f %7s %10.0f %7s", end(string(now, "name"), 32),
                    number(now, "connections"), perSecond(then, now, "completions"), polls,
                    percent(polls == 0 ? 0 : empty / polls), perSecond(then, now, "sleeps"),
                    percent(perSecond(then, now, "sleptNanos") / 1e9));
        }
    }

    private void devices(StringBuilder text) {
        line(text, "%n%-16s %-10s %6s %9s %9s %7s %8s %10s", "DEVICE", "PROVIDER", "CONN", "CONNECTS", "ACCEPTS",
                "LOST", "REGIONS", "REGISTERED");
        for (CompositeData now : after.devices()) {
            line(text, "%-16s %-10s %6d %9d %9d %7d %8d %10s", end(string(now, "name"), 16), string(now, "provider"),
                    number(now, "connections"), number(now, "connects"), number(now, "accepts"),
                    number(now, "losses"), number(now, "memoryRegions"), bytes(number(now, "registeredMemory")));
        }
    }

    private void connections(StringBuilder text, int max) {
        line(text, "%n%-21s %-21s %-3s %-8s %-20s %-10s %12s %12s %6s %7s %9s %8s", "LOCAL", "REMOTE", "DIR",
                "KIND", "PROVIDER", "WHY", "SENT", "RECEIVED", "COPIED", "STALLED", "RECVMEM", "AGE");
        List<Row> rows = after.connections().stream().map(now -> new Row(find(before.connections(), now, "local",
                "remote", "kind"), now)).sorted(Comparator.comparingDouble(Row::busy).reversed())
                .collect(Collectors.toCollection(ArrayList::new));
        for (Row row : rows.subList(0, Math.min(max, rows.size()))) {
            CompositeData now = row.now;
            double copied = perSecond(row.then, now, "bytesCopied");
            line(text, "%-21s %-21s %-3s %-8s %-20s %-10s %12s %12s %6s %7s %9s %8s", string(now, "local"),
                    string(now, "remote"), string(now, "direction"), string(now, "kind"),
                    end(string(now, "provider") + '/' + string(now, "device"), 20), string(now, "reason"),
                    rate(row.then, now, "bytesSent"), rate(row.then, now, "bytesReceived"),
                    percent(row.busy() == 0 ? 0 : copied / row.busy()),
                    percent(perSecond(row.then, now, "creditStallNanos") / 1e9),
                    bytes(number(now, "receiveMemory")), age(number(now, "ageMillis")));
        }
        if (rows.size() > max) {
            line(text, "... and %d more connections", rows.size() - max);
        }
    }

    /** Writes destinations over TCP, the last used ones first, if there are any. */
    private void tcpDestinations(StringBuilder text, int max) {
        List<CompositeData> rows = after.tcpDestinations();
        if (rows.isEmpty()) {
            return;
        }
        line(text, "%n%-21s %6s %9s %-11s %s", "OVER TCP TO", "CONN", "CONNECTS", "WHY", "MESSAGE");
        for (CompositeData row : rows.subList(Math.max(0, rows.size() - max), rows.size())) {
            line(text, "%-21s %6d %9d %-11s %s", string(row, "remote"), number(row, "connections"),
                    number(row, "connects"), string(row, "reason"), string(row, "message"));
        }
        if (rows.size() > max) {
            line(text, "... and %d more destinations", rows.size() - max);
        }
    }

    /** Writes classes that the agent has exchanged or left, if there is an agent. */
    private void agent(StringBuilder text) {
        if (!after.agent().isEmpty()) {
            line(text, "%n%-60s %6s %s", "ASKED FOR", "COUNT", "MADE BY THE AGENT");
        }
        for (CompositeData row : after.agent()) {
            String by = string(row, "by");
            line(text, "%-60s %6d %s", end(string(row, "type"), 60), number(row, "count"),
                    by.isEmpty() ? "nothing: " + string(row, "reason") : by);
        }
    }

    private final class Row {
        private final CompositeData then;
        private final CompositeData now;

        Row(CompositeData then, CompositeData now) {
            this.then = then;
            this.now = now;
        }

        private double busy() {
            return perSecond(then, now, "bytesSent") + perSecond(then, now, "bytesReceived");
        }
    }

    /** Returns the same row of the reading before, or {@code null} if the row is new. */
    private static CompositeData find(List<CompositeData> rows, CompositeData row, String... key) {
        Function<CompositeData, List<Object>> keys = each -> List.of(each.getAll(key));
        return rows.stream().filter(each -> keys.apply(each).equals(keys.apply(row))).findFirst().orElse(null);
    }

    /** Returns the growth of a counter a second. A new row has grown from 0 since the last reading. */
    private double perSecond(CompositeData then, CompositeData now, String column) {
        return Math.max(0, number(now, column) - (then == null ? 0 : number(then, column))) / seconds;
    }

    private String rate(CompositeData then, CompositeData now, String column) {
        return bytes((long) perSecond(then, now, column)) + "/s";
    }

    private static long number(CompositeData row, String column) {
        return (Long) row.get(column);
    }

    private static String string(CompositeData row, String column) {
        return (String) row.get(column);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f%%", 100 * Math.min(1, share));
    }

    static String bytes(long bytes) {
        if (bytes < 10_000) {
            return bytes + " B";
        }
        double value = bytes;
        int unit = -1;
        do {
            value /= 1024;
            unit++;
        } while (value >= 9_999.5 && unit < 4);
        return String.format(Locale.ROOT, value < 99.95 ? "%.1f %ciB" : "%.0f %ciB", value, "KMGTP".charAt(unit));
    }

    private static String age(long millis) {
        long seconds = millis / 1000;
        return seconds < 100 ? seconds + " s" : seconds < 6_000 ? seconds / 60 + " min" : seconds / 3_600 + " h";
    }

    /** Returns the end of a name, which tells more than its beginning. */
    private static String end(String name, int length) {
        return name.length() <= length ? name : name.substring(name.length() - length);
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }
}
