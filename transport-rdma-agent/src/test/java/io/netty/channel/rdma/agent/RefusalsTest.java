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
package io.netty.channel.rdma.agent;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import unmodified.EpollEcho;
import unmodified.IoUringEcho;
import unmodified.NioEcho;
import unmodified.OldNioEcho;
import unmodified.OtherNetty;

import java.io.IOException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Refusals: if the agent can't do something, or is told not to, it logs one line, and the program is as it was.
 */
@Tag("platforms")
class RefusalsTest {
    private static void assertUnchanged(ProgramResult with, Program without, String... words)
            throws IOException, InterruptedException {
        assertThat(with.answers()).as(with::toString).isEqualTo(without.run().answers());
        assertThat(with.exitStatus()).as(with::toString).isZero();
        assertThat(with.bytesOverRdma()).isZero();
        for (String each : words) {
            assertThat(with.lines(each)).as(with::toString).hasSize(1);
        }
    }

    @Test
    void offDoesNothing() throws Exception {
        ProgramResult with = Program.of(NioEcho.class).withAgent("off").run();
        assertUnchanged(with, Program.of(NioEcho.class));
        assertThat(with.lines("agent")).isEmpty();
    }

    @Test
    void nettyOf41StaysAsItIs() throws Exception {
        assertUnchanged(Program.of(OldNioEcho.class).withNetty("netty-4.1").withAgent().run(),
                Program.of(OldNioEcho.class).withoutEpoll(), "Netty is 4.1");
    }

    @ParameterizedTest
    @ValueSource(strings = { "netty-oldest", "netty-newest" })
    void oldestAndNewestNettyHaveRdma(String folder) throws Exception {
        ProgramResult with = Program.of(OldNioEcho.class).withNetty(folder).withoutEpoll().withAgent().run();
        assertThat(with.answers()).as(with::toString).isEqualTo(Program.of(OldNioEcho.class).withoutEpoll().run()
                .answers());
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThan(4 * 1024 * 1024);
    }

    @Test
    void copyOfNettyUnderAnotherNameStaysAsItIs() throws Exception {
        assertUnchanged(Program.of(OtherNetty.class).withAgent().run(), Program.of(OtherNetty.class),
                "other.io.netty.bootstrap.AbstractBootstrap is a copy of Netty");
    }

    @Test
    void nettyOnTheModulePathStaysAsItIs() throws Exception {
        assertUnchanged(Program.of(OldNioEcho.class).withoutLibraries().withJvmOption("--module-path",
                "target/netty-newest", "--add-modules", "ALL-MODULE-PATH").withAgent().run(),
                Program.of(OldNioEcho.class).withoutEpoll(), "Netty is on the module path");
    }

    @Test
    void withoutNativeLibrariesTheProgramHasNoRdma() throws Exception {
        ProgramResult with = Program.of(NioEcho.class).withJvmOption("-Dio.netty.transport.noNative=true").withAgent()
                .run();
        assertUnchanged(with, Program.of(NioEcho.class), "NioSocketChannel stays as it is: ");
    }

    @Test
    void withoutAProviderTheProgramHasNoRdma() throws Exception {
        ProgramResult with = Program.of(EpollEcho.class).withJvmOption("-Dio.netty.rdma.provider=none").withAgent()
                .run();
        assertUnchanged(with, Program.of(EpollEcho.class), "EpollSocketChannel stays as it is: ");
    }

    /** Where the kernel forbids io_uring, programs choose another transport by themselves. */
    @Test
    void programOnIoUringStaysAsItIs() throws Exception {
        ProgramResult with = Program.of(IoUringEcho.class).withIoUring().withAgent().run();
        assertUnchanged(with, Program.of(IoUringEcho.class).withIoUring());
        assumeThat(with.answers()).contains("available: true");
        for (String type : new String[] {"IoUringIoHandler", "IoUringServerSocketChannel", "IoUringSocketChannel"}) {
            assertThat(with.lines("io.netty.channel.uring." + type + " stays as it is: ")).as(with::toString)
                    .hasSize(1);
        }
    }

    @Test
    void mistakeInTheOptionsEndsTheJvm() throws Exception {
        ProgramResult with = Program.of(NioEcho.class).withAgent("server=*").run();
        assertThat(with.exitStatus()).isNotZero();
        assertThat(with.answers()).as(with::toString).doesNotContain("ended: true");
        assertThat(with.lines("unknown option 'server=*'")).isNotEmpty();
    }

    @Test
    void processThatRequiresRdmaEndsWhereNettyCannotHaveIt() throws Exception {
        ProgramResult with = Program.of(OldNioEcho.class).withNetty("netty-4.1").withAgent("require").run();
        assertThat(with.exitStatus()).isNotZero();
        assertThat(with.answers()).isEmpty();
        assertThat(with.lines("RDMA is required")).as(with::toString).hasSize(1);
    }
}
