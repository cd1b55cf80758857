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

import io.netty.example.rdma.util.Measurement;
import io.netty.microbench.rdma.sample.Sample;
import io.netty.microbench.rdma.sample.Settling;
import org.HdrHistogram.Histogram;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * All readings of a run, and figures that result from them. Rounds count for a figure if they settled. If most rounds
 * did not settle, all rounds with figures count, and the results are marked: {@link #isSettled}.
 */
public final class Results {
    private final List<Reading> readings;
    /** The latencies of all operations of a round, if they are known. */
    private final Map<Round, Histogram> latencies = new HashMap<>();

    /** A figure of a subject in a scenario. */
    public record Of(String subject, String scenario, Figure figure) {
        /** Returns the same figure of another subject. */
        public Of by(String other) {
            return new Of(other, scenario, figure);
        }
    }

    /**
     * The figure of a subject in a round.
     *
     * @param value the median, as a scenario may be measured several times in a round
     * @param low   the lowest value of any window
     * @param high  the highest value of any window
     */
    public record InRound(double value, double low, double high, boolean settled) {
        private static InRound of(List<Reading> readings) {
            return new InRound(Spread.of(readings.stream().map(Reading::value).toList()).median(),
                    readings.stream().mapToDouble(Reading::low).min().orElseThrow(),
                    readings.stream().mapToDouble(Reading::high).max().orElseThrow(),
                    readings.stream().allMatch(Reading::settled));
        }
    }

    private record Round(String subject, String scenario, int number) {
    }

    /** Creates results without readings. */
    public Results() {
        this(new ArrayList<>());
    }

    /** Creates the results of these readings. */
    public Results(List<Reading> readings) {
        this.readings = readings;
    }

    /** Adds figures that another program has measured. */
    public void add(String subject, Measurement measurement) {
        add(subject, new Sample(measurement));
    }

    /** Adds the next round of a scenario. */
    public void add(String subject, Sample sample) {
        String scenario = sample.measurement().scenario();
        int round = (int) readings.stream().filter(reading -> reading.subject().equals(subject)
                && reading.scenario().equals(scenario)).mapToInt(Reading::round).distinct().count() + 1;
        Readings taken = new Readings(round, subject);
        taken.addRate(sample, scenario);
        taken.add(sample, scenario, Figure.CLIENT_COST, sample.client().cpuNanos());
        taken.add(sample, scenario, Figure.SERVER_COST, sample.server().cpuNanos());
        readings.addAll(taken.list());
        if (sample.latencies() != null) {
            latencies.put(new Round(subject, scenario, round), sample.latencies());
        }
    }

    /** Subjects with readings, in the order of their first ones. */
    public List<String> subjects() {
        return readings.stream().map(Reading::subject).distinct().toList();
    }

    /** Subjects with readings in these scenarios, in the order of their first ones. */
    public List<String> subjects(List<String> scenarios) {
        return readings.stream().filter(reading -> scenarios.contains(reading.scenario())).map(Reading::subject)
                .distinct().toList();
    }

    /** The scenarios with a reading of any subject, in the order in which they were measured. */
    List<String> scenarios() {
        return readings.stream().map(Reading::scenario).distinct().toList();
    }

    /** Returns whether there is any reading of a subject in a scenario, even if it does not count. */
    public boolean isMeasured(String subject, String scenario) {
        return readings.stream().anyMatch(reading -> reading.subject().equals(subject)
                && reading.scenario().equals(scenario));
    }

    /** The unit that a scenario counts: {@link Figure#OPERATIONS} or {@link Figure#BYTES}. */
    public Figure rate(String scenario) {
        return readings.stream().filter(reading -> reading.scenario().equals(scenario)).map(Reading::figure)
                .filter(figure -> figure == Figure.OPERATIONS || figure == Figure.BYTES).findFirst().orElseThrow();
    }

    /** Returns for users how many rounds of a figure settled, and how many there are. */
    public String settledRounds(String subject, String scenario, Figure figure) {
        List<Reading> all = select(new Of(subject, scenario, figure)).toList();
        return all.stream().filter(Reading::settled).count() + " of " + all.size();
    }

    /** Returns whether at least half of the readings had settled. If not, all readings count that are not wrong. */
    public boolean isSettled(String subject, String scenario, Figure figure) {
        return isSettled(new Of(subject, scenario, figure));
    }

    private boolean isSettled(Of of) {
        List<Reading> all = select(of).toList();
        return 2 * all.stream().filter(Reading::settled).count() >= all.size();
    }

    /** The readings that had not settled. */
    public List<Reading> unsettled(String subject, String scenario, Figure figure) {
        return select(new Of(subject, scenario, figure)).filter(reading -> !reading.settled()).toList();
    }

    /** Returns why a figure has no value: the state of its last round; {@code null} if it has a value. */
    public Settling.State withoutFigures(String subject, String scenario, Figure figure) {
        Of of = new Of(subject, scenario, figure);
        return counting(of).isEmpty() ? select(of).reduce((first, last) -> last).orElseThrow().known() : null;
    }

    /**
     * Returns observations about the rates that had not settled.
     *
     * @param longer the option that makes the run longer
     * @return a paragraph, or an empty string if all had settled
     */
    public String remarks(String longer) {
        Remarks remarks = new Remarks(longer);
        for (String scenario : scenarios()) {
            for (String subject : subjects()) {
                if (!isSettled(subject, scenario, rate(scenario))) {
                    unsettled(subject, scenario, rate(scenario))
                            .forEach(reading -> remarks.add(scenario, subject, reading.seen()));
                }
            }
        }
        return remarks.write();
    }

    /** Returns the values of all rounds that count; {@code null} if there are none. */
    public Spread spread(String subject, String scenario, Figure figure) {
        return Spread.of(counting(new Of(subject, scenario, figure)).stream().map(Reading::value).toList());
    }

    /** Returns the range of all windows of the rounds that count, and their median; {@code null} if there are none. */
    public Spread windows(String subject, String scenario, Figure figure) {
        List<Reading> counting = counting(new Of(subject, scenario, figure));
        return counting.isEmpty() ? null : new Spread(spread(subject, scenario, figure).median(),
                counting.stream().mapToDouble(Reading::low).min().orElseThrow(),
                counting.stream().mapToDouble(Reading::high).max().orElseThrow());
    }

    /**
     * Returns the latency, in nanoseconds, that 99.9 percent of the operations of all rounds did not exceed. It is
     * taken from all rounds together, because one round has few such operations. If the latencies are not known, it is
     * the median of the rounds' values; {@code null} if there are none.
     */
    Double p999(String subject, String scenario) {
        List<Histogram> known = counting(new Of(subject, scenario, Figure.P999)).stream()
                .map(reading -> latencies.get(new Round(subject, scenario, reading.round()))).toList();
        if (known.isEmpty() || known.contains(null)) {
            Spread spread = spread(subject, scenario, Figure.P999);
            return spread == null ? null : spread.median();
        }
        Histogram all = known.get(0).copy();
        known.stream().skip(1).forEach(all::add);
        return (double) all.getValueAtPercentile(99.9);
    }

    /**
     * Returns the ratio by which a subject is better than another one, from the ratios of single rounds; {@code null}
     * if there is no round in which both have figures.
     */
    public Spread ratio(String subject, String base, String scenario, Figure figure) {
        Of own = new Of(subject, scenario, figure);
        return ratio(own, own.by(base));
    }

    /** Returns the ratio by which a figure is better than that of another subject or scenario. */
    public Spread ratio(Of of, Of base) {
        List<Spread> ratios = eachRound(of, base, (own, other) ->
                of.figure.isMoreBetter() ? times(own, other) : times(other, own));
        return ratios.isEmpty() ? null : new Spread(Spread.of(ratios.stream().map(Spread::median).toList()).median(),
                ratios.stream().mapToDouble(Spread::min).min().orElseThrow(),
                ratios.stream().mapToDouble(Spread::max).max().orElseThrow());
    }

    /** Returns the ratio of two figures. If one had not settled, its range is that of the windows. */
    private static Spread times(InRound above, InRound below) {
        double ratio = above.value() / below.value();
        return above.settled() && below.settled() ? new Spread(ratio, ratio, ratio)
                : new Spread(ratio, above.low() / below.high(), above.high() / below.low());
    }

    /**
     * Applies a function to two figures of each round that counts for both. If there is none, it takes each round in
     * which both have figures.
     */
    public <T> List<T> eachRound(Of own, Of other, BiFunction<InRound, InRound, T> of) {
        List<T> counting = eachRound(rounds(own), rounds(other), of);
        return counting.isEmpty() ? eachRound(inRounds(withFigures(own)), inRounds(withFigures(other)), of) : counting;
    }

    private static <T> List<T> eachRound(Map<Integer, InRound> own, Map<Integer, InRound> others,
                                         BiFunction<InRound, InRound, T> of) {
        return own.keySet().stream().filter(others::containsKey)
                .map(round -> of.apply(own.get(round), others.get(round))).toList();
    }

    /** Returns the figure of each round that counts. */
    public Map<Integer, InRound> rounds(Of of) {
        return inRounds(counting(of));
    }

    private static Map<Integer, InRound> inRounds(List<Reading> readings) {
        return readings.stream().collect(Collectors.groupingBy(Reading::round, TreeMap::new,
                Collectors.collectingAndThen(Collectors.toList(), InRound::of)));
    }

    private List<Reading> counting(Of of) {
        return isSettled(of) ? select(of).filter(Reading::settled).toList() : withFigures(of);
    }

    private List<Reading> withFigures(Of of) {
        return select(of).filter(Reading::hasFigure).toList();
    }

    private Stream<Reading> select(Of of) {
        return readings.stream().filter(reading -> reading.figure() == of.figure
                && reading.subject().equals(of.subject) && reading.scenario().equals(of.scenario));
    }
}
