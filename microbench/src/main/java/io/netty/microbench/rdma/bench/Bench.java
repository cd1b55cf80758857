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

import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.microbench.rdma.bench.BenchResults.Missing;
import io.netty.microbench.rdma.bench.Part.Setup;
import io.netty.microbench.rdma.comparison.LimitProgram;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.process.TemporaryFolder;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Readings;
import io.netty.microbench.rdma.sample.Launcher;
import io.netty.microbench.rdma.sample.Mode;
import io.netty.microbench.rdma.verbs.Perftest;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Measures everything by one command. The exit status is 0 if every measurement that is possible here was made, and
 * every answer was right.
 */
@Command(name = "run-bench.sh", sortOptions = false, description = {
        "Measures the transports beside each other and beside what the machine can do, and writes results.json (every "
                + "reading), results.md (tables), summary.md and plots.",
        "Nothing else should run on the machine meanwhile."})
public final class Bench implements Callable<Integer> {
    private static final int LIMIT_SECONDS = 300;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    @ArgGroup
    private Length length = new Length();

    @Option(names = "--rounds", description = "Rounds to take medians of (default: up to 3, as many as a quarter of an "
            + "hour has room for; with --quick 1, with --full up to 5).")
    private Integer rounds;

    @Option(names = "--only", split = ",", paramLabel = "PART",
            description = "Measure only these parts: ${COMPLETION-CANDIDATES} (default: with --rxe the last two, else "
                    + "those before scale).")
    private List<Part> only;

    @Option(names = "--transports", split = ",", description = "Transports to compare: ${COMPLETION-CANDIDATES} "
            + "(default: rdma and epoll, and without --quick and --rxe once, in the parts echo and messages, the "
            + "others; with --full all).")
    private List<Transport> transports;

    @Option(names = "--rates", split = ",", paramLabel = "RATE",
            description = "Measure the part paced at these rates only, messages a second: some of 100, 300, 1000, "
                    + "3000, 10000, 30000, 100000.")
    private List<Integer> rates;

    @Option(names = "--connections", split = ",", paramLabel = "NUMBER",
            description = "Measure the part paced on so many connections only: some of 1, 16, 256.")
    private List<Integer> connections;

    @Option(names = "--scale", description = "Measure the part scale only: 1, 2, 4, 7, 14, ... event loops at each "
            + "end, as many as there are cores for.")
    private boolean scale;

    @Option(names = "--loops", split = ",", paramLabel = "NUMBER",
            description = "Measure the part scale with so many event loops at each end only: some of 1, 2, 4, 7, 14, "
                    + "28, 56.")
    private List<Integer> loops;

    @Option(names = "--pin", description = "Bind each event loop of the part scale to a core of its own.")
    private boolean pin;

    @Mixin
    private Launcher launcher;

    @Mixin
    private Perftest perftest;

    @Option(names = "--output", description = "Folder to write to (default: target/bench, with --rxe "
            + "target/bench-rxe).")
    private Path output;

    @Option(names = "--from", paramLabel = "FILE",
            description = "Measure nothing: make the tables and plots of this results.json again.")
    private Path from;

    @Option(names = "--limit-program", hidden = true, required = true)
    private Path limitProgram;

    @Option(names = "--noise-program", hidden = true, required = true)
    private Path noiseProgram;

    /** Transports that are measured only once, and not in all parts. */
    private List<Transport> others = List.of();
    private final List<Reading> readings = new ArrayList<>();
    private final List<Missing> missing = new ArrayList<>();
    private boolean failed;

    /** At most one of these options. */
    private static final class Length {
        @Option(names = "--quick",
                description = "One short round of rdma and epoll as they wait by default, about three minutes: does "
                        + "it work?")
        private boolean quick;

        @Option(names = "--full", description = "Figures to quote: more rounds, longer windows.")
        private boolean full;

        @Option(names = "--rxe", description = "Over soft-RoCE, in a QEMU guest that run-bench.sh starts for it, about "
                + "ten minutes: rdma, epoll's TCP and C programs over one wire.")
        private boolean rxe;

        Effort effort() {
            return quick ? Effort.QUICK : full ? Effort.FULL : rxe ? Effort.RXE : Effort.DEFAULT;
        }
    }

