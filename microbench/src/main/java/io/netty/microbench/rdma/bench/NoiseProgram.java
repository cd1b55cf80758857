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

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The C program {@code noise}, which takes each core at random for some milliseconds at a time, until its standard
 * input ends. So it ends with this process at the latest.
 */
final class NoiseProgram implements AutoCloseable {
    /** Line that the program prints when it has begun. */
    private static final String NOISE = "noise";

    private final Process process;

    /**
     * Starts the program.
     *
     * @param program path of the program
     * @param percent share of each core, 1 to 90
     * @throws IOException if the program is missing or fails. Its messages are on the standard error output
     */
    NoiseProgram(Path program, int percent) throws IOException {
        process = new ProcessBuilder(program.toString(), Integer.toString(percent))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
        if (!NOISE.equals(output.readLine())) {
            close();
            throw new IOException(program + " ends before it has begun");
        }
    }

    /** Ends the program, and returns when it has ended. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
