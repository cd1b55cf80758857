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

import io.netty.microbench.rdma.sample.Settling.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class SettlingTest {
    private static final double IDLE = 0;

    private final Settling settling = new Settling();

    @Test
    void steadyRatesOfIdleCompilersSettle() {
        add(1, IDLE, 100, 103, 98, 101, 99);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @Test
    void nothingSettlesBeforeItWasDoneForSomeTime() {
        add(0.125, IDLE, 100, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.YOUNG);
        add(0.125, IDLE, 100, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @Test
    void warmingUpCountsForTheAgeOnly() {
        settling.warmedUp(1);
        assertThat(settling.state()).isEqualTo(State.YOUNG);
        add(0.01, IDLE, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.FEW);
        add(0.01, IDLE, 100);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @Test
    void fewWindowsDoNotSettleHoweverLongTheyAre() {
        add(10, IDLE, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.FEW);
    }

    @Test
    void onlyWhatWasDoneForLessThanASecondHasNoFigures() {
        assertThat(State.values()).filteredOn(state -> !state.hasFigures()).containsExactly(State.YOUNG);
        add(0.19, 1, 1, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.YOUNG);
    }

    /** The event loops can rest until compilers are done, and need not wait for the other windows. */
    @Test
    void busyCompilersShowAsSoonAsTheyHaveHadMoreThanTheirShare() {
        add(1, 0.1, 100);
        assertThat(settling.isCompiling()).isFalse();
        assertThat(settling.state()).isEqualTo(State.FEW);
        add(1, 0.1, 100);
        assertThat(settling.isCompiling()).isTrue();
        assertThat(settling.state()).isEqualTo(State.COMPILING);
        settling.restart();
        assertThat(settling.isCompiling()).isFalse();
    }

    @Test
    void nothingSettlesWhereNobodyKnowsOfCompilers() {
        add(1, Double.NaN, 100, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.COMPILING);
        assertThat(settling.seen(0.5).compiling()).isNaN();
    }

    @Test
    void whatWasSeenIsTheMeanOfTheWindows() {
        add(1, IDLE, 100, 100, 100);
        add(1, 0.5, 100, 100);
        assertThat(settling.seen(0.5)).isEqualTo(new Settling.Seen(State.COMPILING, 0.2, 0.5));
    }

    @Test
    void steadyRatesOfBusyCompilersDoNotSettle() {
        // As two loops that poll have them that share their cores with two compilers, for seconds.
        add(1, 0.5, 100, 100, 100, 100, 100, 100, 100, 100);
        assertThat(settling.state()).isEqualTo(State.COMPILING);
        add(1, IDLE, 2000, 2000, 2000, 2000);
        assertThat(settling.state()).as("one of the last windows is of that time").isEqualTo(State.COMPILING);
        add(1, IDLE, 2000);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @Test
    void rarelyUsedCodeMayBeCompiled() {
        add(1, IDLE, 100, 100, 100, 100);
        add(1, 0.1, 100);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @ParameterizedTest
    @ValueSource(doubles = {15, 70, 130, 400})
    void rateThatJumpsDoesNotSettle(double rate) {
        add(1, IDLE, 100, 100, rate, 100, 100);
        assertThat(settling.state()).isEqualTo(State.UNSTEADY);
    }

    @ParameterizedTest
    @ValueSource(doubles = {1.05, 0.95})
    void rateThatGoesOneWayDoesNotSettle(double factor) {
        double rate = 100;
        for (int i = 0; i < 2 * Settling.WINDOWS; i++) {
            add(1, IDLE, rate);
            rate *= factor;
        }
        assertThat(settling.state()).isEqualTo(State.DRIFTING);
        add(1, IDLE, rate, rate, rate, rate, rate);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    @Test
    void whatWasBeforeARestartCountsForTheAgeOnly() {
        add(1, IDLE, 100, 100, 100, 100, 100);
        settling.restart();
        add(0.01, IDLE, 5, 5, 5, 5);
        assertThat(settling.state()).isEqualTo(State.FEW);
        add(0.01, IDLE, 5);
        assertThat(settling.state()).isEqualTo(State.SETTLED);
    }

    private void add(double seconds, double compiling, double... rates) {
        for (double rate : rates) {
            settling.add(seconds, rate, compiling);
        }
    }
}