    Bench() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new Bench(), args));
    }

    @Override
    public Integer call() throws Exception {
        if (output == null) {
            output = Path.of("target", length.rxe ? "bench-rxe" : "bench");
        }
        Files.createDirectories(output);
        if (from != null) {
            BenchResults results = BenchResults.read(from);
            tell(results);
            System.out.print(new MarkdownReport(results).writeTargets());
            return 0;
        }
        Machine.warnIfBusy();
        Effort effort = effort();
        int cores = Runtime.getRuntime().availableProcessors();
        ScaleMeasurements.Loops scaleLoops = new ScaleMeasurements.Loops(
                someOf(Section.SCALE_LOOPS, loops, ScaleMeasurements.Loops.on(cores)), pin, cores);
        if (transports == null) {
            transports = length.full ? List.of(Transport.values()) : List.of(Transport.RDMA, Transport.EPOLL);
            if (!length.full && !length.quick && !length.rxe) {
                others = Arrays.stream(Transport.values()).filter(other -> !transports.contains(other)).toList();
            }
        }
        if (only == null) {
            only = scale ? List.of(Part.SCALE) : List.copyOf(length.rxe ? Part.OF_A_WIRE : Part.OF_A_MACHINE);
        }
        String taken = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        Machine machine = Machine.here(launcher.provider());
        long start = System.nanoTime();
        try (TemporaryFolder folder = new TemporaryFolder()) {
            Setup setup = new Setup(launcher, folder.path(), new LimitProgram(limitProgram, LIMIT_SECONDS),
                    noiseProgram, perftest, scaleLoops);
            long roundNanos = 0;
            BenchResults results = null;
            for (int round = 1; round <= effort.rounds(); round++) {
                long roundStart = System.nanoTime();
                if (roundStart - start + roundNanos > TimeUnit.SECONDS.toNanos(effort.maxSeconds())) {
                    System.out.printf("no further round: it would end after more than %d s%n", effort.maxSeconds());
                    break;
                }
                measure(round, setup, effort);
                roundNanos = System.nanoTime() - roundStart;
                // Results so far, for a user who stops the run now.
                results = new BenchResults(BenchResults.FORMAT, taken, effort.name(), round, machine, readings,
                        missing);
                tell(results);
                System.out.printf("round %d of %d done, %d s%n", round, effort.rounds(),
                        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
            }
            if (results != null) {
                System.out.println();
                System.out.print(new MarkdownReport(results).writeTargets());
            }
        }
        return failed ? 1 : 0;
    }

    private Effort effort() {
        Effort effort = rounds == null ? length.effort() : length.effort().withRounds(rounds);
        return effort.withPaced(someOf(Section.PACED_RATES, rates, effort.rates()),
                someOf(Section.PACED_CONNECTIONS, connections, effort.connections()));
    }

    private List<Integer> someOf(List<Integer> all, List<Integer> chosen, List<Integer> otherwise) {
        if (chosen == null) {
            return otherwise;
        }
        if (!all.containsAll(chosen)) {
            throw new CommandLine.ParameterException(spec.commandLine(), chosen + " are not among " + all);
        }
        return chosen.stream().sorted().toList();
    }

    private void measure(int round, Setup setup, Effort effort) throws InterruptedException {
        for (Part part : only) {
            if (round > effort.rounds(part)) {
                continue;
            }
            if (part.subject() != null) {
                measure(part, null, new Readings(round, part.subject()), part.subject(), setup, effort);
                continue;
            }
            Stream<Transport> once = round == 1 && Part.OF_OTHERS.contains(part) ? others.stream() : Stream.empty();
            List<Mode> modes = Stream.concat(transports.stream(), once).flatMap(part::modes)
                    .filter(mode -> !length.quick || mode.waiting() != Waiting.POLLING).toList();
            for (int i = 0; i < modes.size(); i++) {
                // Each round starts with another mode.
                Mode mode = modes.get((round - 1 + i) % modes.size());
                String subject = mode.toString();
                String cause = part.unavailabilityCause(mode.transport());
                if (cause == null) {
                    measure(part, mode, new Readings(round, subject), subject, setup, effort);
                } else {
                    miss(subject, part, cause);
                }
            }
        }
    }

    private void measure(Part part, Mode mode, Readings taken, String subject, Setup setup, Effort effort)
            throws InterruptedException {
        System.out.println(part + ": " + subject);
        long start = System.nanoTime();
        try {
            part.measure(mode, setup, effort, taken);
        } catch (IOException e) {
            failed = true;
            System.out.println("  failed: " + e.getMessage());
            miss(subject, part, e.getMessage());
        }
        readings.addAll(taken.list());
        taken.misses().forEach(why -> {
            System.out.println("  not measured: " + why);
            miss(subject, part, why);
        });
        System.out.printf("  %d s%n", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
    }

    private void miss(String subject, Part part, String why) {
        Missing what = new Missing(subject, part.toString(), why);
        if (!missing.contains(what)) {
            missing.add(what);
        }
    }

    private void tell(BenchResults results) throws IOException {
        results.write(output.resolve("results.json"));
        Files.writeString(output.resolve("results.md"), "# Results\n\n" + new MarkdownReport(results).write());
        Files.writeString(output.resolve("summary.md"), new MarkdownReport(results).writeSummary());
        new Plots(results).write(output);
        System.out.println("written: " + output.resolve("results.md"));
    }
}
