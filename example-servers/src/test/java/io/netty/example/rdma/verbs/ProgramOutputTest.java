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
package io.netty.example.rdma.verbs;

import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.message.RdmaCapabilities;
import io.netty.channel.rdma.verbs.Device;
import io.netty.example.rdma.blast.BlastCommand.BlastClient;
import io.netty.example.rdma.blast.BlastCommand.BlastServer;
import io.netty.example.rdma.datagrams.DatagramClient;
import io.netty.example.rdma.datagrams.DatagramServer;
import io.netty.example.rdma.datagrams.MulticastCommand.MulticastPublisher;
import io.netty.example.rdma.datagrams.MulticastCommand.MulticastSubscriber;
import io.netty.example.rdma.gpu.TensorCommand.TensorClient;
import io.netty.example.rdma.gpu.TensorCommand.TensorServer;
import io.netty.example.rdma.pingpong.PingPongCommand.PingPongClient;
import io.netty.example.rdma.pingpong.PingPongCommand.PingPongServer;
import io.netty.example.rdma.pubsub.PubSubCommand.Publisher;
import io.netty.example.rdma.pubsub.PubSubCommand.Subscriber;
import io.netty.example.rdma.reconnect.TickerClient;
import io.netty.example.rdma.reconnect.TickerServer;
import io.netty.example.rdma.requests.OperationCommand.Requester;
import io.netty.example.rdma.requests.OperationCommand.Responder;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.util.Printed;
import io.netty.example.rdma.util.RunningServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Everything that the verbs programs print when each end is run alone: no line more than these. The program that calls
 * CUDA does it on a newer Java only, which lane {@code platforms} has.
 */
