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

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.RunningServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests of the common part of all programs, with a program that sends one number.
 */
class VerbsEndTest {
    @TempDir
    private Path folder;

    @Test
    void endsMeetByDescriptorsInAnyOrder() throws Exception {
        List<Program> ends = List.of(new Connecting("test", 5), new Accepting("test", 5), new Accepting("test", 5),
                new Connecting("test", 5));
        for (int i = 0; i < ends.size(); i += 2) {
            CompletableFuture<Integer> first = start(ends.get(i));
            TestTimeouts.awaitTrue(VerbsEndTest::isOneWaiting);
            CompletableFuture<Integer> second = start(ends.get(i + 1));
            assertThat(TestTimeouts.result(first)).isZero();
            assertThat(TestTimeouts.result(second)).isZero();
            assertThat(folder).isEmptyDirectory();
        }
    }

    /** Returns whether an end looks for the file of the other one. */
    private static boolean isOneWaiting() {
        return Thread.getAllStackTraces().values().stream().flatMap(Arrays::stream)
                .anyMatch(frame -> frame.getClassName().equals(DescriptorFiles.class.getName())
                        && frame.getMethodName().equals("await"));
    }

    @Test
    void endsMeetByOneFileEach() throws Exception {
        String[] files = {folder.resolve("x").toString(), folder.resolve("y").toString()};
        CompletableFuture<Integer> connecting = startAlone(new Connecting("test", 5), "-ld", files[0], "-re", files[1]);
        CompletableFuture<Integer> accepting = startAlone(new Accepting("test", 5), "-ld", files[1], "-rd", files[0]);
        assertThat(TestTimeouts.result(connecting)).isZero();
        assertThat(TestTimeouts.result(accepting)).isZero();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void memoryIsInAFileOfItsOwn() throws Exception {
        String[] files = {folder.resolve("x").toString(), folder.resolve("y").toString()};
        String[] memory = {"-m", folder.resolve("z").toString()};
        for (boolean told : new boolean[] {true, false}) {
            Number end = new Number("test", 5, true);
            List<String> arguments = new ArrayList<>(List.of("--local-descriptor-path", files[0],
                    "--remote-descriptor-path", files[1]));
            arguments.addAll(told ? List.of(memory) : List.of());
            CompletableFuture<Integer> connecting =
                    startAlone(new Connecting(end), arguments.toArray(new String[0]));
            CompletableFuture<Integer> accepting = startAlone(new Accepting("test", 5), "-ld", files[1],
                    "-re", files[0], memory[0], memory[1]);
            assertThat(TestTimeouts.result(connecting)).isZero();
            assertThat(TestTimeouts.result(accepting)).isZero();
            assertThat(end.peerMemory).as("the end knows of the file: %s", told).hasSize(told ? 1 : 0);
            assertThat(folder).isEmptyDirectory();
        }
    }

    @Test
    void filesBesideAFolderAreRefused() throws Exception {
        assertThat(TestTimeouts.result(start(new Connecting("test", 5), "-ld", folder.resolve("x").toString(), "-re",
                folder.resolve("y").toString()))).isEqualTo(2);
        assertThat(folder).isEmptyDirectory();
    }

    /** The requests come to an event channel of the program's own. */
    @Test
    void channelsAdoptTheRequestsOfTheProgram() throws Exception {
        List<Number> accepting = List.of(new Number("test", 5, false), new Number("test", 6, false));
        try (EndPair pair = new EndPair()) {
            InetSocketAddress address = pair.adopt(accepting);
            pair.connect(address, new Number("test", 5, true));
            assertThat(TestTimeouts.result(accepting.get(0).result()).wrong()).isZero();
            Number second = new Number("test", 6, true);
            pair.connect(address, second);
            assertThat(TestTimeouts.result(accepting.get(1).result()).wrong()).isZero();
            TestTimeouts.result(second.result());
        }
    }

    @Test
    void deviceThatWouldBeIgnoredIsRefused() throws Exception {
        // Picocli's status for a wrong command line.
        assertThat(TestTimeouts.result(startAlone(new Accepting("test", 5), "--port", "0", "--adopt", "-d", "rdma0",
                "--timeout", "1"))).isEqualTo(2);
    }

    @Test
    void oneMoreThanTheProgramExpectsIsRejectedWithTheReason() throws Exception {
        List<Number> accepting = List.of(new Number("test", 5, false), new Number("test", 5, false));
        try (EndPair pair = new EndPair()) {
            InetSocketAddress address = pair.adopt(accepting);
            Number[] waiting = {new Number("test", 5, false), new Number("test", 5, false)};
            pair.connect(address, waiting[0]);
            pair.connect(address, waiting[1]);
            assertThatThrownBy(() -> pair.connect(address, new Number("test", 5, true)))
                    .isInstanceOf(ConnectException.class).hasMessageContaining("no more peers are expected");
        }
    }

    @Test
    void wrongResultIsTheExitStatus() throws Exception {
        CompletableFuture<Integer> accepting = start(new Accepting("test", 6));
        assertThat(TestTimeouts.result(start(new Connecting("test", 5)))).isZero();
        assertThat(TestTimeouts.result(accepting)).isOne();
    }

    @Test
    void endsThatWereStartedForDifferentThingsDoNotBegin() throws Exception {
        CompletableFuture<Integer> accepting = start(new Accepting("test", 5));
        assertThat(TestTimeouts.result(start(new Connecting("another", 5), "--timeout", "2"))).isOne();
        assertThat(TestTimeouts.result(accepting)).isOne();
    }

    @Test
    void nobodyThereIsAnErrorAndNotAHang() throws Exception {
        assertThat(TestTimeouts.result(start(new Connecting("test", 5), "--timeout", "1"))).isOne();
        assertThat(TestTimeouts.result(start(new Accepting("test", 5), "--timeout", "1"))).isOne();
        assertThat(folder).isEmptyDirectory();
    }

    private CompletableFuture<Integer> start(Program program, String... more) {
        List<String> arguments = new ArrayList<>(List.of("--descriptors", folder.toString()));
        arguments.addAll(List.of(more));
        return startAlone(program, arguments.toArray(new String[0]));
    }

    private static CompletableFuture<Integer> startAlone(Program program, String... more) {
        return CompletableFuture.supplyAsync(() -> {
            List<String> arguments = new ArrayList<>(List.of("--host", RunningServer.HOST));
            arguments.addAll(List.of(more));
            return Commands.run(program, arguments.toArray(new String[0]));
        });
    }

    /** A program. */
    private abstract static class Program implements Callable<Integer> {
        @Mixin
        VerbsOptions options;
        @Mixin
        ConnectionOptions connection;
        final Number end;

        Program(Number end) {
            this.end = end;
        }
    }

    @Command(name = "accepting")
    private static final class Accepting extends Program {
        Accepting(String name, int number) {
            super(new Number(name, number, false));
        }

        @Override
        public Integer call() throws Exception {
            return options.run(group -> {
                connection.accept(group, options.timeout(), List.of(end));
                return List.of(end.result());
            });
        }
    }

    @Command(name = "connecting")
    private static final class Connecting extends Program {
        Connecting(String name, int number) {
            this(new Number(name, number, true));
        }

        Connecting(Number end) {
            super(end);
        }

        @Override
        public Integer call() throws Exception {
            return options.run(group -> {
                connection.connect(group, options.timeout(), end, 0);
                return List.of(end.result());
            });
        }
    }

    /** One end tells a number, and the other says whether it has expected it. */
    private static final class Number extends VerbsEnd {
        private final int number;
        private final boolean tells;
        private volatile List<RemoteMemory> peerMemory = List.of();

        Number(String name, int number, boolean tells) {
            super(name);
            this.number = number;
            this.tells = tells;
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            RegisteredMemory memory = RegisteredMemory.allocate(Long.BYTES, Set.of(RdmaPermission.REMOTE_READ));
            whenClosed(memory::close);
            return List.of(channel.export(memory));
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
            peerMemory = peer.memory();
            if (tells) {
                write(ctx, new RdmaSend(Unpooled.copyInt(number)));
                ctx.flush();
                finish(ctx, new Result("telling", 1, 4, 0, 1));
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
            finish(ctx, new Result("being told", 1, 4, msg.content().readInt() == number ? 0 : 1, 1));
        }
    }
}
