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
package io.netty.example.rdma.http;

import io.netty.example.rdma.Commands;
import io.netty.example.rdma.TlsEngine;
import io.netty.example.rdma.Transport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(300)
class HttpComparisonTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(names = {"RDMA", "EPOLL"})
    void everyAnswerIsRightOnEveryTransport(Transport transport) throws Exception {
        assertThat(compare("--transports", transport.toString()))
                .contains("| plaintext ", "| json ", "| download of 64 MiB ", "| " + transport + " blocking ");
    }

    @ParameterizedTest
    @EnumSource
    void everyAnswerIsRightWithTls(TlsEngine engine) throws Exception {
        assertThat(compare("--transports", "rdma", "--tls", engine.toString())).contains("| plaintext ");
    }

    private String compare(String... arguments) throws Exception {
        Path tables = folder.resolve("tables.md");
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--quick", "--host", System.getProperty("io.netty.rdma.test.address", "127.0.0.1"),
                "--markdown", tables.toString()));
        assertThat(Commands.run(new HttpComparison(), all.toArray(new String[0]))).isZero();
        return Files.readString(tables);
    }
}
