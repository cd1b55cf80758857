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
import io.netty.example.rdma.harness.Machine;
import io.netty.example.rdma.harness.Spread;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleBinaryOperator;
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
 * readings  see {@link Reading}: each has round, subject, scenario, figure, value, state. Nothing was averaged
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

    /** Whether there is anything in a section that counts. */
    boolean isMeasured(Section section) {
        return readings.stream().anyMatch(reading -> reading.counts() && reading.figure() == section.plotted()
                && section.scenarios().contains(reading.scenario()));
    }

    /** All values of all rounds that count; {@code null} if there are none. */
    Spread spread(String subject, String scenario, Figure figure) {
        return Spread.of(counting(subject, scenario, figure).map(Reading::value).toList());
    }

    /** The last reading that does not count; {@code null} if there is none. */
    Reading unsettled(String subject, String scenario, Figure figure) {
        return select(subject, scenario, figure).filter(reading -> !reading.counts())
                .reduce((first, second) -> second).orElse(null);
    }

    /**
     * How many times better a subject is than another one, a round at a time; {@code null} if there is no round in
     * which readings of both count.
     */
    Spread ratio(String subject, String base, String scenario, Figure figure) {
        return Spread.of(eachRound(medians(subject, scenario, figure), medians(base, scenario, figure),
                (own, other) -> figure.isMoreBetter() ? own / other : other / own));
    }

    /** What comes of two figures of the same round, of each round that has both. */
    static List<Double> eachRound(Map<Integer, Double> own, Map<Integer, Double> others, DoubleBinaryOperator of) {
        return own.keySet().stream().filter(others::containsKey)
                .map(round -> of.applyAsDouble(own.get(round), others.get(round))).toList();
    }

    /** What counts, of each round. A scenario may be measured several times in one. */
    Map<Integer, Double> medians(String subject, String scenario, Figure figure) {
        Map<Integer, Double> medians = new TreeMap<>();
        counting(subject, scenario, figure).map(Reading::round).distinct().forEach(round -> medians.put(round,
                Spread.of(counting(subject, scenario, figure).filter(reading -> reading.round() == round)
                        .map(Reading::value).toList()).median()));
        return medians;
    }

    private Stream<Reading> counting(String subject, String scenario, Figure figure) {
        return select(subject, scenario, figure).filter(Reading::counts);
    }

    private Stream<Reading> select(String subject, String scenario, Figure figure) {
        return readings.stream().filter(reading -> reading.figure() == figure && reading.subject().equals(subject)
                && reading.scenario().equals(scenario));
    }
}
