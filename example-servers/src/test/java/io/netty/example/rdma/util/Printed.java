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
package io.netty.example.rdma.util;

import io.netty.channel.rdma.TestTimeouts;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Programs that run in this process, with what they print in place of the process.
 */
public final class Printed implements AutoCloseable {
    private final PrintStream out = System.out;
    private final PrintStream err = System.err;
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /** Takes what is printed from now on, until it is closed. */
    public Printed() {
        PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(stream);
        System.setErr(stream);
    }

    /** Runs a program on a thread of its own: its exit status. */
    public static CompletableFuture<Integer> start(Callable<Integer> program, String... arguments) {
        return CompletableFuture.supplyAsync(() -> Commands.run(program, arguments),
                task -> new Thread(task, program.getClass().getSimpleName()).start());
    }

    /** The lines so far, from both streams. */
    public List<String> lines() {
        return new ArrayList<>(printed.toString(StandardCharsets.UTF_8).lines().toList());
    }

    /** The rest of the first line that begins so, when it is there. */
    public String await(String beginning) throws Exception {
        TestTimeouts.awaitTrue(() -> lines().stream().anyMatch(line -> line.startsWith(beginning)));
        return lines().stream().filter(line -> line.startsWith(beginning)).findFirst().orElseThrow()
                .substring(beginning.length());
    }

    /** All lines, when both ends have ended with this status. */
    public List<String> linesAtTheEnd(int status, List<CompletableFuture<Integer>> ends) throws Exception {
        for (CompletableFuture<Integer> end : ends) {
            assertThat(TestTimeouts.result(end)).as("%s", lines()).isEqualTo(status);
        }
        return lines();
    }

    @Override
    public void close() {
        System.setOut(out);
        System.setErr(err);
    }
}
