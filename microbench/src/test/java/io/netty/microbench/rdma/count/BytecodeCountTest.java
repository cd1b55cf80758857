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
package io.netty.microbench.rdma.count;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The work of a message does not grow unnoticed. */
class BytecodeCountTest {
    private static final Pattern ROW = Pattern.compile(" *([0-9,]+)\\.\\d bytecodes .*");
    private static final long SECONDS = 120;

    @TempDir
    private Path folder;

    @Test
    void aRoundTripAndAConnectionTakeNoMoreThanTheirLimits() throws Exception {
        List<Integer> bytecodes = rows().stream().map(row -> {
            Matcher matcher = ROW.matcher(row);
            assertThat(matcher.matches()).as(row).isTrue();
            return Integer.parseInt(matcher.group(1).replace(",", ""));
        }).toList();

        assertThat(bytecodes).as("two of RDMA, two of epoll").hasSize(4);
        assertThat(bytecodes.get(0)).as("round trip; docs/performance.md has the figure").isBetween(8_000, 17_000);
        assertThat(bytecodes.get(1)).as("connection with a round trip").isBetween(30_000, 75_000);
    }

    /** The lines of the program, in a process of its own: another copy of Netty leaves what only ends with that. */
    private List<String> rows() throws Exception {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dio.netty.leakDetection.level=disabled", "-cp", System.getProperty("java.class.path"),
                BytecodeCount.class.getName()).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as("ends in time").isTrue();
        } finally {
            process.destroyForcibly().waitFor();
        }
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readAllLines(output).stream().filter(line -> line.contains(" bytecodes ")).toList();
    }
}
