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

import io.netty.microbench.rdma.bench.BenchResults.Missing;
import io.netty.microbench.rdma.process.Machine;
import io.netty.microbench.rdma.report.Figure;
import io.netty.microbench.rdma.report.Reading;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class BenchResultsTest {
    private static final String SCENARIO = "round trips of 64 B";

    @TempDir
    private Path folder;

    private static Reading p50(int round, String subject, double nanos) {
        return new Reading(round, subject, SCENARIO, Figure.P50, nanos);
    }

    static BenchResults results(Reading... readings) {
        Machine machine = new Machine("some processor", 2, Map.of("L2", "1024K"), 1L << 34, "",
                "Linux 6", "tsc", "17", "4.2", "embedded");
        return new BenchResults(BenchResults.FORMAT, "2026-11-22T18:00:00Z", "default", 3, machine, List.of(readings),
                List.of(new Missing("io_uring", "echo", "not in this kernel")));
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        BenchResults results = results(p50(1, "rdma", 1600), new Reading(2, "rdma", SCENARIO, Figure.P99, 1,
                "compiling", new Reading.Windows(1, 2, 0.5, Double.NaN)));
        Path file = folder.resolve("results.json");
        results.write(file);
        assertThat(BenchResults.read(file)).isEqualTo(results);
        assertThat(file).content().contains("\"figure\" : \"p50\"", "\"value\" : 1600.0", "\"L2\" : \"1024K\"",
                "\"state\" : \"compiling\"", "\"low\" : 1.0")
                .containsOnlyOnce("\"windows\"");
    }

    @Test
    void anotherFormatIsRefused() throws IOException {
        Path file = folder.resolve("results.json");
        results().write(file);
        Files.writeString(file, Files.readString(file).replace("\"format\" : 2", "\"format\" : 1"));
        assertThatThrownBy(() -> BenchResults.read(file)).isInstanceOf(IOException.class)
                .hasMessageContaining("of format 1");
    }
}
