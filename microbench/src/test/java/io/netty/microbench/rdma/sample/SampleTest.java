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

import io.netty.microbench.rdma.load.Window;
import io.netty.microbench.rdma.process.Probe;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class SampleTest {
    private static Histogram histogram(long... values) {
        Histogram histogram = new Histogram(3);
        for (long value : values) {
            histogram.recordValue(value);
        }
        return histogram;
    }

    private static Sample sample(Window window, Probe client, Probe server) {
        return Sample.of("it", 0, Settling.Seen.SETTLED, List.of(window), List.of(client), List.of(server));
    }

    @Test
    void latenessIsThatOfPacedLoads() {
        Probe used = new Probe(1000, 1, 0, 0, 0, 0, 0);
        assertThat(sample(new Window(1000, histogram(5)), used, used).lateness().getTotalCount()).isZero();
        assertThat(sample(new Window(1000, histogram(5), histogram(3, 3)), used, used).lateness())
                .isEqualTo(histogram(3, 3));
    }
}
