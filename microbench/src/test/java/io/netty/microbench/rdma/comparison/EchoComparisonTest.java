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
import io.netty.example.rdma.util.Measurement;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.sample.Mode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(180)
class EchoComparisonTest {
    @TempDir
    private Path folder;

    @Test
    void everyModeOfRdmaIsMeasuredInProcessesOfItsOwn() throws Exception {
        everyModeIsMeasured(Transport.RDMA);
    }

    @Test
    @Tag("all")
    void everyModeOfTcpIsMeasuredInProcessesOfItsOwn() throws Exception {
        everyModeIsMeasured(Transport.EPOLL);
    }

    private void everyModeIsMeasured(Transport transport) throws Exception {
        Path file = Files.write(folder.resolve("file"), new byte[100_000]);
        Path tables = folder.resolve("tables.md");
        assertThat(Commands.run(new EchoComparison(), "--quick", "--polling", "--limit", "0.2", "--transports",
                transport.toString(), "--host", TestAddress.HOST, "--limit-program", limitProgram(),
                "--file", file.toString(), "--markdown", tables.toString())).isZero();
        assertThat(Files.readString(tables))
                .contains("| round trips of 64 B ", "| a stream of writes of 1 MiB ")
                .contains("| " + Mode.byDefault(transport) + ' ', "| " + Mode.polling(transport) + ' ')
                .containsPattern("\\| round trips of 64 B +\\| limit \\(C\\) +\\| 0.1 ");
    }

    /** Returns a program with the output of shm_limit. */
    private String limitProgram() throws Exception {
        Path program = folder.resolve("limit");
        Files.writeString(program, "#!/bin/sh\necho '" + new Measurement("round trips of 64 B", 1000, 10_000_000,
                Measurement.Unit.OPERATIONS, 100, 200, 300) + "'\n");
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return program.toString();
    }

    @Test
    void processThatFailsFailsTheComparison() {
        assertThat(Commands.run(new EchoComparison(), "--quick", "--transports", "epoll",
                "--file", folder.resolve("missing").toString())).isOne();
    }
}
