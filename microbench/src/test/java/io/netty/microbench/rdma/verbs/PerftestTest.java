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
package io.netty.microbench.rdma.verbs;

import io.netty.example.rdma.util.Measurement;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PerftestTest {
    @Test
    void latenciesAreThoseOfRoundTrips() throws Exception {
        List<String> printed = List.of("---", " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]",
                " 64      1000          0.66           106410.83      2042.73  \t       3013.68     \t-nan   \t\t"
                        + "16105.78 \t\t106410.83");
        assertThat(Perftest.parse("ib_write_lat", 64, printed)).isEqualTo(new Measurement("ib_write_lat 64 B", 1000, 0,
                Measurement.Unit.OPERATIONS, 4_085_460, 32_211_560, 212_821_660));
        assertThat(Perftest.parse("ib_read_lat", 64, printed).p50()).isEqualTo(2_042_730);
    }

    @Test
    void ratesAreThoseOfMessagesUnlessTheyAreLong() throws Exception {
        List<String> printed = List.of(
                " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]",
                " 64         100000           0.00               3.13   \t\t   0.051275",
                " 65536      10000            15246.99           13626.24\t\t   0.218020");
        assertThat(Perftest.parse("ib_write_bw", 64, printed)).isEqualTo(new Measurement("ib_write_bw 64 B", 100_000,
                51_275, Measurement.Unit.OPERATIONS, 0, 0, 0));
        assertThat(Perftest.parse("ib_write_bw", 65536, printed)).isEqualTo(new Measurement("ib_write_bw 64 KiB",
                10_000, 14_288_148_234L, Measurement.Unit.BYTES, 0, 0, 0));
    }

    @Test
    void rstreamTellsMeansOfRoundTripsAndRatesOfStreams() throws Exception {
        String header = "name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer";
        assertThat(Perftest.parseRstream(64, 1, 1000, List.of(header,
                "custom    64      1       1k      125k        0.09s      0.01      44.17")))
                .isEqualTo(new Measurement("rstream 64 B", 1000, 1_250_000, Measurement.Unit.BYTES, 88_340, 0, 0));
        assertThat(Perftest.parseRstream(65536, 100, 10, List.of(header,
                "custom    64k     100     10      125m        0.08s     12.85      40.81")))
                .isEqualTo(new Measurement("rstream 64 KiB", 1000, 1_606_250_000, Measurement.Unit.BYTES, 0, 0, 0));
    }

    @Test
    void outputWithoutFiguresIsAnError() {
        assertThatThrownBy(() -> Perftest.parseRstream(64, 1, 1, List.of("rconnect: Connection refused")))
                .isInstanceOf(IOException.class).hasMessageContaining("refused");
        assertThatThrownBy(() -> Perftest.parse("ib_write_bw", 64, List.of("Couldn't connect")))
                .isInstanceOf(IOException.class).hasMessageContaining("Couldn't connect");
    }
}
