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
package io.netty.microbench.rdma.verbs;

import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Windows;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions.SizeConverter;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Chart;
import io.netty.microbench.rdma.report.ChartOutput;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Remarks;
import io.netty.microbench.rdma.report.Results;
import io.netty.microbench.rdma.report.Spread;
import io.netty.microbench.rdma.report.Table;
import io.netty.microbench.rdma.sample.CompilerWatch;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;
import io.netty.microbench.rdma.verbs.PairOptions.End;
import io.netty.microbench.rdma.verbs.PairOptions.Way;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Runs all modes of a program, both ends as processes: once with a check of all data, and then in rounds, in turn with
 * the programs of perftest that do the same.
 *
 * @param <M> modes
 */
public abstract class PerftestComparison<M extends Enum<M>> implements Callable<Integer> {
    private static final int ROUNDS = 5;
    /** Maximum time, unless the rounds were set by an option: no round begins that would probably end later. */
    private static final int MAX_SECONDS = 100;

    @Spec
    private CommandSpec spec;

    @Mixin
    private PairOptions pair;

    @Mixin
    private ChartOutput charts;

    @Mixin
    private Perftest perftest;

    @Option(names = "--size", split = ",", defaultValue = "64,64K", converter = SizeConverter.class,
            description = "Bytes of an operation (default: ${DEFAULT-VALUE}).")
    private List<Integer> sizes;

    @Option(names = "--quick", description = "One short round, with the check, and less of perftest.")
    private boolean quick;

    @Option(names = "--rounds", description = "Rounds to take medians of (default: up to 5 in two minutes, or 1 with "
            + "--quick).")
    private Integer rounds;

    /** Main classes of the two ends. */
    private final Class<?> server;
    private final Class<?> client;
    private long startNanos;

    protected PerftestComparison(Class<?> server, Class<?> client) {
        this.server = server;
        this.client = client;
    }

    /** Chosen modes. */
    protected abstract List<M> modes();

    /** Numbers of operations that are measured, and times of the warm-up. */
    protected abstract Effort effort(int size, boolean isQuick);

    /** Programs of perftest that do the same. */
    protected abstract List<String> programs(M mode);

    /** Returns whether latencies are compared, rather than rates. */
    protected abstract boolean isLatency();

    /** Explanation of the table for its reader. */
    protected abstract String explanation();

    /**
     * Numbers of repetitions.
     *
     * @param count         number of measured operations
     * @param warmUpSeconds time of the warm-up
     * @param perftest      number of operations that a program of perftest measures
     */
    public record Effort(int count, int warmUpSeconds, int perftest) {
    }

    @Override
    public final Integer call() throws Exception {
        startNanos = System.nanoTime();
        String unavailability = perftest.unavailability(pair.provider());
        if (unavailability != null) {
            System.out.println("Without perftest: " + unavailability);
        }
        int all = rounds != null ? rounds : quick ? 1 : ROUNDS;
        // The programs of perftest poll while they wait.
        String waiting = (pair.isPolling() ? Mode.polling(Transport.RDMA) : Mode.byDefault(Transport.RDMA)).toString();
        Results results = new Results();
        if (!quick) {
            System.out.println("with every byte checked:");
            for (int size : sizes) {
                for (M mode : modes()) {
                    run(mode, size, new Effort(effort(size, true).count(), 0, 0), true);
                }
            }
        }
        Machine.warnIfBusy();
        int done = 0;
        for (long roundSeconds = 0; done < all && hasTime(roundSeconds); done++) {
            long begun = seconds();
            System.out.printf("round %d of %d%n", done + 1, all);
            for (int size : sizes) {
                round(size, unavailability == null, waiting, results);
            }
            roundSeconds = seconds() - begun;
        }
        if (!hasTime(0)) {
            System.out.println("The time was over; --rounds " + all + " takes as much as it needs.");
        }
        System.out.println();
        System.out.println(done + (done == 1 ? " round" : " rounds") + ", on " + Machine.describe() + ", "
                + pair.provider() + " verbs provider, " + waiting + (quick ? ", with the check" : "") + ".\n"
                + explanation() + "\n\n" + table(results, waiting));
        charts.show(chart(results, waiting));
        return 0;
    }

    private long seconds() {
        return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    }

    private boolean hasTime(long forSeconds) {
        return rounds != null || seconds() + forSeconds < MAX_SECONDS;
    }

    private void round(int size, boolean withPerftest, String waiting, Results results)
            throws IOException, InterruptedException {
        Effort effort = effort(size, quick);
        Map<String, Measurement> theirs = new LinkedHashMap<>();
        for (M mode : modes()) {
            if (!hasTime(0)) {
                break;
            }
            results.add(waiting, run(mode, size, effort, quick));
            for (String program : withPerftest ? programs(mode) : List.<String>of()) {
                if (!theirs.containsKey(program) && hasTime(0)) {
                    theirs.put(program,
                            perftest.run(pair.provider(), pair.host(), program, size, effort.perftest()));
                }
            }
        }
        theirs.values().forEach(measurement -> results.add(waiting, measurement));
    }

