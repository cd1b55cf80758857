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

import io.netty.microbench.rdma.sample.Settling.Seen;
import io.netty.microbench.rdma.sample.Settling.State;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RemarksTest {
    private static final double UNKNOWN = Double.NaN;

    private final Remarks remarks = new Remarks("--full");

    @Test
    void nothingIsSaidWhereAllSettled() {
        remarks.add("it", "rdma", new Seen(State.SETTLED, 0, 0.9));
        assertThat(remarks.write()).isEmpty();
    }

    @Test
    void rowsInWhichTheSameWasSeenAreNamedTogether() {
        remarks.add("one", "rdma", new Seen(State.UNSTEADY, 0, 0));
        remarks.add("one", "epoll", new Seen(State.UNSTEADY, 0, 0));
        remarks.add("two", "rdma", new Seen(State.UNSTEADY, 0, 0));
        remarks.add("two", "rdma", new Seen(State.UNSTEADY, 0, 0));
        remarks.add("three", "rdma", new Seen(State.COMPILING, 0.1, 0));
        remarks.add("four", "rdma", new Seen(State.COMPILING, 0.254, 0));
        assertThat(remarks.write()).isEqualTo("\"?\": a row that had not settled, so read its range as well: "
                + "compilers ran for 10 to 25 % of the time in three (rdma), four (rdma); "
                + "the rate jumped between windows in one (rdma, epoll), two (rdma). "
                + "Take a longer run, --full.\n");
    }

    @Test
    void othersAreToldOfIfTheyTookSomething() {
        remarks.add("one", "rdma", new Seen(State.DRIFTING, 0, 0.04));
        assertThat(remarks.write()).contains("the rate went one way in one (rdma). Take a longer run, --full.");
        remarks.add("two", "rdma", new Seen(State.DRIFTING, 0, 0.3));
        remarks.add("three", "rdma", new Seen(State.DRIFTING, 0, 0.5));
        assertThat(remarks.write()).contains("three (rdma), while others took the cores for 30 to 50 % of the time. "
                + "Stop what else runs on this machine, or take a longer run, --full.");
    }

    @Test
    void whatIsNotKnownIsLeftOut() {
        remarks.add("it", "read", new Seen(State.COMPILING, UNKNOWN, UNKNOWN));
        assertThat(remarks.write()).contains(": compilers ran in it (read). Take");
    }

    @Test
    void eachStateHasItsWords() {
        for (State state : State.values()) {
            Remarks one = new Remarks("--full");
            one.add("it", "rdma", new Seen(state, UNKNOWN, UNKNOWN));
            assertThat(one.write().contains("it (rdma)")).as(state.name()).isEqualTo(state != State.SETTLED);
        }
    }
}
