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

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.Transport;
import io.netty.microbench.rdma.comparison.ExampleComparison.FileComparison;
import io.netty.microbench.rdma.comparison.ExampleComparison.GrpcComparison;
import io.netty.microbench.rdma.comparison.ExampleComparison.Http2Comparison;
import io.netty.microbench.rdma.comparison.ExampleComparison.HttpComparison;
import io.netty.microbench.rdma.comparison.ExampleComparison.WebSocketComparison;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.util.concurrent.EventExecutor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/**
 * The comparisons of {@code run-example.sh}, as processes. By default one of them measures, that of the proxy, whose
 * processes are started in a way of their own. The others differ only in the load: each operation runs once.
 */
@Timeout(300)
class ExampleComparisonTest {
    @TempDir
    private Path folder;

    static Stream<ExampleComparison> comparisons() {
        return Stream.of(new HttpComparison(), new FileComparison(), new WebSocketComparison(), new Http2Comparison(),
                new GrpcComparison());
    }

    @ParameterizedTest
    @MethodSource("comparisons")
    void eachOperationOfAClientGetsTheRightAnswer(ExampleComparison comparison) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("--host", TestAddress.HOST, "--port", "0"));
        arguments.addAll(read(comparison).serverArguments(folder));
        try (ChildJvm server = new ChildJvm(comparison.server, List.of(), arguments.toArray(new String[0]))) {
            ClientOptions options = read(new ClientOptions(), "--host", TestAddress.HOST,
                    "--port", ExampleServer.port(server.line(ExampleServer.READY.trim())));
            EventLoopGroup group = options.newGroup();
            try {
                LoadClient client = CommandLine.defaultFactory().create(comparison.client);
                List<Scenario> scenarios = client.scenarios(options, group);
                assertThat(scenarios).isNotEmpty();
                for (Scenario scenario : scenarios) {
                    assertThat(outcome(group.next(), scenario)).as(scenario.name()).isNull();
                }
            } finally {
                TestTimeouts.shutdown(group);
            }
        }
    }

    private static <T> T read(T options, String... arguments) {
        new CommandLine(options).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments);
        return options;
    }

    /** Why an operation failed, or {@code null}. */
    private static Throwable outcome(EventExecutor loop, Scenario scenario) throws Exception {
        CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        loop.execute(() -> scenario.operation().start(outcome::complete));
        return outcome.get(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @Tag("all")
    @EnumSource(names = {"RDMA", "EPOLL"})
    void httpIsRight(Transport transport) throws Exception {
        assertThat(compare(new HttpComparison(), "--transports", transport.toString()))
                .contains("| plaintext ", "| json ", "| download of 64 MiB ", "| " + transport + ' ')
                .doesNotContain("| " + transport + " polling ");
    }

    @ParameterizedTest
    @Tag("all")
    @ValueSource(strings = {"jdk", "openssl"})
    void httpIsRightWithTls(String engine) throws Exception {
        assumeFalse(TestTimeouts.MULTIPLIER > 1,
                "64 MiB through TLS take minutes in an emulated guest; what is about TLS there is HttpTlsTest");
        assertThat(compare(new HttpComparison(), "--transports", "rdma", "--tls", engine)).contains("| plaintext ");
    }

    @ParameterizedTest
    @Tag("all")
    @CsvSource({"region, rdma", "region, epoll", "mapped, rdma"})
    void filesAreRight(String mode, String transport) throws Exception {
        assertThat(compare(new FileComparison(), "--transports", transport, "--files", mode))
                .contains("| file of 1 KiB ", "| range of 64 KiB, 8 pipelined ", "| file of 64 MiB ");
    }

    @ParameterizedTest
    @Tag("all")
    @ValueSource(strings = {"rdma", "nio"})
    void websocketIsRight(String transport) throws Exception {
        assertThat(compare(new WebSocketComparison(), "--transports", transport))
                .contains("| text of 64 B ", "| binary of 4 MiB ");
    }

    @Test
    void proxyIsRightOnRdma() throws Exception {
        proxyIsRight(Transport.RDMA);
    }

    @Test
    @Tag("all")
    void proxyIsRightOnTcp() throws Exception {
        proxyIsRight(Transport.EPOLL);
    }

    private void proxyIsRight(Transport transport) throws Exception {
        assertThat(compare(new ProxyComparison(), "--transports", transport.toString()))
                .contains("| plaintext ", "| download of 64 MiB ", "| chunked upload of 64 MiB ",
                        "| " + transport + ' ');
    }

    @Test
    void proxyHasNoOtherPaths() {
        assertThat(Commands.run(new ProxyComparison(), "--quick", "--transports", "rdma,unix")).isOne();
    }

    @Test
    @Tag("all")
    void figuresAreDrawn() throws Exception {
        Path plot = folder.resolve("plots").resolve("websocket.svg");
        compare(new WebSocketComparison(), "--transports", "epoll", "--plot", plot.toString());
        assertThat(plot).isNotEmptyFile();
    }

    @Test
    void serverThatCannotStartFailsTheComparison() {
        assertThat(Commands.run(new HttpComparison(), "--quick", "--host", "no such host")).isOne();
    }

    @Test
    @Tag("all")
    void processesThatStayAreMeasuredInEachRound() throws Exception {
        Path tables = folder.resolve("tables.md");
        assertThat(Commands.run(new WebSocketComparison(), "--rounds", "2", "--limit", "0.4",
                "--transports", "rdma,epoll", "--host", TestAddress.HOST, "--markdown", tables.toString())).isZero();
        assertThat(Files.readString(tables)).contains(" of 2 |");
    }

    private String compare(ExampleComparison command, String... arguments) throws Exception {
        Path tables = folder.resolve("tables.md");
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--quick", "--limit", "0.2", "--host", TestAddress.HOST, "--markdown", tables.toString()));
        assertThat(Commands.run(command, all.toArray(new String[0]))).isZero();
        return Files.readString(tables);
    }
}
