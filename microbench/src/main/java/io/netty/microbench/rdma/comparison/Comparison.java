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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.comparison.ComparisonOptions.Plan;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Chart;
import io.netty.microbench.rdma.report.Report;
import io.netty.microbench.rdma.report.Results;
import io.netty.microbench.rdma.report.Terminal;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Pair;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * Measures modes in turn, round by round, and shows the results.
 */
public final class Comparison implements AutoCloseable {
    /** Divisor of the limit of a row for processes that are not new. */
    private static final int WARM = 3;
    /** Approximate time of a sample of such processes. */
    private static final long WARM_ROW_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Maximum time of a row, in multiples of its share of the remaining time. Few rows need more time than most. */
    private static final int SHARES = 3;
    private static final int MIN_LIMIT_MILLIS = 1500;
    /** Divisor of a mode's remaining time that gives the maximum time of warm-up. */
    private static final int WARM_UP_PART = 2;

    private static final String FULL = "--full";
    /** Option for a longer limit of a row, in seconds. */
    private static final String LONGER_THAN_FULL = "--limit 30";

    private final String title;
    private final ComparisonOptions options;
    private final List<Mode> modes;
    private final Starter starter;
    private final List<Reference> references;
    private final Plan plan;
    private final int rounds;
    private final Progress progress = new Progress();
    private final Results results = new Results();
    /** Running processes. All but one pair are paused. */
    private final Map<Mode, Pair> pairs = new LinkedHashMap<>();
    /** Time at which everything should be done. */
    private long end;
    /** Time that the start of the latest processes took. */
    private long startNanos;
    /** Samples taken so far in this round. */
    private int rows;

    /**
     * @param title      title of the chart
     * @param references measured beside the modes, once in each round
     */
    Comparison(String title, ComparisonOptions options, List<Mode> modes, Starter starter,
               List<Reference> references) {
        this.title = title;
        this.options = options;
        this.modes = modes;
        this.starter = starter;
        this.references = references;
        plan = options.plan();
        rounds = options.rounds();
    }

    /** Starts the processes of a mode. */
    @FunctionalInterface
    interface Starter {
        Pair start(Mode mode) throws IOException;

        /** Called when all rows of a mode in a round are measured, while its processes still run. */
        default void measured(Mode mode, Pair pair) throws IOException {
            // Most clients check all results themselves.
        }
    }

    /** A subject for comparison that is no transport. */
    public interface Reference {
        /** Name in the table. */
        String name();

        /** Measures once, for a second or two, with the same scenario names. */
        List<Measurement> measure() throws IOException, InterruptedException;
    }

    /**
     * Measures all modes in every round, and prints the table after each round, and the chart in the end.
     *
     * @throws IOException if a process fails. Its messages are on the standard error output
     */
    void run() throws IOException, InterruptedException {
        Machine.warnIfBusy();
        end = System.nanoTime() + TimeUnit.SECONDS.toNanos(plan.maxSeconds);
        for (int round = 0; round < rounds; round++) {
            long roundStart = System.nanoTime();
            rows = 0;
            // Over the rounds, the modes differ in their places and in their predecessors.
            List<Mode> turns = new ArrayList<>(modes);
            Collections.rotate(turns, -(round / 2));
            if (round % 2 == 1) {
                Collections.reverse(turns);
            }
            String where = "round " + (round + 1) + " of " + rounds + ", ";
            for (Mode mode : turns) {
                measure(mode, where + mode);
            }
            for (Reference reference : references) {
                progress.say(where + reference.name());
                for (Measurement measurement : reference.measure()) {
                    results.add(reference.name(), measurement);
                }
            }
            progress.end();
            long now = System.nanoTime();
            boolean last = round == rounds - 1 || !options.hasRounds()
                    && now + (plan.keepsProcesses ? rows * WARM_ROW_NANOS : now - roundStart) - end > 0;
            tell(round + 1, last);
            if (last) {
                return;
            }
        }
    }

