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
package io.netty.channel.rdma.valkey;

import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.valkey.CommandRun.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Commands of each type, whose answers have the same bytes on each transport as on TCP. The server is Valkey's own.
 */
@Tag("valkey")
class ValkeyCommandsTest {
    private static final List<String> FILES = List.of("strings", "bitmaps", "lists", "hashes", "sets", "sortedsets",
            "hyperloglogs", "geo", "streams", "keys", "scripts", "functions", "transactions", "pubsub", "blocking",
            "connection", "server", "errors", "large");
    /** File for a server that is a cluster of its own. */
    private static final String CLUSTER = "cluster";

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    @TempDir
    private static Path folder;
    private static ValkeyServer server;

    @BeforeAll
    static void start() throws Exception {
        server = new ValkeyServer(folder);
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** Each file, with each protocol, on each transport that is compared with TCP. */
    static Stream<Arguments> files() {
        return FILES.stream().flatMap(file -> Stream.of(2, 3).flatMap(protocol -> Arrays.stream(
                ValkeyTransport.values()).filter(transport -> transport != ValkeyTransport.TCP)
                .map(transport -> Arguments.of(file, protocol, transport))));
    }

    @ParameterizedTest
    @MethodSource("files")
    void answersAreThoseOfTcp(String name, int protocol, ValkeyTransport transport) throws Exception {
        CommandFile file = CommandFile.read(name);
        List<Answer> expected;
        try (CommandRun tcp = new CommandRun(LOOPS.group(), ValkeyTransport.TCP, server, protocol)) {
            expected = tcp.run(file);
        }
        assertThat(expected).isNotEmpty();
        try (CommandRun run = new CommandRun(LOOPS.group(), transport, server, protocol)) {
            assertSame(run.run(file), expected);
            if (file.canBePipelined()) {
                assertSame(run.pipeline(file), expected);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = "TCP", mode = EnumSource.Mode.EXCLUDE)
    void answersOfAClusterAreThoseOfTcp(ValkeyTransport transport, @TempDir Path ofCluster) throws Exception {
        CommandFile file = CommandFile.read(CLUSTER);
        try (ValkeyServer cluster = new ValkeyServer(ofCluster, "--cluster-enabled", "yes",
                "--cluster-config-file", "nodes");
             CommandRun tcp = new CommandRun(LOOPS.group(), ValkeyTransport.TCP, cluster, 3);
             CommandRun run = new CommandRun(LOOPS.group(), transport, cluster, 3)) {
            List<Answer> expected = tcp.run(file);
            assertThat(expected).isNotEmpty();
            assertSame(run.run(file), expected);
        }
    }

    private static void assertSame(List<Answer> answers, List<Answer> expected) {
        assertThat(answers.size()).isEqualTo(expected.size());
        for (int i = 0; i < expected.size(); i++) {
            Answer of = expected.get(i);
            Answer answer = answers.get(i);
            // Without the text of either: some have megabytes.
            assertThat(answer.isSame(of)).as("%s\nis by TCP\n%s", answer, of).isTrue();
        }
    }

    /** The files have each command that the server has, but those of the list of what was not tried. */
    @Test
    void eachCommandIsTried() throws Exception {
        TreeSet<String> commands = new TreeSet<>();
        try (ValkeyConnection connection = ValkeyConnection.open(LOOPS.group(), ValkeyTransport.TCP, server)) {
            connection.exchange("COMMAND", "LIST", "FILTERBY", "PATTERN", "*").lines()
                    .filter(line -> Character.isLetter(line.charAt(0))).forEach(commands::add);
        }
        assertThat(commands).hasSizeGreaterThan(300);
        for (String untried : read("untried")) {
            assertThat(commands.remove(untried)).as(untried).isTrue();
        }
        for (String name : FILES) {
            commands.removeAll(read(name));
        }
        commands.removeAll(read(CLUSTER));
        assertThat(commands).isEmpty();
    }

    /** The commands in a file, as the server names them. */
    private static List<String> read(String name) throws IOException {
        List<String> commands = new ArrayList<>();
        for (CommandFile.Step step : CommandFile.read(name).steps()) {
            if (!step.words().isEmpty() && step.kind() != CommandFile.Kind.RAW) {
                String first = step.word(0).toLowerCase(Locale.ROOT);
                commands.add(first);
                if (step.words().size() > 1) {
                    commands.add(first + '|' + step.word(1).toLowerCase(Locale.ROOT));
                }
            }
        }
        return commands;
    }
}
