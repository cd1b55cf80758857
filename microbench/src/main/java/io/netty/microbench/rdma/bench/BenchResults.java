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

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Spread;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All that a run measured, from which its tables and plots are made. The same as {@code results.json}:
 *
 * <pre>
 * format    2, changed when the meaning of anything here does
 * taken     when the run began, ISO 8601, UTC
 * plan      quick, default or full
 * rounds    how often everything was measured; round, in the readings, is 1 to that
 * machine   see {@link Machine}
 * readings  see {@link Reading}: each has round, subject, scenario, figure, value, state, and of what is known in
 *           windows, windows. Nothing was averaged
 * missing   see {@link Missing}: each has subject, part, why
 * </pre>
 *
 * Times are nanoseconds, sizes bytes, rates a second, shares of a core 0 to 1 and more.
 */
public record BenchResults(int format, String taken, String plan, int rounds, Machine machine,
                           List<Reading> readings, List<Missing> missing) {
    /** Of this version. */
    public static final int FORMAT = 2;

    private static final ObjectMapper MAPPER = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /**
     * Reads {@code results.json}.
     *
     * @throws IOException if it cannot be read, or is of another format
     */
    public static BenchResults read(Path file) throws IOException {
        BenchResults results = MAPPER.readValue(file.toFile(), BenchResults.class);
        if (results.format != FORMAT) {
            throw new IOException(file + ": of format " + results.format + ", not " + FORMAT);
        }
        return results;
    }

    /** Writes {@code results.json}. */
    public void write(Path file) throws IOException {
        MAPPER.writeValue(file.toFile(), this);
    }

    /** Whom there are readings of, in the order in which they were taken first. */
    List<String> subjects(List<String> scenarios) {
        return readings.stream().filter(reading -> scenarios.contains(reading.scenario())).map(Reading::subject)
                .distinct().toList();
    }

    /** Whether there is any figure in a section. */
    boolean isMeasured(Section section) {
        return readings.stream().anyMatch(reading -> reading.hasFigure() && reading.figure() == section.plotted()
                && section.scenarios().contains(reading.scenario()));
    }

    /** All values of all rounds that count; {@code null} if there are none. */
    Spread spread(String subject, String scenario, Figure figure) {
        return Spread.of(counting(subject, scenario, figure).stream().map(Reading::value).toList());
    }

    /** All values of all windows of the rounds that count, and their median; {@code null} if there are none. */
    Spread windows(String subject, String scenario, Figure figure) {
        List<Reading> counting = counting(subject, scenario, figure);
        return counting.isEmpty() ? null : new Spread(spread(subject, scenario, figure).median(),
                counting.stream().mapToDouble(Reading::low).min().orElseThrow(),
                counting.stream().mapToDouble(Reading::high).max().orElseThrow());
    }

    /** Whether at least half of the readings had settled; else all count that are not wrong. */
    boolean isSettled(String subject, String scenario, Figure figure) {
        List<Reading> all = select(subject, scenario, figure).toList();
        return 2 * all.stream().filter(Reading::settled).count() >= all.size();
    }

    /** The readings that had not settled. */
    List<Reading> unsettled(String subject, String scenario, Figure figure) {
        return select(subject, scenario, figure).filter(reading -> !reading.settled()).toList();
    }

    /**
     * How many times better a subject is than another one, a round at a time; {@code null} if there is no round in
     * which both have figures.
     */
    Spread ratio(String subject, String base, String scenario, Figure figure) {
        List<Spread> ratios = eachRound(new Goal.Of(subject, scenario, figure), new Goal.Of(base, scenario, figure),
                (own, other) -> figure.isMoreBetter() ? times(own, other) : times(other, own));
        return ratios.isEmpty() ? null : new Spread(Spread.of(ratios.stream().map(Spread::median).toList()).median(),
                ratios.stream().mapToDouble(Spread::min).min().orElseThrow(),
                ratios.stream().mapToDouble(Spread::max).max().orElseThrow());
    }

    /** As the windows have it where one of both had not settled: the best of one beside the worst of the other. */
    private static Spread times(InRound above, InRound below) {
        double ratio = above.value() / below.value();
        return above.settled() && below.settled() ? new Spread(ratio, ratio, ratio)
                : new Spread(ratio, above.low() / below.high(), above.high() / below.low());
    }

    /**
     * What somebody's figure was in a round.
     *
     * @param value the median, as a scenario may be measured several times in a round
     * @param low   the lowest value of any window
     * @param high  the highest value of any window
     */
    record InRound(double value, double low, double high, boolean settled) {
        private static InRound of(List<Reading> readings) {
            return new InRound(Spread.of(readings.stream().map(Reading::value).toList()).median(),
                    readings.stream().mapToDouble(Reading::low).min().orElseThrow(),
                    readings.stream().mapToDouble(Reading::high).max().orElseThrow(),
                    readings.stream().allMatch(Reading::settled));
        }
    }

    /**
     * What comes of two figures of the same round: of each round that counts for both, or if there is none, of each in
     * which both have figures.
     */
    <T> List<T> eachRound(Goal.Of own, Goal.Of other, BiFunction<InRound, InRound, T> of) {
        List<T> counting = eachRound(rounds(own), rounds(other), of);
        return counting.isEmpty() ? eachRound(inRounds(withFigures(own)), inRounds(withFigures(other)), of) : counting;
    }

    private static <T> List<T> eachRound(Map<Integer, InRound> own, Map<Integer, InRound> others,
                                         BiFunction<InRound, InRound, T> of) {
        return own.keySet().stream().filter(others::containsKey)
                .map(round -> of.apply(own.get(round), others.get(round))).toList();
    }

    /** What counts, of each round. */
    Map<Integer, InRound> rounds(Goal.Of of) {
        return inRounds(counting(of.subject(), of.scenario(), of.figure()));
    }

    private static Map<Integer, InRound> inRounds(List<Reading> readings) {
        return readings.stream().collect(Collectors.groupingBy(Reading::round, TreeMap::new,
                Collectors.collectingAndThen(Collectors.toList(), InRound::of)));
    }

    private List<Reading> counting(String subject, String scenario, Figure figure) {
        return isSettled(subject, scenario, figure)
                ? select(subject, scenario, figure).filter(Reading::settled).toList()
                : withFigures(new Goal.Of(subject, scenario, figure));
    }

    private List<Reading> withFigures(Goal.Of of) {
        return select(of.subject(), of.scenario(), of.figure()).filter(Reading::hasFigure).toList();
    }

    private Stream<Reading> select(String subject, String scenario, Figure figure) {
        return readings.stream().filter(reading -> reading.figure() == figure && reading.subject().equals(subject)
                && reading.scenario().equals(scenario));
    }
}
