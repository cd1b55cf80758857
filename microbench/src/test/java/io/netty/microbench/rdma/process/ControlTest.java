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
package io.netty.microbench.rdma.process;

import io.netty.util.concurrent.DefaultEventExecutorGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(120)
class ControlTest {
    @Test
    void eventLoopsAreBoundToCoresEach() throws Exception {
        int core = ProcessUse.cores().get(0);
        int other = ProcessUse.cores().get(ProcessUse.cores().size() - 1);
        try (Child child = new Child(List.of(), TwoLoops.class, List.of())) {
            assertThat(child.ask(Control.PIN + ' ' + core + ' ' + other)).isEqualTo("pinned");
            assertThat(coresOfLoops(child.pid())).containsExactlyInAnyOrder(List.of(core), List.of(other));
        }
    }

    private static List<List<Integer>> coresOfLoops(long pid) throws IOException {
        try (var threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            return threads.map(thread -> read(thread.resolve("status")))
                    .filter(status -> status.startsWith("Name:\tdefaultEventExe"))
                    .map(status -> ProcessUse.cores(status.lines()
                            .filter(line -> line.startsWith("Cpus_allowed_list:")).findFirst().orElseThrow()))
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            // The thread has ended.
            return "";
        }
    }

    /** A process with two event loops. */
    public static final class TwoLoops {
        private TwoLoops() {
        }

        public static void main(String[] args) throws Exception {
            new Control(new DefaultEventExecutorGroup(2)).run();
        }
    }
}
