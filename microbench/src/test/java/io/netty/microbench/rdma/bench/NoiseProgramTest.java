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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The C program {@code noise}. How much it takes is not looked at: that is the scheduler's choice. */
@Timeout(300)
class NoiseProgramTest {
    static final Path PROGRAM = Path.of("..", "transport-rdma-native", "target", "c", "noise");

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }

    /** The processors of a thread, as in proc(5). */
    private static String processors(Path thread) {
        try {
            return Files.readAllLines(thread.resolve("status")).stream()
                    .filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow().split("\\s+")[1];
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void endsWhenItsInputDoes() throws Exception {
        Process process = start("5");
        assertThat(process.inputReader().readLine()).isEqualTo("noise");
        process.outputWriter().append("anything\n").flush();
        assertThat(process.isAlive()).isTrue();
        process.getOutputStream().close();
        assertThat(process.waitFor()).isZero();
    }

    @Test
    void hasAThreadOnEachProcessor() throws Exception {
        Process process = start("1");
        try {
            assertThat(process.inputReader().readLine()).isEqualTo("noise");
            Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
            try (var threads = Files.list(tasks)) {
                List<String> pinned = threads.filter(thread ->
                        !thread.getFileName().toString().equals(Long.toString(process.pid())))
                        .map(NoiseProgramTest::processors).toList();
                assertThat(pinned).hasSize(Runtime.getRuntime().availableProcessors()).doesNotHaveDuplicates()
                        .allSatisfy(processor -> assertThat(processor).matches("\\d+"));
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "91", "-5", "5x", "x", "99999999999999999999", "5 5"})
    void wrongArgumentsAreRefused(String arguments) throws Exception {
        Process process = start(arguments.split(" "));
        assertThat(process.waitFor()).isEqualTo(2);
        assertThat(process.errorReader().readLine()).startsWith("usage: noise");
    }

    @Test
    void noArgumentIsRefused() throws Exception {
        assertThat(start().waitFor()).isEqualTo(2);
    }

    @Test
    void closedProgramHasEnded() throws Exception {
        List<ProcessHandle> before = ProcessHandle.current().children().toList();
        NoiseProgram noise = new NoiseProgram(PROGRAM, 5);
        List<ProcessHandle> started = ProcessHandle.current().children().filter(child -> !before.contains(child))
                .toList();
        noise.close();
        assertThat(started).hasSize(1).noneMatch(ProcessHandle::isAlive);
    }

    @Test
    void programThatDoesNotBeginFails() {
        assertThatThrownBy(() -> new NoiseProgram(PROGRAM, 0)).isInstanceOf(IOException.class)
                .hasMessageContaining("before it has begun");
    }
}