    private Sample run(M mode, int size, Effort effort, boolean check) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--mode", mode.name(), "--size", Integer.toString(size),
                "--count", Integer.toString(effort.count()), "--warm-up", Integer.toString(effort.warmUpSeconds()),
                "--windows"));
        if (!check) {
            arguments.add("--no-check");
        }
        return pair.start(Way.CONNECTION_MANAGER, new End(server, arguments), List.of(new End(client, arguments)),
                processes -> {
                    CompilerWatch compilers = new CompilerWatch(processes);
                    List<String> lines;
                    try (compilers) {
                        lines = PairOptions.awaitSuccess(processes);
                    }
                    return measured(arguments, lines, compilers, check);
                });
    }

    private Sample measured(List<String> arguments, List<String> lines, CompilerWatch compilers, boolean check)
            throws IOException {
        Measurement measured = null;
        Windows windows = null;
        for (String line : lines) {
            if (line.startsWith(Result.PREFIX) && check) {
                System.out.println(line);
            }
            Measurement measurement = Measurement.parse(line);
            measured = measurement == null ? measured : measurement;
            Windows ofMeasurement = Windows.parse(line);
            windows = ofMeasurement == null ? windows : ofMeasurement;
        }
        if (measured == null || windows == null) {
            throw new IOException(client.getSimpleName() + ' ' + arguments + ": nothing was measured");
        }
        return compilers.sample(measured, windows);
    }

    private String table(Results results, String waiting) {
        Table table = isLatency()
                ? new Table("what", "round trip p50", "p99", "p99.9", "range a second", "ours is x times as long",
                        "rounds")
                : new Table("what", "per second", "range", "ours takes x times as long", "rounds");
        for (int size : sizes) {
            for (M mode : modes()) {
                String ours = name(name(mode), size);
                if (results.isMeasured(waiting, ours)) {
                    row(table, results, waiting, ours, "");
                }
                for (String program : programs(mode)) {
                    String theirs = name(program, size);
                    if (results.isMeasured(waiting, theirs)) {
                        row(table, results, waiting, theirs, results.isMeasured(waiting, ours)
                                ? ratio(results, waiting, ours, theirs) : "");
                    }
                }
            }
        }
        String remarks = results.remarks("--rounds " + ROUNDS);
        return table + (remarks.isEmpty() ? "" : '\n' + remarks);
    }

    private void row(Table table, Results results, String waiting, String what, String ratio) {
        Figure rate = results.rate(what);
        String rounds = results.settledRounds(waiting, what, rate);
        Settling.State none = results.withoutFigures(waiting, what, rate);
        if (none != null) {
            String why = "not settled: " + none;
            table.row(isLatency() ? new String[] {what, why, "", "", "", "", rounds}
                    : new String[] {what, why, "", "", rounds});
            return;
        }
        String mark = results.isSettled(waiting, what, rate) ? "" : Remarks.MARK;
        Spread windows = results.windows(waiting, what, rate);
        // Programs that measure latencies print no rate.
        String range = windows.max() == 0 ? "" : windows.fullRange(rate::perSecond);
        if (isLatency()) {
            table.row(what, Figures.micros(results.spread(waiting, what, Figure.P50).median()) + mark,
                    Figures.micros(results.spread(waiting, what, Figure.P99).median()) + mark,
                    Figures.micros(results.spread(waiting, what, Figure.P999).median()) + mark, range, ratio, rounds);
        } else {
            table.row(what, rate.perSecond(windows.median()) + mark, range, ratio, rounds);
        }
    }

    /** Makes a chart. Each group has our modes, and then the programs of perftest; the last of these is the base. */
    private Chart chart(Results results, String waiting) {
        List<String> theirs = modes().stream().flatMap(mode -> programs(mode).stream()).distinct()
                .filter(program -> sizes.stream().anyMatch(size -> results.isMeasured(waiting, name(program, size))))
                .toList();
        List<String> whom = new ArrayList<>(modes().stream().map(PerftestComparison::name).toList());
        whom.addAll(theirs);
        String base = whom.get(theirs.isEmpty() ? 0 : whom.size() - 1);
        return new Chart(spec.name(), isLatency() ? "round trip p50 in microseconds, less is better"
                : "per second, more is better", base, sizes.stream().map(size -> new Chart.Group(Figures.size(size),
                        whom.stream().filter(who -> results.isMeasured(waiting, name(who, size)))
                                .map(who -> bar(results, waiting, who, base, size)).toList())).toList());
    }

    private Chart.Bar bar(Results results, String waiting, String who, String base, int size) {
        String what = name(who, size);
        Figure rate = results.rate(what);
        Settling.State none = results.withoutFigures(waiting, what, rate);
        if (none != null) {
            return Chart.Bar.without(who, none);
        }
        Figure figure = isLatency() ? Figure.P50 : rate;
        double median = results.spread(waiting, what, figure).median();
        Spread ofBase = results.spread(waiting, name(base, size), figure);
        double ratio = ofBase == null ? Double.NaN : median / ofBase.median();
        return new Chart.Bar(who, median, isLatency() ? Figures.micros(median) : rate.perSecond(median) + "/s",
                isLatency() ? 1 / ratio : ratio, results.isSettled(waiting, what, rate) ? "" : Remarks.MARK);
    }

    private static String name(Enum<?> mode) {
        return mode.name().toLowerCase(Locale.ROOT);
    }

    private static String name(String who, int size) {
        return who + ' ' + Figures.size(size);
    }

    private String ratio(Results results, String waiting, String ours, String theirs) {
        Figure figure = isLatency() ? Figure.P50 : results.rate(ours);
        Spread own = results.spread(waiting, ours, figure);
        if (own == null) {
            return "";
        }
        double ratio = own.median() / results.spread(waiting, theirs, figure).median();
        return String.format(Locale.ROOT, "%.2f", isLatency() ? ratio : 1 / ratio);
    }
}
