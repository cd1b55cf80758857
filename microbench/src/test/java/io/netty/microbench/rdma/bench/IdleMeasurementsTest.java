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

import io.netty.microbench.rdma.bench.IdleMeasurements.Use;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class IdleMeasurementsTest {
    private static final long GIB = 1L << 30;
    private static final Use BEFORE = new Use(100, GIB);

    @Test
    void firstConnectionsAreOpenedWhateverTheyNeed() {
        assertThat(IdleMeasurements.missing(0, 100, BEFORE, BEFORE, 1, 1)).isNull();
    }

    @Test
    void connectionsNeedDescriptors() {
        Use now = new Use(1100, GIB);
        assertThat(IdleMeasurements.missing(1000, 10_000, BEFORE, now, 10_100, GIB)).isNull();
        assertThat(IdleMeasurements.missing(1000, 10_000, BEFORE, now, 10_099, GIB))
                .isEqualTo("a process needs 10100 descriptors and may have 10099 (ulimit -n)");
    }

    /** 1 MB each, at both ends, of which there are 9000 more. */
    @Test
    void connectionsNeedMemory() {
        Use now = new Use(100, GIB + 1_000_000_000);
        assertThat(IdleMeasurements.missing(1000, 10_000, BEFORE, now, 1000, 36_000_000_000L)).isNull();
        assertThat(IdleMeasurements.missing(1000, 10_000, BEFORE, now, 1000, 35_000_000_000L))
                .isEqualTo("both processes need 18.0 GB more, and half of the free memory are 17.5");
    }
}
