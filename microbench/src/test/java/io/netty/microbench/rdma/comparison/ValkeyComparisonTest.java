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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The comparison with Valkey's server, as processes.
 */
@Tag("valkey")
@Timeout(300)
class ValkeyComparisonTest {
    private static final String SCRIPT = "../testsuite/valkey/server";

    @TempDir
    private Path folder;

    private static int compare(String script, String... arguments) {
        List<String> all = new ArrayList<>(List.of("--quick", "--limit", "0.2", "--host", TestAddress.HOST,
                "--script", script));
        all.addAll(List.of(arguments));
        return Commands.run(new ValkeyComparison(), all.toArray(new String[0]));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "epoll", "unix"})
    void answersAreRight(String transport) throws Exception {
        Path tables = folder.resolve("tables.md");
        assertThat(compare(SCRIPT, "--transports", transport, "--markdown", tables.toString())).isZero();
        assertThat(Files.readString(tables)).contains("| SET of 3 B ", "| GET of 1 KiB, 64 in flight ",
                "| GET of 1 MiB ", "| " + transport + ' ');
    }

    @Test
    void serverHasNoOtherTransports() {
        assertThat(compare(SCRIPT, "--transports", "rdma,nio")).isOne();
    }

    @Test
    void missingServerIsToldBeforeAnythingIsMeasured() {
        assertThat(compare("no/server")).isOne();
    }
}
