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
package io.netty.example.rdma.echo.compare;

import io.netty.example.rdma.Transport;
import io.netty.example.rdma.compare.Measurement;
import io.netty.example.rdma.compare.Mode;
import io.netty.example.rdma.compare.Results;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class EchoReportTest {
    private static final Mode FAST = new Mode(Transport.NIO, false);
    private static final Mode EPOLL = new Mode(Transport.EPOLL, false);

    @Test
    void ratioSaysHowManyTimesBetterThanEpoll() {
        Results results = new Results();
        for (Mode mode : List.of(FAST, EPOLL)) {
            long factor = mode == FAST ? 1 : 8;
            for (int bytes : EchoMeasurements.MESSAGE_BYTES) {
                results.add(mode, new Measurement(EchoMeasurements.roundTrips(bytes), 1, 1,
                        Measurement.Unit.OPERATIONS, 2000 * factor, 3000, 4000));
            }
            for (int bytes : EchoMeasurements.WRITE_BYTES) {
                results.add(mode, new Measurement(EchoMeasurements.stream(bytes), 1, 16_000_000_000L / factor,
                        Measurement.Unit.BYTES, 0, 0, 0));
            }
        }
        assertThat(new EchoReport(results, List.of(FAST, EPOLL)).write())
                .containsPattern("\\| 64 B +\\| nio blocking +\\| 2.0 +\\| 2.0 to 2.0 +\\| 3.0 +\\| 4.0 +\\| 8.0 +\\|")
                .containsPattern("\\| 64 KiB +\\| nio blocking +\\| 16.0 +\\| 16.0 to 16.0 +\\| 8.0 +\\|")
                .containsPattern("\\| 64 KiB +\\| epoll blocking +\\| 2.0 +\\| 2.0 to 2.0 +\\| 1.0 +\\|");
    }
}
