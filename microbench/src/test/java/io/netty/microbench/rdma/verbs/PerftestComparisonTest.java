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
import io.netty.example.rdma.blast.BlastMode;
import io.netty.example.rdma.util.Commands;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(180)
class PerftestComparisonTest {
    private static final String PRELOAD = System.getProperty("io.netty.rdma.test.preload",
            "../transport-rdma-native/target/c/librdma_embedded.so");
    /** Where everything takes several times as long, starting processes takes longest: one mode has to do. */
    private static final boolean SLOW_MACHINE = TestTimeouts.MULTIPLIER > 1;

    @Test
    void roundTripsOfAllModesRunBesidePerftest() {
        assertCompared(new PingPong(), "CLIENT");
    }

    @Test
    void chainsOfAllModesRunBesidePerftest() {
        Blast blast = new Blast();
        assertThat(blast.programs(BlastMode.WRITE)).contains("ib_write_bw");
        assertThat(blast.programs(BlastMode.READ)).contains("ib_read_bw");
        assertCompared(blast, "READ");
    }

    /** Each mode, and where there is perftest each program that does the same, has a row. */
    private static <M extends Enum<M>> void assertCompared(PerftestComparison<M> command, String modeOfSlowMachines) {
        String printed = printed(command, PRELOAD, SLOW_MACHINE ? modeOfSlowMachines : null);
        List<String> expected = new ArrayList<>();
        for (M mode : command.modes()) {
            expected.add(mode.name().toLowerCase(Locale.ROOT));
            if (!printed.contains("Without perftest: ")) {
                expected.addAll(command.programs(mode));
            }
        }
        for (String what : expected) {
            assertThat(printed).contains("\n| " + what + " 64 B ");
        }
    }

    private static String printed(Object command, String preload, String mode) {
        List<String> arguments = new ArrayList<>(List.of("--quick", "--rounds", "1", "--size", "64", "--host",
                TestAddress.HOST, "--timeout", VerbsCommandsTest.TIMEOUT, "--preload", preload));
        if (mode != null) {
            arguments.addAll(List.of("--mode", mode));
        }
        PrintStream out = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            assertThat(Commands.run(command, arguments.toArray(new String[0]))).isZero();
        } finally {
            System.setOut(out);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void comparisonGoesOnWithoutPerftestAndMarksFiguresOfColdProcesses() {
        assertThat(printed(new Blast(), "no such file", "READ").lines()
                .filter(line -> line.startsWith("| read 64 B"))).singleElement().asString()
                .containsPattern("not settled: too short|\\d \\? +\\| \\d+ to ").endsWith("| 0 of 1 |");
    }
}
