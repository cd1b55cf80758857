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

import io.netty.example.rdma.util.Figures;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.bench.BenchResults.Missing;
import io.netty.microbench.rdma.load.EchoLoad;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import io.netty.microbench.rdma.report.Results.Of;
import io.netty.microbench.rdma.report.Spread;
import io.netty.microbench.rdma.sample.Mode;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.Stream;

/**
 * Goal of the transport: a bound for a figure, or for its ratio or difference to a reference.
 *
 * @param ours    the figure
 * @param base    the reference; {@code null} if the bound is for the figure alone
 * @param against kind of the comparison
 * @param atLeast whether the bound is a minimum, else a maximum
 * @param bound   in the unit of the reading's value, or a factor
 * @param parts   parts of the run that measure it
 * @param command command that measures it, if another run does
 */
record Goal(Of ours, Of base, Against against, boolean atLeast, double bound, List<Part> parts, String command) {
    /** Subject of the C program that uses only shared memory: {@code transport-rdma-native/src/bench/c}. */
    static final String LIMIT = "limit";
    /** Subject that all others are compared with, besides {@link #LIMIT}. */
    static final String BASE = "epoll";
    static final String RDMA = Mode.byDefault(Transport.RDMA).toString();
    static final String RDMA_POLLING = Mode.polling(Transport.RDMA).toString();
    private static final String EPOLL_POLLING = Mode.polling(Transport.EPOLL).toString();
    /** Transports in the same mode. */
    private static final Map<String, String> SAME_MODE = Map.of(RDMA, BASE, RDMA_POLLING, EPOLL_POLLING);
    private static final List<String> BOTH_MODES = List.of(RDMA, RDMA_POLLING);

    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int CROWD = 10_000;
    /** Event loops at each end, on a machine with 16 cores. */
    static final int LOOPS = 7;
    /** Minimum share of its rate alone that each loop reaches beside the others. */
    private static final double EACH_LOOP = 0.9;
    /** Bound for no allocation: the commands allocate some hundred bytes a window, an object at least 16. */
    private static final double NOTHING = 0.5;

    private static final double PERFTEST_FACTOR = 1.1;

    private static final String WIRE_COMMAND = "`./run-bench.sh --rxe`";

    /** Ways of comparing two figures. */
    enum Against {
        /** No comparison. */
        NOTHING,
        /** The ratio. */
        TIMES,
        /** The difference. */
        MORE
    }

    /**
     * Result of a goal.
     *
     * @param value   value in all rounds; {@code null} if it was not measured
     * @param met     number of rounds that reached the goal
     * @param settled whether all readings had settled from which the value comes
     * @param why     reason why it was not measured, or {@code null}
     */
    record Outcome(Spread value, int rounds, int met, boolean settled, String why) {
    }

    /** Result of one round. */
    private record Value(double value, boolean settled) {
    }

    /** Returns the goals of a run. A run over a wire has other goals. */
    static List<Goal> of(BenchResults run) {
        return run.plan().equals(Effort.RXE.name()) ? overAWire()
                : Stream.of(onAMachine(), besidePerftest(), overAWire()).flatMap(List::stream).toList();
    }

