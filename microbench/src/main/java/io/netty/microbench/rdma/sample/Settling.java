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
package io.netty.microbench.rdma.sample;

import io.netty.example.rdma.util.Windows;

import java.util.Arrays;
import java.util.LinkedList;

/**
 * Decides whether what is measured is the steady state of a pair of processes: whether the last windows count. All of
 * these have to be so:
 * <ul>
 * <li>the scenario was done for {@value #MIN_SECONDS} s in these processes: code that is called some ten thousand times
 *     a second is not given to the optimizing compiler before;
 * <li>the compilers of both processes were idle;
 * <li>the rates of the windows are near to each other;
 * <li>and don't go one way.
 * </ul>
 * Without the first, figures would be wrong, and there are none. Without another one they are wide: they are shown,
 * with a mark and with the range of the windows.
 */
public final class Settling {
    /** So many windows in a row count. */
    static final int WINDOWS = Windows.COUNT;
    private static final double MIN_SECONDS = 1;
    /** Share of the time of all windows for the compilers of one process. Rarely used code is compiled now and then. */
    private static final double MAX_COMPILING = 0.03;
    /** Maximum deviation of a window from the median. */
    private static final double MAX_DEVIATION = 0.2;
    /** Maximum deviation of the mean of the first two from that of the last two. */
    private static final double MAX_TREND = 0.1;

    private final LinkedList<Entry> entries = new LinkedList<>();
    private double seconds;

    /** A window, and what the compilers did meanwhile. */
    private record Entry(double rate, double compiling) {
    }

    /** States of the last windows. */
    public enum State {
        SETTLED("settled"),
        YOUNG("too short"),
        FEW("few windows"),
        COMPILING("compiling"),
        UNSTEADY("unsteady"),
        DRIFTING("drifting");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /** Returns whether figures are not wrong, however wide they may be: code was compiled, if not all of it. */
        public boolean hasFigures() {
            return this != YOUNG;
        }

        /** For people. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Observations during a measurement.
     *
     * @param compiling which part of the time a compiler ran, of the process that compiled more
     * @param others    which part of the machine's processor time others took; not a number if that is not known, as
     *                  the former
     */
    public record Seen(State state, double compiling, double others) {
        /** Observations of a steady state, without others. */
        public static final Seen SETTLED = new Seen(State.SETTLED, Double.NaN, Double.NaN);
    }

    /** Adds time of work in these processes that was not measured. */
    void warmedUp(double workSeconds) {
        seconds += workSeconds;
    }

    /** Begins anew with the next window, as something else was measured meanwhile; the age stays. */
    void restart() {
        entries.clear();
    }

    /**
     * Adds a window.
     *
     * @param windowSeconds how long it was
     * @param rate          operations a second
     * @param compiling     which part of the time a compiler ran, of the process that compiled more; not a number if
     *                      that is not known
     */
    void add(double windowSeconds, double rate, double compiling) {
        seconds += windowSeconds;
        entries.add(new Entry(rate, compiling));
        if (entries.size() > WINDOWS) {
            entries.removeFirst();
        }
    }

    /** Returns whether compilers have had more to do in the last windows, which may still be few, than all may have. */
    boolean isCompiling() {
        return !(entries.stream().mapToDouble(Entry::compiling).sum() <= MAX_COMPILING * WINDOWS);
    }

    State state() {
        if (entries.isEmpty() || seconds < MIN_SECONDS) {
            return State.YOUNG;
        }
        if (isCompiling()) {
            return State.COMPILING;
        }
        if (entries.size() < WINDOWS) {
            return State.FEW;
        }
        double[] rates = entries.stream().mapToDouble(Entry::rate).toArray();
        double[] sorted = rates.clone();
        Arrays.sort(sorted);
        double median = sorted[WINDOWS / 2];
        if (median - sorted[0] > MAX_DEVIATION * median || sorted[WINDOWS - 1] - median > MAX_DEVIATION * median) {
            return State.UNSTEADY;
        }
        double first = (rates[0] + rates[1]) / 2;
        double last = (rates[WINDOWS - 2] + rates[WINDOWS - 1]) / 2;
        return Math.abs(last - first) > MAX_TREND * median ? State.DRIFTING : State.SETTLED;
    }

    /**
     * Observations of the last windows.
     *
     * @param others which part of the machine's processor time others took, or not a number
     */
    Seen seen(double others) {
        return new Seen(state(), entries.stream().mapToDouble(Entry::compiling).average().orElse(Double.NaN), others);
    }
}
