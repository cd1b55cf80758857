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

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.example.rdma.util.Commands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(180)
class PerftestComparisonTest {
    private static final String PRELOAD = System.getProperty("io.netty.rdma.test.preload",
            "../transport-rdma-native/target/c/librdma_embedded.so");
    /** Where everything takes several times as long, starting processes takes longest: one mode has to do. */
    private static final boolean SLOW_MACHINE = TestTimeouts.MULTIPLIER > 1;

    @Test
    void roundTripsOfAllModesRunBesidePerftest() {
        assertThat(compare(new PingPong(), "CLIENT")).isZero();
    }

    @Test
    void chainsOfAllModesRunBesidePerftest() {
        assertThat(compare(new Blast(), "READ")).isZero();
    }

    private static int compare(Object command, String modeOfSlowMachines) {
        List<String> arguments = new ArrayList<>(List.of("--quick", "--size", "64", "--host", TestAddress.HOST,
                "--timeout", VerbsCommandsTest.TIMEOUT, "--preload", PRELOAD));
        if (SLOW_MACHINE) {
            arguments.addAll(List.of("--mode", modeOfSlowMachines));
        }
        return Commands.run(command, arguments.toArray(new String[0]));
    }

    @Test
    void comparisonGoesOnWithoutPerftestAndMarksFiguresOfColdProcesses() {
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThat(Commands.run(new Blast(), "--quick", "--size", "64", "--mode", "READ", "--host",
                    TestAddress.HOST, "--timeout", VerbsCommandsTest.TIMEOUT, "--preload", "no such file")).isZero();
        } finally {
            System.setOut(out);
        }
        assertThat(printed.toString(StandardCharsets.UTF_8).lines().filter(line -> line.startsWith("| read 64 B")))
                .singleElement().asString()
                .containsPattern("not settled: too short|\\d \\? +\\| \\d+ to ").endsWith("| 0 of 1 |");
    }
}
