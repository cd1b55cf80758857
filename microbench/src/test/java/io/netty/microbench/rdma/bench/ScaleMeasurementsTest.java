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

import io.netty.microbench.rdma.bench.ScaleMeasurements.Loops;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class ScaleMeasurementsTest {
    private static Loops on(int cores) {
        return new Loops(Loops.on(cores), false, cores);
    }

    @Test
    void eachEventLoopHasACore() {
        assertThat(on(16).fitting()).containsExactly(1, 2, 4, 7);
        assertThat(on(16).missing()).isNull();
        assertThat(on(28).fitting()).containsExactly(1, 2, 4, 7, 14);
        assertThat(on(4).fitting()).containsExactly(1, 2);
        assertThat(on(4).missing()).isEqualTo("4, 7 event loops at each end need 8, 14 cores, and there are 4");
    }

    @Test
    void nothingIsMeasuredWhereThereIsNothingToCompareOneWith() {
        assertThat(on(3).fitting()).isEmpty();
        assertThat(on(3).missing()).isEqualTo("2, 4, 7 event loops at each end need 4, 8, 14 cores, and there are 3");
        assertThat(new Loops(List.of(1), false, 2).fitting()).containsExactly(1);
        assertThat(new Loops(List.of(1), false, 2).missing()).isNull();
    }
}
