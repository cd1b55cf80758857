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
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * All samples of a run, by whom they were taken of: a mode, or the limit. Rounds count for a figure if they settled;
 * where most did not, all count that have figures, and what comes of them is marked: {@link #isSettled}.
 */
public final class Results {
    private final Map<String, List<Sample>> byWhom = new LinkedHashMap<>();

    /** Adds figures that somebody else has taken, and answers for. */
    public void add(String who, Measurement measurement) {
        add(who, new Sample(measurement));
    }

    /** For people: how many rounds of a scenario count, and of how many. */
    public String settledRounds(String who, String scenario) {
        return settled(who, scenario).size() + " of " + rounds(who, scenario).size();
    }

    /** Whether at least half of the rounds of a scenario settled. */
    public boolean isSettled(String who, String scenario) {
        return 2 * settled(who, scenario).size() >= rounds(who, scenario).size();
    }

    /** Why a row has no figures: what was wrong with the last round; {@code null} if it has figures. */
    public Settling.State withoutFigures(String who, String scenario) {
        return counting(who, scenario).isEmpty() ? rounds(who, scenario).stream().map(Sample::state)
                .reduce((first, last) -> last).orElseThrow() : null;
    }

    /**
     * What was seen in rows that had not settled.
     *
     * @param longer the option that makes the run longer
     * @return a paragraph, or an empty string if all had
     */
    public String remarks(String longer) {
        Remarks remarks = new Remarks(longer);
        for (String scenario : scenarios()) {
            for (String who : whom()) {
                if (!isSettled(who, scenario)) {
                    rounds(who, scenario).forEach(sample -> remarks.add(scenario, who, sample.seen()));
                }
            }
        }
        return remarks.write();
    }

    /** Adds a round. */
    public void add(String who, Sample sample) {
        byWhom.computeIfAbsent(who, name -> new ArrayList<>()).add(sample);
    }

    /** Of whom there are samples, in the order in which the first were taken. */
    Set<String> whom() {
        return byWhom.keySet();
    }

    /** What was measured of anybody, in the order in which it was measured. */
    Set<String> scenarios() {
        Set<String> scenarios = new LinkedHashSet<>();
        byWhom.values().forEach(all -> all.forEach(sample -> scenarios.add(sample.measurement().scenario())));
        return scenarios;
    }

    /** The samples of all rounds, in their order. */
    public List<Sample> rounds(String who, String scenario) {
        return byWhom.getOrDefault(who, List.of()).stream()
                .filter(sample -> sample.measurement().scenario().equals(scenario)).toList();
    }

    private List<Sample> settled(String who, String scenario) {
        return rounds(who, scenario).stream().filter(Sample::isSettled).toList();
    }

    /** Those that count. */
    private List<Sample> counting(String who, String scenario) {
        return isSettled(who, scenario) ? settled(who, scenario) : withFigures(who, scenario);
    }

    private List<Sample> withFigures(String who, String scenario) {
        return rounds(who, scenario).stream().filter(sample -> sample.state().hasFigures()).toList();
    }

    /** What a scenario counts. */
    public Measurement.Unit unit(String scenario) {
        return byWhom.values().stream().flatMap(List::stream).map(Sample::measurement)
                .filter(measurement -> measurement.scenario().equals(scenario)).findFirst().orElseThrow().unit();
    }

    /** One figure of a scenario in the rounds that count; {@code null} if there are none. */
    public Spread spread(String who, String scenario, ToDoubleFunction<Measurement> figure) {
        return samples(who, scenario, sample -> figure.applyAsDouble(sample.measurement()));
    }

    Spread samples(String who, String scenario, ToDoubleFunction<Sample> figure) {
        return Spread.of(counting(who, scenario).stream().map(figure::applyAsDouble).toList());
    }

    /** One figure in all windows of the rounds that count; {@code null} if there are none. */
    public Spread windows(String who, String scenario, ToDoubleFunction<Measurement> figure) {
        return Spread.of(counting(who, scenario).stream().flatMap(sample -> sample.windows().stream())
                .map(figure::applyAsDouble).toList());
    }

    /**
     * How many times larger a figure was, a round at a time: in the rounds that count of both, or if there is none, in
     * those that have figures of both; {@code null} if there is none either. Where one of both had not settled in a
     * round, the range is that of the windows: it may have been as much as the best of one beside the worst of the
     * other.
     */
    Spread ratios(String scenario, String numerator, String denominator, ToDoubleFunction<Measurement> figure) {
        Spread ratios = ratios(rounds(numerator, scenario), counting(numerator, scenario),
                rounds(denominator, scenario), counting(denominator, scenario), figure);
        return ratios != null ? ratios : ratios(rounds(numerator, scenario), withFigures(numerator, scenario),
                rounds(denominator, scenario), withFigures(denominator, scenario), figure);
    }

    private static Spread ratios(List<Sample> numerators, List<Sample> countedAbove, List<Sample> denominators,
                                 List<Sample> countedBelow, ToDoubleFunction<Measurement> figure) {
        List<Spread> ratios = IntStream.range(0, Math.min(numerators.size(), denominators.size()))
                .filter(round -> countedAbove.contains(numerators.get(round))
                        && countedBelow.contains(denominators.get(round)))
                .mapToObj(round -> ratio(numerators.get(round), denominators.get(round), figure)).toList();
        return ratios.isEmpty() ? null : new Spread(
                Spread.of(ratios.stream().map(Spread::median).toList()).median(),
                ratios.stream().mapToDouble(Spread::min).min().orElseThrow(),
                ratios.stream().mapToDouble(Spread::max).max().orElseThrow());
    }

    private static Spread ratio(Sample numerator, Sample denominator, ToDoubleFunction<Measurement> figure) {
        double ratio = figure.applyAsDouble(numerator.measurement()) / figure.applyAsDouble(denominator.measurement());
        if (numerator.isSettled() && denominator.isSettled()) {
            return new Spread(ratio, ratio, ratio);
        }
        Spread above = Spread.of(numerator.windows().stream().map(figure::applyAsDouble).toList());
        Spread below = Spread.of(denominator.windows().stream().map(figure::applyAsDouble).toList());
        return new Spread(ratio, above.min() / below.max(), above.max() / below.min());
    }

    /**
     * The latency, in nanoseconds, that so many percent of the operations of all rounds did not exceed; what there are
     * few of in a round is not a matter of that round only. If the latencies themselves are not known, the median of
     * what the rounds say.
     */
    double percentile(String who, String scenario, double percent, ToDoubleFunction<Measurement> ofRound) {
        List<Sample> samples = counting(who, scenario);
        if (samples.stream().anyMatch(sample -> sample.latencies() == null)) {
            return spread(who, scenario, ofRound).median();
        }
        Histogram all = samples.get(0).latencies().copy();
        samples.stream().skip(1).forEach(sample -> all.add(sample.latencies()));
        return all.getValueAtPercentile(percent);
    }
}