@Tag("platforms")
@Timeout(180)
class ProgramOutputTest {
    private static final String LISTENING = "listening on [^ ]+:\\d+";
    private static final String FIGURES = "\\d+\\.\\d us each, \\d+\\.\\d MB/s";
    private static final String SOFTWARE_GPU = "../transport-rdma-native/target/c/obj/fake/libcuda.so.1";
    private static final String PROCESSOR = "(, processor \\d+\\.\\d\\d us each)?";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
            "read, 64", "write, 64", "write-imm, 64", "send, 64", "send-imm, 64", "send-list, 64", "compare-swap, 8",
            "fetch-add, 8", "lend, 64", "sync-event, 8"
    })
    void operations(String operation, int bytes) throws Exception {
        String[] arguments = {"--operation", operation, "--count", "20", "--size", "64"};
        assertPrinted(ends(new Responder(), arguments, new Requester(), arguments),
                result(operation + " responder", 20, bytes), result(operation + " requester", 20, bytes));
    }

    @Test
    void offer() throws Exception {
        String[] arguments = {"--operation", "offer", "--size", "64"};
        assertPrinted(ends(new Responder(), arguments, new Requester(), arguments),
                result("offer responder", 1, 64), result("offer requester", 1, 64));
    }

    /** The flags of the samples of DOCA RDMA, and their default text. */
    @ParameterizedTest
    @CsvSource({
            "read-text, -r, 'read: '",
            "write-text, -w, 'written: '",
            "write-imm-text, -w, 'written, with the immediate data 13: '",
            "send-text, -s, 'received: '",
            "send-imm-text, -s, 'received, with the immediate data 13: '"
    })
    void texts(String operation, String flag, String line) throws Exception {
        String[] files = {"a", "b", "c"};
        for (int i = 0; i < files.length; i++) {
            files[i] = folder.resolve(files[i]).toString();
        }
        String[] responder = {"--operation", operation, flag, "-ld", files[0], "-re", files[1], "-m", files[2]};
        String[] requester = {"--operation", operation, flag, "--local-descriptor-path", files[1],
                "--remote-descriptor-path", files[0], "--mmap-descriptor-path", files[2]};
        try (Printed printed = new Printed()) {
            assertLines(printed.linesAtTheEnd(0, List.of(
                    Printed.start(new Responder(), at(responder)), Printed.start(new Requester(), at(requester)))),
                    Pattern.quote(line + "Hi DOCA RDMA!"), result(operation + " responder", 1, 13),
                    result(operation + " requester", 1, 13));
        }
        assertThat(folder).isEmptyDirectory();
    }

    /** The flag alone says which operation it is. */
    @ParameterizedTest
    @CsvSource({"-r, --read-string, read", "-w, --write-string, write", "-s, --send-string, send"})
    void textOfOnesOwn(String flag, String name, String operation) throws Exception {
        String end = operation.equals("read") ? "not this" : "a text";
        String[] responder = {flag, operation.equals("read") ? "a text" : "not this"};
        String[] requester = {name, end};
        assertPrinted(ends(new Responder(), responder, new Requester(), requester),
                "(read|written|received): a text", result(operation + "-text responder", 1, 6),
                result(operation + "-text requester", 1, 6));
    }

    @ParameterizedTest
    @ValueSource(strings = {"-r x --operation write-text", "-s x --operation read", "-s x -w y", "--count 1"})
    void flagsThatDoNotFitAreRefused(String arguments) throws Exception {
        try (Printed printed = new Printed()) {
            assertThat(printed.linesAtTheEnd(2, List.of(Printed.start(new Requester(), arguments.split(" ")))))
                    .first().asString().containsAnyOf("-r is for read-text", "no --operation");
        }
    }

    @Test
    void helpTellsTheFlags() throws Exception {
        try (Printed printed = new Printed()) {
            assertThat(String.join(" ", printed.linesAtTheEnd(0, List.of(Printed.start(new Requester(), "-h")))))
                    .contains("-ld, --local-descriptor", "-re, -rd, --remote-descriptor", "-m, --mmap-descriptor-path",
                            "-r, --read-string", "-s, --send-string", "-w, --write-string", "-d, --device",
                            "-g, --gid-index");
        }
    }

    @ParameterizedTest
    @CsvSource({
            "write, key, the peer refused access to its memory (status 10)",
            "write, range, the peer refused access to its memory (status 10)",
            "write, permission, (status 9)",
            "send, short-receive, (status 9)",
            "send, no-receive, (status 13)"
    })
    void mistakes(String operation, String mistake, String message) throws Exception {
        String[] arguments = {"--operation", operation, "--mistake", mistake};
        List<String> lines = lines(1, new Responder(), arguments, new Requester(), arguments);
        assertThat(lines).anyMatch(line -> line.startsWith("requester: ") && line.endsWith(message));
        assertThat(lines).anyMatch(line -> line.startsWith("responder: "));
        assertThat(lines).noneMatch(line -> line.startsWith(Result.PREFIX));
    }

    @ParameterizedTest
    @ValueSource(strings = {"CLIENT", "SERVER", "UNSIGNALLED", "WRITE", "READ", "READ_ONLY", "SEND", "WRITE_ACK",
            "WRITE_IMM", "SCAN"})
    void pingPong(String mode) throws Exception {
        String[] arguments = {"--mode", mode, "--count", "100", "--size", "64"};
        String counts = "counts: 100 at both ends, 0 wrong at this one, 0 at the other";
        assertPrinted(ends(new PingPongServer(), arguments, new PingPongClient(), arguments),
                "measured " + mode.toLowerCase() + " 64 B: 100 times, .*", counts, counts,
                result("ping-pong " + mode, 100, 64) + PROCESSOR, result("ping-pong " + mode, 100, 64) + PROCESSOR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "READ"})
    void blast(String mode) throws Exception {
        String[] arguments = {"--mode", mode, "--count", "640", "--size", "64"};
        String counts = "counts: 640 at both ends, 0 wrong at this one, 0 at the other";
        assertPrinted(ends(new BlastServer(), arguments, new BlastClient(), arguments),
                "measured " + mode.toLowerCase() + " 64 B: 640 times, .*", counts, counts,
                result("blast " + mode, 640, 64) + PROCESSOR, result("blast " + mode, 640, 64) + PROCESSOR);
    }

    @ParameterizedTest
    @ValueSource(strings = {"WRITE", "READ"})
    void blastByTheServerTakesBothEnds(String mode) throws Exception {
        String[] server = {"--mode", mode, "--count", "640", "--size", "64", "--by-server"};
        String[] client = {"--mode", mode, "--count", "640", "--size", "64"};
        assertThat(lines(1, new BlastServer(), server, new BlastClient(), client))
                .anyMatch(line -> line.contains("give both the same options"));
    }

    @Test
    void chainOfBlastIsThatOfTheCommandLine() throws Exception {
        try (Printed printed = new Printed()) {
            assertThat(printed.linesAtTheEnd(1,
                    List.of(Printed.start(new BlastServer(), at("--port", "0", "--chain", "8001")))))
                    .anyMatch(line -> line.contains("--chain: 8001 (expected: 1 to 8000)"));
        }
    }

    @Test
    void windowsAreForAComparison() throws Exception {
        String[] arguments = {"--count", "100", "--size", "64"};
        assertThat(lines(0, new PingPongServer(), arguments, new PingPongClient(), "--windows", "--count", "100",
                "--size", "64")).filteredOn(line -> line.startsWith("windows 100 ")).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({"read, crc", "read, twice", "write, crc", "write, twice"})
    void pubSub(String by, String check) throws Exception {
        String[] arguments = {"--by", by, "--check", check, "--count", "20", "--size", "64"};
        assertPrinted(ends(new Publisher(), arguments, new Subscriber(), arguments),
                result("publisher by " + by, 20, 64),
                result("subscriber by " + by + " \\(\\d+ torn copies taken again\\)", 20, 64));
    }

    @ParameterizedTest
    @ValueSource(strings = {"read", "write"})
    void checkOfPubSubTakesBothEnds(String by) throws Exception {
        String[] publisher = {"--by", by, "--check", "twice", "--count", "20", "--size", "64"};
        String[] subscriber = {"--by", by, "--count", "20", "--size", "64"};
        assertThat(lines(1, new Publisher(), publisher, new Subscriber(), subscriber))
                .anyMatch(line -> line.contains("give both the same options"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu", "host", "copy"})
    void tensors(String way) throws Exception {
        assumeTrue(way.equals("host") || Runtime.version().feature() >= 22, "CUDA is called from Java 22 or later");
        String[] arguments = {"--way", way, "--count", "5", "--size", "100000", "--software", SOFTWARE_GPU};
        List<String> lines = ends(new TensorServer(), arguments, new TensorClient(), arguments);
        lines.removeIf(line -> line.startsWith("no graphics processor, but one in software: "));
        String place = "tensor in memory of " + (way.equals("host") ? "the host" : "(fake|NVIDIA .*)");
        assertPrinted(lines, place, place, result("memory of .*, server", 5, 100000),
                result("memory of .*, there and back", 5, 200000));
    }

    @Test
    void tensorsOfAProcessorNeedANewerJava() throws Exception {
        assumeTrue(Runtime.version().feature() < 22, "this Java calls CUDA");
        try (Printed printed = new Printed()) {
            assertThat(printed.linesAtTheEnd(1, List.of(Printed.start(new TensorServer(), "--software", SOFTWARE_GPU))))
                    .anyMatch(line -> line.contains("CUDA from Java needs Java 22 or later"));
        }
    }

    @Test
    void multicast() throws Exception {
        assumeTrue(RdmaCapabilities.of(Device.names().get(0)).supportsMulticast(), "the device has no multicast");
        String group = TestAddress.anyGroup().getHostAddress();
        try (Printed printed = new Printed()) {
            List<CompletableFuture<Integer>> ends = List.of(
                    Printed.start(new MulticastSubscriber(), at("--group", group)),
                    Printed.start(new MulticastSubscriber(), at("--group", group, "--leave-after", "20")),
                    Printed.start(new MulticastPublisher(), at("--group", group, "--subscribers", "2", "--count", "100",
                            "--size", "64", "--rate", "1000")));
            String subscriber = ".*: (20|100) of 100 datagrams";
            assertLines(printed.linesAtTheEnd(0, ends), "joined, waiting for a publisher",
                    "joined, waiting for a publisher", subscriber, subscriber,
                    result("published to 2 subscribers", 100, 64),
                    result("subscribed, 0 of 100 lost, 0 twice", 100, 64),
                    result("subscribed, and left in the middle", 20, 64));
        }
    }

    @Test
    void datagrams() throws Exception {
        assumeTrue(RdmaCapabilities.of(Device.names().get(0)).supportsDatagrams(), "the device has no datagrams");
        try (Printed printed = new Printed()) {
            CompletableFuture<Integer> server = Printed.start(new DatagramServer(), at("--port", "0"));
            String port = ExampleServer.port(printed.await(ExampleServer.READY));
            CompletableFuture<Integer> client =
                    Printed.start(new DatagramClient(), at("--port", port, "--count", "100", "--size", "64"));
            assertLines(printed.linesAtTheEnd(0, List.of(client, server)), LISTENING,
                    result("datagrams there and back, \\d+ sent again", 100, 64),
                    result("answered datagrams, \\d+ twice", 100, 64));
        }
    }

    @Test
    void reconnect() throws Exception {
        try (Printed printed = new Printed()) {
            // A server that is ended by an interrupt.
            Thread server = new Thread(() -> Commands.run(new TickerServer(),
                    "--host", RunningServer.HOST, "--port", "0", "--ticks", "8"));
            server.start();
            String port = ExampleServer.port(printed.await(ExampleServer.READY));
            String lost = "no connection after \\d+ \\(the server has ended it\\), again in \\d+ ms";
            assertLines(printed.linesAtTheEnd(0, List.of(
                    Printed.start(new TickerClient(), at("--port", port, "--count", "20")))), LISTENING, lost, lost,
                    "seen 20 numbers up to \\d+ on 3 connections", result("numbers on 3 connections", 20, 8));
            server.interrupt();
            server.join();
        }
    }

    private static String result(String what, int count, int bytes) {
        return "result: " + what + ", " + count + " x " + bytes + " bytes, all right, " + FIGURES;
    }

    private static String[] at(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--host", RunningServer.HOST, "--timeout", RunningServer.TIMEOUT));
        all.addAll(List.of(arguments));
        return all.toArray(new String[0]);
    }

    private static List<String> ends(Callable<Integer> acceptor, String[] acceptorArguments,
                                     Callable<Integer> connector, String[] connectorArguments) throws Exception {
        return lines(0, acceptor, acceptorArguments, connector, connectorArguments);
    }

    private static List<String> lines(int status, Callable<Integer> acceptor, String[] acceptorArguments,
                                      Callable<Integer> connector, String... connectorArguments) throws Exception {
        try (Printed printed = new Printed()) {
            List<String> accepting = new ArrayList<>(List.of(acceptorArguments));
            accepting.addAll(List.of("--port", "0"));
            CompletableFuture<Integer> first = Printed.start(acceptor, at(accepting.toArray(new String[0])));
            List<String> connecting = new ArrayList<>(List.of(connectorArguments));
            connecting.addAll(List.of("--port", ExampleServer.port(printed.await(ExampleServer.READY))));
            CompletableFuture<Integer> second = Printed.start(connector, at(connecting.toArray(new String[0])));
            return printed.linesAtTheEnd(status, List.of(first, second));
        }
    }

    private static void assertPrinted(List<String> lines, String... expected) {
        List<String> all = new ArrayList<>(List.of(LISTENING));
        all.addAll(List.of(expected));
        assertLines(lines, all.toArray(new String[0]));
    }

    /** In any order: the ends print at the same time. */
    private static void assertLines(List<String> lines, String... expected) {
        List<String> left = new ArrayList<>(lines);
        for (String line : expected) {
            Pattern pattern = Pattern.compile(line);
            String found = left.stream().filter(candidate -> pattern.matcher(candidate).matches()).findFirst()
                    .orElseThrow(() -> new AssertionError("no line " + line + " in " + lines));
            left.remove(found);
        }
        assertThat(left).as("lines that nobody explains").isEmpty();
    }
}
