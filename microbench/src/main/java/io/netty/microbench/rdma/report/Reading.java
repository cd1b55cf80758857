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

import com.fasterxml.jackson.annotation.JsonInclude;
import io.netty.microbench.rdma.sample.Settling;

import java.util.Arrays;

/**
 * One measured value.
 *
 * @param round    number of the round, from 1. Readings of a round are minutes apart, those of different rounds more
 * @param subject  the measured subject: a transport and how it waits, or another program
 * @param scenario name of the scenario
 * @param figure   kind of the value
 * @param value    nanoseconds, bytes, a number a second or a share: see {@link Figure}
 * @param state    {@link #SETTLED}, or in a word why this is not the value of a steady state
 * @param windows  details of the windows in which it was taken; {@code null} if nothing is known
 */
public record Reading(int round, String subject, String scenario, Figure figure, double value, String state,
                      @JsonInclude(JsonInclude.Include.NON_NULL) Windows windows) {
    /** The state of a value that stands for a steady state. */
    public static final String SETTLED = Settling.State.SETTLED.toString();

    /**
     * The windows of some tenths of a second from which a value was taken.
     *
     * @param low       the lowest value of any window
     * @param high      the highest value
     * @param compiling share of the time in which compilers ran, in the process that compiled more
     * @param others    share of the machine's processor time that others took
     */
    public record Windows(double low, double high, double compiling, double others) {
    }

    /** Creates a value that does not have to settle. */
    public Reading(int round, String subject, String scenario, Figure figure, double value) {
        this(round, subject, scenario, figure, value, SETTLED);
    }

    /** Creates a value without details of its windows. */
    public Reading(int round, String subject, String scenario, Figure figure, double value, String state) {
        this(round, subject, scenario, figure, value, state, null);
    }

    /** Returns whether the value stands for a steady state. */
    public boolean settled() {
        return state.equals(SETTLED);
    }

    /** Returns whether the value is not wrong, even if it is far from that of a steady state. */
    public boolean hasFigure() {
        return known().hasFigures();
    }

    /** Observations while the reading was taken. */
    public Settling.Seen seen() {
        return new Settling.Seen(known(), windows == null ? Double.NaN : windows.compiling,
                windows == null ? Double.NaN : windows.others);
    }

    double low() {
        return windows == null ? value : windows.low;
    }

    double high() {
        return windows == null ? value : windows.high;
    }

    /** The state by its name. */
    Settling.State known() {
        return Arrays.stream(Settling.State.values()).filter(known -> known.toString().equals(state)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no state: " + state));
    }
}
