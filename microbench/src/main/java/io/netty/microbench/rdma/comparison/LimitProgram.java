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
package io.netty.microbench.rdma.comparison;

import io.netty.example.rdma.util.Measurement;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The C program {@code shm_limit}: measures the limit of this machine between two processes, without the transports.
 * Messages go through a ring in shared memory, and are copied in and out. Both ends poll.
 *
 * @param program    path of the program
 * @param maxSeconds time after which it is killed, and fails, for a machine that is very busy
 */
public record LimitProgram(Path program, int maxSeconds) {
    /** Time of each of six measurements of a reference. A quarter of it is warm-up: there is no JIT compiler. */
    private static final int REFERENCE_MILLIS = 300;
    private static final int REFERENCE_MAX_SECONDS = 60;

    /** Figures of round trips and streams, as a row of a {@link Comparison}. */
    public static Comparison.Reference reference(Path program) {
        LimitProgram limit = new LimitProgram(program, REFERENCE_MAX_SECONDS);
        return new Comparison.Reference() {
            @Override
            public String name() {
                return "limit (C)";
            }

            @Override
            public List<Measurement> measure() throws IOException, InterruptedException {
                return limit.measure("--only", "round-trips", "--only", "streams", "--millis",
                        Integer.toString(REFERENCE_MILLIS));
            }
        };
    }

    /**
     * Runs the program to its end, and returns its measurements.
     *
     * @throws IOException if the program fails. Its messages are on the standard error output
     */
    public List<Measurement> measure(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        CompletableFuture.delayedExecutor(maxSeconds, TimeUnit.SECONDS).execute(process::destroyForcibly);
        try (var output = process.inputReader(StandardCharsets.UTF_8)) {
            List<Measurement> measurements = output.lines().map(Measurement::parse).filter(Objects::nonNull).toList();
            if (process.waitFor() != 0) {
                throw new IOException(program + ": ended with status " + process.exitValue());
            }
            return measurements;
        } finally {
            process.destroyForcibly();
        }
    }
}
