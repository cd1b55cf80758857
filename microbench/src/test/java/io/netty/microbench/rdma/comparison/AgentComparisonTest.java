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

import io.netty.channel.rdma.TestAddress;
import io.netty.example.rdma.util.Commands;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The comparison of programs without and with the agent, as processes.
 */
@Timeout(300)
class AgentComparisonTest {
    private static final String AGENT = "target/agent.jar";

    @TempDir
    private Path folder;

    private static int compare(String agent, String... arguments) {
        List<String> all = new ArrayList<>(List.of("--quick", "--limit", "0.2", "--host", TestAddress.HOST,
                "--agent", agent, "--libraries", "target/unmodified"));
        all.addAll(List.of(arguments));
        return Commands.run(new AgentComparison(), all.toArray(new String[0]));
    }

    @Test
    void answersAreRightAndOverRdmaWithTheAgent() throws Exception {
        assertIsRight("rdma");
    }

    @Test
    @Tag("all")
    void answersAreRightWithoutTheAgent() throws Exception {
        assertIsRight("epoll");
    }

    private void assertIsRight(String transport) throws Exception {
        Path tables = folder.resolve("tables.md");
        assertThat(compare(AGENT, "--transports", transport, "--markdown", tables.toString())).isZero();
        assertThat(Files.readString(tables)).contains("| Armeria, GET ", "| WebFlux, POST of 64 KiB and back ",
                "| " + transport + ' ');
    }

    @Test
    void agentHasNoOtherTransports() {
        assertThat(compare(AGENT, "--transports", "rdma,unix")).isOne();
    }

    @Test
    void missingAgentIsToldBeforeAnythingIsMeasured() {
        assertThat(compare("target/none.jar")).isOne();
    }
}
