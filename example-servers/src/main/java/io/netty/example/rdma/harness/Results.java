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
package io.netty.example.rdma.harness;

import io.netty.example.rdma.util.Measurement;
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
 * All samples of a run, by whom they were taken of: a mode, or the limit. Rounds count for a figure if they settled.
 */
public final class Results {
    private final Map<String, List<Sample>> byWhom = new LinkedHashMap<>();

    /** Adds figures that somebody else has taken, and answers for. */
    public void add(String who, Measurement measurement) {
        add(who, new Sample(measurement));
    }

    /** Adds figures that somebody else has taken, and what is known of the state of the processes meanwhile. */
    public void add(String who, Measurement measurement, Settling.State state) {
        add(who, new Sample(measurement, state));
    }

    /** For people: how many rounds of a scenario count, and of how many. */
    public String settledRounds(String who, String scenario) {
        return settled(who, scenario).size() + " of " + rounds(who, scenario).size();
    }

    /**
     * Why a row has no figures: what was wrong with the last round that did not settle, if that is so of most rounds;
     * {@code null} if it has figures.
     */
    public Settling.State unsettled(String who, String scenario) {
        List<Sample> rounds = rounds(who, scenario);
        return 2 * settled(who, scenario).size() >= rounds.size() ? null
                : rounds.stream().filter(sample -> !sample.isSettled()).map(Sample::state)
                        .reduce((first, last) -> last).orElseThrow();
    }

    void add(String who, Sample sample) {
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

    /** Those that settled. */
    List<Sample> settled(String who, String scenario) {
        return rounds(who, scenario).stream().filter(Sample::isSettled).toList();
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
        return Spread.of(settled(who, scenario).stream().map(figure::applyAsDouble).toList());
    }

    /** How many times larger a figure was in each round in which both settled; {@code null} if there is none. */
    Spread ratios(String scenario, String numerator, String denominator, ToDoubleFunction<Measurement> figure) {
        List<Sample> numerators = rounds(numerator, scenario);
        List<Sample> denominators = rounds(denominator, scenario);
        return Spread.of(IntStream.range(0, Math.min(numerators.size(), denominators.size()))
                .filter(round -> numerators.get(round).isSettled() && denominators.get(round).isSettled())
                .mapToObj(round -> figure.applyAsDouble(numerators.get(round).measurement())
                        / figure.applyAsDouble(denominators.get(round).measurement())).toList());
    }

    /**
     * The latency, in nanoseconds, that so many percent of the operations of all rounds did not exceed; what there are
     * few of in a round is not a matter of that round only. If the latencies themselves are not known, the median of
     * what the rounds say.
     */
    double percentile(String who, String scenario, double percent, ToDoubleFunction<Measurement> ofRound) {
        List<Sample> samples = settled(who, scenario);
        if (samples.stream().anyMatch(sample -> sample.latencies() == null)) {
            return spread(who, scenario, ofRound).median();
        }
        Histogram all = samples.get(0).latencies().copy();
        samples.stream().skip(1).forEach(sample -> all.add(sample.latencies()));
        return all.getValueAtPercentile(percent);
    }
}
