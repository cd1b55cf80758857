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
 * Decides if the last windows show the steady state of a pair of processes, and so count. There are four conditions:
 * <ul>
 * <li>The scenario was done for {@value #MIN_SECONDS} s in these processes. The optimizing compiler does not get code
 *     earlier that is called some ten thousand times a second.
 * <li>The compilers of both processes were idle.
 * <li>The rates of the windows are near to each other.
 * <li>The rates do not rise or fall steadily.
 * </ul>
 * Without the first condition figures would be wrong, so there are none. Without another one the figures vary, so they
 * are shown with a mark and with the range of the windows.
 */
public final class Settling {
    /** Number of windows in a row that count. */
    static final int WINDOWS = Windows.COUNT;
    private static final double MIN_SECONDS = 1;
    /** Maximum share of time of one process's compilers. Rarely used code is compiled now and then. */
    private static final double MAX_COMPILING = 0.03;
    /** Maximum deviation of a window from the median. */
    private static final double MAX_DEVIATION = 0.2;
    /** Maximum deviation of the mean of the first two windows from that of the last two. */
    private static final double MAX_TREND = 0.1;

    private final LinkedList<Entry> entries = new LinkedList<>();
    private double seconds;

    /** A window, and the work of the compilers in its time. */
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

        /** Returns whether figures are not wrong, even if they vary: code was compiled, but perhaps not all of it. */
        public boolean hasFigures() {
            return this != YOUNG;
        }

        /** Returns a text for users. */
        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Observations during a measurement.
     *
     * @param compiling share of the time in which a compiler ran, in the process that compiled more; NaN if not known
     * @param others    share of the machine's processor time that others took; NaN if not known
     */
    public record Seen(State state, double compiling, double others) {
        /** Observations of a steady state, without others. */
        public static final Seen SETTLED = new Seen(State.SETTLED, Double.NaN, Double.NaN);
    }

    /** Adds time in which these processes worked without a measurement. */
    void warmedUp(double workSeconds) {
        seconds += workSeconds;
    }

    /** Begins again with the next window, after other work. The age of the scenario stays. */
    void restart() {
        entries.clear();
    }

    /**
     * Adds a window.
     *
     * @param windowSeconds length of the window
     * @param rate          operations a second
     * @param compiling     share of the time in which a compiler ran, in the process that compiled more; NaN if not
     *                      known
     */
    void add(double windowSeconds, double rate, double compiling) {
        seconds += windowSeconds;
        entries.add(new Entry(rate, compiling));
        if (entries.size() > WINDOWS) {
            entries.removeFirst();
        }
    }

    /** Returns whether compilers worked more in the last windows than is allowed for all windows. */
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
     * Returns observations of the last windows.
     *
     * @param others share of the machine's processor time that others took, or NaN
     */
    Seen seen(double others) {
        return new Seen(state(), entries.stream().mapToDouble(Entry::compiling).average().orElse(Double.NaN), others);
    }
}
