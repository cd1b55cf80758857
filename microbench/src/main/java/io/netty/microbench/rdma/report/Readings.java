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

import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Collects the readings of one subject in one round.
 */
public final class Readings {
    private static final double GIGABYTE = 1e9;

    private final int round;
    private final String subject;
    private final List<Reading> list;
    private final List<String> misses;

    /** Creates an empty list. */
    public Readings(int round, String subject) {
        this(round, subject, new ArrayList<>(), new ArrayList<>());
    }

    private Readings(int round, String subject, List<Reading> list, List<String> misses) {
        this.round = round;
        this.subject = subject;
        this.list = list;
        this.misses = misses;
    }

    /** Returns an object that adds readings of another subject to the same list. */
    public Readings of(String other) {
        return new Readings(round, other, list, misses);
    }

    /** Returns all so far. */
    public List<Reading> list() {
        return list;
    }

    /** Notes why something that belongs to the part could not be measured. */
    public void miss(String why) {
        misses.add(why);
    }

    /** Reasons why further readings are missing. */
    public List<String> misses() {
        return misses;
    }

    /** Adds figures of another program, which do not have to settle. */
    public void add(Measurement measurement) {
        add(measurement.scenario(), rate(measurement), measurement.perSecond());
        if (measurement.p50() > 0) {
            addLatency(measurement.scenario(), measurement);
        }
    }

    /** Adds all figures of a sample. */
    public void add(Sample sample) {
        add(sample, sample.measurement().scenario());
    }

    /** Adds all figures of a sample under another name. */
    public void add(Sample sample, String scenario) {
        addRate(sample, scenario);
        double cpu = sample.client().cpuNanos() + sample.server().cpuNanos();
        if (sample.measurement().unit() == Measurement.Unit.BYTES) {
            add(sample, scenario, Figure.CPU_PER_GIGABYTE, cpu * GIGABYTE);
        } else {
            add(sample, scenario, Figure.CPU_PER_OPERATION, cpu);
            add(sample, scenario, Figure.ALLOCATED, allocated(sample));
        }
    }

    /** Adds a sample of operations of {@code size} smaller ones each, whose latency is not known. */
    public void addBatches(Sample sample, int size) {
        String scenario = sample.measurement().scenario();
        add(sample, scenario, Figure.OPERATIONS, measurement -> (double) measurement.perSecond() * size);
        add(sample, scenario, Figure.CPU_PER_OPERATION,
                (sample.client().cpuNanos() + sample.server().cpuNanos()) / size);
        add(sample, scenario, Figure.ALLOCATED, allocated(sample) / size);
    }

    /** Adds a sample of operations that are due at equal intervals, without the costs of an operation. */
    public void addPaced(Sample sample) {
        String scenario = sample.measurement().scenario();
        addRate(sample, scenario);
        add(sample, scenario, Figure.LATENESS_P50, sample.lateness().getValueAtPercentile(50));
        add(sample, scenario, Figure.LATENESS_P99, sample.lateness().getValueAtPercentile(99));
    }

    /** Adds the rate, and the latency if it is known. */
    void addRate(Sample sample, String scenario) {
        add(sample, scenario, rate(sample.measurement()), Measurement::perSecond);
        if (sample.measurement().p50() > 0) {
            add(sample, scenario, Figure.P50, Measurement::p50);
            add(sample, scenario, Figure.P99, Measurement::p99);
            add(sample, scenario, Figure.P999, Measurement::p999);
        }
    }

    /** Adds one figure, which does not have to settle. */
    public void add(String scenario, Figure figure, double value) {
        list.add(new Reading(round, subject, scenario, figure, value));
    }

    /** Adds latencies of another program, which do not have to settle, without a rate. */
    public void addLatency(String scenario, Measurement measurement) {
        add(scenario, Figure.P50, measurement.p50());
        add(scenario, Figure.P99, measurement.p99());
        add(scenario, Figure.P999, measurement.p999());
    }

    private static double allocated(Sample sample) {
        return sample.client().allocatedBytes() + sample.server().allocatedBytes();
    }

    private static Figure rate(Measurement measurement) {
        return measurement.unit() == Measurement.Unit.BYTES ? Figure.BYTES : Figure.OPERATIONS;
    }

    private void add(Sample sample, String scenario, Figure figure, ToDoubleFunction<Measurement> value) {
        DoubleSummaryStatistics windows = sample.windows().stream().mapToDouble(value).summaryStatistics();
        list.add(new Reading(round, subject, scenario, figure, value.applyAsDouble(sample.measurement()),
                sample.state().toString(), new Reading.Windows(windows.getMin(), windows.getMax(),
                        sample.seen().compiling(), sample.seen().others())));
    }

    /** Adds a figure whose value is only known for the whole sample. */
    public void add(Sample sample, String scenario, Figure figure, double value) {
        list.add(new Reading(round, subject, scenario, figure, value, sample.state().toString()));
    }
}