    private void measure(Mode mode, String what) throws IOException, InterruptedException {
        Pair pair = pairs.get(mode);
        int limitMillis = options.limitMillis();
        if (pair == null) {
            progress.say(what + ": starting");
            long now = System.nanoTime();
            pair = starter.start(mode);
            pairs.put(mode, pair);
            startNanos = System.nanoTime() - now;
            progress.say(what + ": warming up");
            pair.warmUp(IntStream.range(0, pair.subjects().size()).boxed().toList(),
                    warmUpMillis(modes.size() - pairs.size() + 1));
        } else {
            // Warm scenarios settle at once, and cold ones have had their time.
            limitMillis /= WARM;
            pair.resume();
        }
        progress.say(what);
        for (int i = 0; i < pair.subjects().size(); i++) {
            progress.detail(pair.subjects().get(i).name());
            long rowsLeft = (long) modes.size() * pair.subjects().size() - rows;
            int toStart = modes.size() - pairs.size();
            long left = end - System.nanoTime()
                    - toStart * (startNanos + TimeUnit.MILLISECONDS.toNanos(warmUpMillis(toStart)));
            long shareMillis = TimeUnit.NANOSECONDS.toMillis(SHARES * left / rowsLeft);
            results.add(mode.toString(), pair.sample(i, plan.windowMillis,
                    Math.min(limitMillis, (int) Math.max(MIN_LIMIT_MILLIS, shareMillis))));
            rows++;
        }
        starter.measured(mode, pair);
        if (plan.keepsProcesses) {
            pair.pause();
        } else {
            pairs.remove(mode).close();
        }
    }

    /**
     * Returns the maximum time of the warm-up of new processes: on a busy machine no more than is left.
     *
     * @param toStart number of modes that are still to be started
     */
    private int warmUpMillis(int toStart) {
        if (options.hasRounds() || toStart == 0) {
            return options.warmUpMillis();
        }
        long share = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime()) / toStart / WARM_UP_PART;
        return (int) Math.max(0, Math.min(options.warmUpMillis(), share));
    }

    /** Prints the table and its origin, writes it to a file if an option says so, and in the end shows the chart. */
    private void tell(int done, boolean last) throws IOException {
        String report = done + (done == 1 ? " round" : " rounds")
                + (plan == Plan.QUICK ? ", short ones" : "") + ", on " + Machine.describe()
                + (options.transports.contains(Transport.RDMA)
                        ? ", " + options.launcher.provider() + " verbs provider" : "")
                + ".\n\n" + new Report(results, plan == Plan.FULL ? LONGER_THAN_FULL : FULL).write();
        System.out.println();
        System.out.println(report);
        if (last && options.markdown != null) {
            Files.writeString(options.markdown, report);
        }
        if (last) {
            // The chart is without references: beside the limit of the machine, differences between transports would be
            // tiny.
            options.charts.show(Chart.ofRates(title, results, modes.stream().map(Mode::toString).toList(),
                    Mode.byDefault(Transport.EPOLL).toString()));
        }
    }

    @Override
    public void close() throws IOException {
        for (Pair pair : pairs.values()) {
            pair.close();
        }
    }

    /**
     * Shows the progress: on a terminal with one line that changes, elsewhere with a line for each important change.
     */
    private static final class Progress {
        private static final String CLEAR_LINE = "\r\u001b[K";

        private final boolean terminal = Terminal.standardOutput().isTerminal();
        private String line = "";

        /** Announces work of some seconds. */
        public void say(String what) {
            line = what;
            if (terminal) {
                System.out.print(CLEAR_LINE + what);
                System.out.flush();
            } else {
                System.out.println(what);
            }
        }

        /** Announces a part of that work. */
        public void detail(String what) {
            if (terminal) {
                System.out.print(CLEAR_LINE + line + ": " + what);
                System.out.flush();
            }
        }

        /** Ends the line, before other output is printed. */
        public void end() {
            if (terminal) {
                System.out.print(CLEAR_LINE);
                System.out.flush();
            }
        }
    }
}