    private static List<Goal> onAMachine() {
        List<Goal> goals = new ArrayList<>();
        goals.add(roundTrip(64).than(LIMIT, Against.MORE, 600));
        goals.add(roundTrip(4 * KIB).than(LIMIT, Against.TIMES, 1.5));
        goals.add(roundTrip(64 * KIB).than(LIMIT, Against.TIMES, 1.25));
        goals.add(roundTrip(MIB).than(LIMIT, Against.TIMES, 1.25));
        for (int bytes : new int[] {64 * KIB, MIB}) {
            goals.add(of(RDMA_POLLING, EchoLoad.stream("", bytes), Figure.BYTES, Part.ECHO)
                    .than(LIMIT, Against.TIMES, 0.8));
        }
        for (int connections : new int[] {1, 16}) {
            goals.add(of(RDMA_POLLING, Section.messages(connections), Figure.OPERATIONS, Part.MESSAGES)
                    .than(EPOLL_POLLING, Against.TIMES, 2));
        }
        BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, Section.UNARY, Figure.P50, Part.GRPC, 0.65)));
        BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, Section.UNARY_CALLS, Figure.OPERATIONS, Part.GRPC,
                1.2)));
        BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, Section.plaintext(1), Figure.OPERATIONS, Part.HTTP,
                3.5)));
        BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, Section.plaintext(64), Figure.OPERATIONS, Part.HTTP, 2)));
        BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, Section.SMALL_FILE, Figure.OPERATIONS, Part.FILES, 1)));
        for (String file : List.of(Section.RANGES, Section.LARGE_FILE)) {
            BOTH_MODES.forEach(mode -> goals.add(inSameMode(mode, file, Figure.BYTES, Part.FILES, 1)));
        }
        for (String mode : BOTH_MODES) {
            Of alone = new Of(mode, Section.roundTripsBeside(0), Figure.P50);
            goals.add(of(mode, Section.roundTripsBeside(CROWD), Figure.P50, Part.IDLE)
                    .than(alone, Against.TIMES, 1.1));
        }
        for (Figure memory : List.of(Figure.SERVER_MEMORY, Figure.CLIENT_MEMORY)) {
            BOTH_MODES.forEach(mode -> goals.add(of(mode, Section.roundTripsBeside(CROWD), memory, Part.IDLE)
                    .bound(16 * KIB)));
        }
        Stream.concat(Section.COLD_SECONDS.stream().map(Section::cold),
                Stream.concat(Section.AT_A_TIME.stream().map(Section::shortConnections), Stream.of(Section.KEPT_OPEN)))
                .forEach(name -> goals.add(inSameMode(RDMA, name, Figure.OPERATIONS, Part.SETUP, 0.7)));
        for (String mode : BOTH_MODES) {
            Goal together = of(mode, Section.scaleMessages(LOOPS), Figure.OPERATIONS, Part.SCALE);
            goals.add(together.than(new Of(mode, Section.scaleMessages(1), Figure.OPERATIONS), Against.TIMES,
                    EACH_LOOP * LOOPS));
        }
        BOTH_MODES.forEach(mode -> goals.add(of(mode, Section.roundTripsBeside(0), Figure.ALLOCATED, Part.IDLE)
                .bound(NOTHING)));
        return goals;
    }

    /** Goals of verbs programs, which have runs of their own. */
    private static List<Goal> besidePerftest() {
        List<Goal> goals = new ArrayList<>();
        for (int bytes : new int[] {64, 64 * KIB}) {
            goals.add(beside("pingpong", "write", bytes, Figure.P50, "ib_send_lat"));
        }
        for (int bytes : new int[] {64, 64 * KIB}) {
            goals.add(beside("blast", "write", bytes, Figure.OPERATIONS, "ib_write_bw"));
            goals.add(beside("blast", "read", bytes, Figure.OPERATIONS, "ib_read_bw"));
        }
        return goals;
    }

    private static Goal beside(String ours, String mode, int bytes, Figure figure, String program) {
        Of of = new Of(RDMA_POLLING, ours + ", " + mode + " of " + Figures.size(bytes), figure);
        return new Goal(of, of.by(program), Against.TIMES, figure.isMoreBetter(),
                figure.isMoreBetter() ? 1 / PERFTEST_FACTOR : PERFTEST_FACTOR, List.of(),
                "`./run-example.sh " + ours + " --polling`");
    }

    private static List<Goal> overAWire() {
        List<Goal> goals = new ArrayList<>();
        goals.add(of(RDMA_POLLING, EchoLoad.roundTrips(WireLoad.WHERE, 64), Figure.P50, Part.WIRE)
                .than(WirePrograms.LATENCY.get(0), Against.TIMES, 2).by(WIRE_COMMAND, Part.PROGRAMS));
        for (int bytes : new int[] {64 * KIB, MIB}) {
            goals.add(of(RDMA_POLLING, EchoLoad.stream(WireLoad.WHERE, bytes), Figure.BYTES, Part.WIRE)
                    .than(WirePrograms.BANDWIDTH.get(1), Against.TIMES, 0.9).by(WIRE_COMMAND, Part.PROGRAMS));
        }
        return goals;
    }

    private static Goal roundTrip(int bytes) {
        return of(RDMA_POLLING, EchoLoad.roundTrips("", bytes), Figure.P50, Part.ECHO);
    }

    /** Compares a figure with the same figure of another subject. */
    static Goal times(String subject, String scenario, Figure figure, Part part, String other, double factor) {
        return of(subject, scenario, figure, part).than(other, Against.TIMES, factor);
    }

    private static Goal inSameMode(String mode, String scenario, Figure figure, Part part, double factor) {
        return times(mode, scenario, figure, part, SAME_MODE.get(mode), factor);
    }

    /** Creates a goal without a bound. */
    private static Goal of(String subject, String scenario, Figure figure, Part part) {
        return new Goal(new Of(subject, scenario, figure), null, Against.NOTHING, figure.isMoreBetter(), 0,
                List.of(part), "`./run-bench.sh --only " + part + '`');
    }

    private Goal bound(double value) {
        return new Goal(ours, base, against, atLeast, value, parts, command);
    }

    private Goal than(String subject, Against how, double value) {
        Goal goal = than(ours.by(subject), how, value);
        return subject.equals(LIMIT)
                ? goal.by("`./run-bench.sh --only limit," + parts.get(0) + '`', Part.LIMIT) : goal;
    }

    private Goal than(Of other, Against how, double value) {
        return new Goal(ours, other, how, atLeast, value, parts, command);
    }

    private Goal by(String otherCommand, Part another) {
        return new Goal(ours, base, against, atLeast, bound,
                Stream.concat(parts.stream(), Stream.of(another)).toList(), otherCommand);
    }

    /** Result of this goal in a run. Ratios and differences are within a round. */
    Outcome in(BenchResults run) {
        List<Value> values = switch (against) {
        case NOTHING -> run.results().rounds(ours).values().stream()
                .map(own -> new Value(own.value(), own.settled())).toList();
        case TIMES -> eachRound(run, (own, other) -> own / other);
        case MORE -> eachRound(run, (own, other) -> own - other);
        };
        return new Outcome(Spread.of(values.stream().map(Value::value).toList()), values.size(),
                (int) values.stream().filter(round -> isMetBy(round.value)).count(),
                values.stream().allMatch(Value::settled), values.isEmpty() ? why(run) : null);
    }

    private List<Value> eachRound(BenchResults run, DoubleBinaryOperator of) {
        return run.results().eachRound(ours, base, (own, other) ->
                new Value(of.applyAsDouble(own.value(), other.value()), own.settled() && other.settled()));
    }

    /** Returns whether there are readings of the figure and of its reference, even if they don't count. */
    boolean wasTried(BenchResults run) {
        return Stream.of(ours, base).allMatch(figure -> !run.results().rounds(figure).isEmpty()
                || unsettled(run, figure).findAny().isPresent());
    }

    private static Stream<Reading> unsettled(BenchResults run, Of of) {
        return run.results().unsettled(of.subject(), of.scenario(), of.figure()).stream();
    }

    /** Returns whether the median of the rounds reached the goal. */
    boolean isMet(Outcome outcome) {
        return isMetBy(outcome.value.median());
    }

    private boolean isMetBy(double value) {
        return atLeast ? value >= bound : value <= bound;
    }

    private String why(BenchResults run) {
        List<Of> absent = Stream.of(ours, base).filter(figure -> figure != null
                && run.results().rounds(figure).isEmpty()).toList();
        if (absent.isEmpty()) {
            return "in no round have both a figure";
        }
        return Stream.of(
                absent.stream().flatMap(figure -> unsettled(run, figure))
                        .map(reading -> reading.subject() + " had not settled: " + reading.state()),
                run.missing().stream().filter(missing -> isAbout(missing, absent)).map(Missing::why),
                Stream.of("not in this run, but by " + command)).flatMap(found -> found).findFirst().orElseThrow();
    }

    private boolean isAbout(Missing missing, List<Of> figures) {
        return parts.stream().anyMatch(part -> part.toString().equals(missing.part())
                && (missing.subject().equals(part.subject())
                        || figures.stream().anyMatch(figure -> figure.subject().equals(missing.subject()))));
    }

    /** Returns the figure's name, for users. */
    String measure() {
        return ours.scenario() + ": " + ours.figure();
    }

    /** Returns the bound, for users. */
    String text() {
        String value = (atLeast ? "at least " : "at most ") + show(bound);
        if (against == Against.NOTHING) {
            return value;
        }
        return value + (against == Against.MORE ? " than " : " ")
                + (base.subject().equals(ours.subject()) ? base.scenario() : base.subject());
    }

    /** Returns the value, for users: the median of the rounds, and the range. */
    String figure(Outcome outcome) {
        if (outcome.value == null) {
            return "";
        }
        String range = outcome.value.range(this::number);
        return show(outcome.value.median()) + (range.contains(" to ") ? " (" + range + ')' : "");
    }

    /** Returns for users whether the goal was reached, and if not, by how much it was missed. */
    String verdict(Outcome outcome) {
        if (outcome.value == null) {
            return "not measured: " + outcome.why;
        }
        double median = outcome.value.median();
        boolean met = isMet(outcome);
        String inRounds = " in " + outcome.met + " of " + outcome.rounds + " rounds";
        String doubt = outcome.settled ? "" : ", not settled";
        if (met) {
            return (outcome.met == outcome.rounds ? "met" : "met" + inRounds) + doubt;
        }
        String by = against == Against.TIMES
                ? String.format(Locale.ROOT, "%.0f %%", Math.abs(median / bound - 1) * 100)
                : ours.figure().format(Math.abs(median - bound)) + ' ' + ours.figure().unit();
        return "missed by " + by + (outcome.met == 0 ? "" : ", met" + inRounds) + doubt;
    }

    private String show(double value) {
        return number(value) + switch (against) {
        case NOTHING -> ' ' + ours.figure().unit();
        case TIMES -> " times";
        case MORE -> ' ' + ours.figure().unit() + " more";
        };
    }

    private String number(double value) {
        return against == Against.TIMES ? String.format(Locale.ROOT, value < 10 ? "%.2f" : "%.0f", value)
                : ours.figure().format(value);
    }
}
