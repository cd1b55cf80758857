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
package io.netty.channel.rdma.agent;

import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A program that runs. It is killed when closed, or if it takes too long. */
final class RunningProgram implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;
    private final Path errors;
    private final Future<?> limit;
    private final List<String> answers = new ArrayList<>();

    RunningProgram(List<String> command) throws IOException {
        errors = Files.createTempFile("program", ".err");
        process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        output = process.inputReader();
        limit = GlobalEventExecutor.INSTANCE.schedule(() -> {
            process.toHandle().destroyForcibly();
        }, 6L * TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    /** The rest of the next line that starts with this word. */
    String line(String word) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            answers.add(line);
            if (line.startsWith(word + ' ')) {
                return line.substring(word.length() + 1);
            }
        }
        throw new AssertionError("the program ended without a line '" + word + "': " + answers +
                Files.readAllLines(errors));
    }

    /** Ends its input, and returns its output when it has ended. */
    ProgramResult end() throws IOException, InterruptedException {
        process.getOutputStream().close();
        output.lines().forEach(answers::add);
        process.waitFor();
        ProgramResult result = new ProgramResult(answers, Files.readAllLines(errors), process.exitValue());
        assertThat(limit.cancel(false)).as("it ends by itself: %s", result).isTrue();
        return result;
    }

    @Override
    public void close() throws IOException {
        limit.cancel(false);
        process.destroyForcibly();
        Files.delete(errors);
    }
}
