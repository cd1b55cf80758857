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
package io.netty.microbench.rdma.process;

import io.netty.microbench.rdma.process.Others.Taker;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class OthersTest {
    private static final int CORES = 2;

    @Test
    void nothingIsSaidOfAMachineThatDoesNextToNothing() {
        assertThat(Others.sentence(0.24, List.of(new Taker("a (pid 1)", 0.24)), CORES)).isEmpty();
    }

    @Test
    void thoseWhoTakeMostAreNamedFirst() {
        assertThat(Others.sentence(1.5, List.of(new Taker("little (pid 1)", 0.01), new Taker("some (pid 2)", 0.49),
                new Taker("most (pid 3)", 0.99)), CORES)).startsWith("The machine is busy: others take 150 % of a "
                + "core, and there are 2: most (pid 3) 99 %, some (pid 2) 49 %. Figures");
    }

    /** Such as processes of other containers, and those that have ended since. */
    @Test
    void whoCannotBeSeenIsTheRest() {
        assertThat(Others.sentence(1, List.of(new Taker("seen (pid 1)", 0.25)), CORES))
                .contains(": seen (pid 1) 25 %, the rest 75 %. ");
        assertThat(Others.sentence(1, List.of(), CORES)).contains(": the rest 100 %. ");
    }

    @Test
    void namesAreFew() {
        List<Taker> many = List.of(new Taker("a", 0.2), new Taker("b", 0.2), new Taker("c", 0.2), new Taker("d", 0.2),
                new Taker("e", 0.2));
        assertThat(Others.sentence(1, many, CORES)).contains("a 20 %, b 20 %, c 20 %, d 20 %, the rest 20 %.");
    }

    @Test
    void shareIsThatOfAllCoresOfTheMachine() {
        assertThat(ProcessUse.machineCores()).isPositive();
        assertThat(Others.share(ProcessUse.machineCores(), 2)).isEqualTo(0.5);
        assertThat(Others.share(-1, 2)).as("a count that is off by some units").isZero();
    }

    @Test
    void machineTellsWhatItDoes() throws Exception {
        assertThat(ProcessUse.machineNanos()).isPositive();
        assertThat(Others.look()).matches("|The machine is busy: .*");
    }
}
