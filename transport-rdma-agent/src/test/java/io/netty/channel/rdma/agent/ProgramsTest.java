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

import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import unmodified.Casts;
import unmodified.ReusePort;

import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Programs with and without the agent: the same answers, over RDMA or not.
 */
@Tag("platforms")
class ProgramsTest {
    private static final long MIB = 1024 * 1024;

    /** The program that each line names, with its arguments. */
    enum Case {
        /** Two connections, each there and back. */
        NIO_ECHO(16 * MIB, "NioEcho"),
        EPOLL_ECHO(8 * MIB, "EpollEcho"),
        HTTP(40 * MIB, "Http"),
        DATAGRAMS_AND_OTHERS_ON_A_LOOP_OF_NIO(8 * MIB, "NioLoop"),
        OPTIONS_OF_EPOLL(6, "Options epoll"),
        OPTIONS_OF_NIO(6, "Options nio"),
        LISTENERS_THAT_SHARE_A_PORT(32 * MIB, "ReusePort 0"),
        INITIALIZERS_OF_CLASSES_OF_NIO(8 * MIB, "Casts nio"),
        INITIALIZER_OF_A_CLASS_OF_EPOLL(8 * MIB, "Casts epoll"),
        /** From the client by the proxy's listener, and back; the server has TCP alone. */
        PROXY_THAT_CONNECTS_BY_THE_ACCEPTED_CLASS(20, "Proxy"),
        CHANNELS_OF_ITS_OWN(0, "OwnChannel"),
        FAILURES_OF_NIO(0, "Failures nio"),
        FAILURES_OF_EPOLL(0, "Failures epoll"),
        PEERS_OF_NIO_WITHOUT_NETTY(0, "Peers nio"),
        PEERS_OF_EPOLL_WITHOUT_NETTY(0, "Peers epoll"),
        SERVER_THAT_STARTS_AGAIN(16 * MIB, "Restart"),
        SHUTDOWN_OF_A_BUSY_SERVER(1, "BusyShutdown"),
        CAST_AFTER_INSTANCEOF(8 * MIB, "Casts guarded"),
        /** A cast gets the class that it asks for. */
        INITIALIZER_THAT_PASSES_ITS_CHANNEL_ON(0, "Casts nio-parameter"),
        CAST_OF_A_CONFIGURATION(0, "Casts config");

        private final long bytes;
        private final String program;

        Case(long bytes, String program) {
            this.bytes = bytes;
            this.program = program;
        }

        ProgramResult without() throws Exception {
            return Program.several(ALL).withJvmOption(PARANOID).run().of(program);
        }

        ProgramResult with() throws Exception {
            return Program.several(SWAPPED.contains(program) ? SWAPPED : CAST).withJvmOption(PARANOID).withAgent().run()
                    .of(program);
        }
    }

    private static final String PARANOID = "-Dio.netty.leakDetection.level=paranoid";
    private static final List<String> ALL = programs(Case.NIO_ECHO, Case.CAST_OF_A_CONFIGURATION);
    private static final List<String> SWAPPED = programs(Case.NIO_ECHO, Case.CAST_AFTER_INSTANCEOF);
    /** In a JVM of their own, where no others that have been swapped before are cast. */
    private static final List<String> CAST =
            programs(Case.INITIALIZER_THAT_PASSES_ITS_CHANNEL_ON, Case.CAST_OF_A_CONFIGURATION);

    private static List<String> programs(Case first, Case last) {
        return EnumSet.range(first, last).stream().map(each -> each.program).toList();
    }

    private static void assertSame(ProgramResult with, ProgramResult without, long bytes) {
        assertThat(without.isSuccess()).as(without::toString).isTrue();
        assertThat(with.answers()).as(with::toString).isEqualTo(without.answers());
        assertThat(with.isSuccess()).as(with::toString).isTrue();
        assertThat(with.lines("Unknown channel option")).hasSameSizeAs(without.lines("Unknown channel option"));
        if (bytes == 0) {
            assertThat(with.bytesOverRdma()).as(with::toString).isZero();
        } else {
            assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(bytes);
        }
        assertThat(without.errors()).as(without::toString).noneMatch(line -> line.contains("rdma-agent"));
    }

    @ParameterizedTest
    @EnumSource
    void givesTheSameAnswers(Case each) throws Exception {
        assertSame(each.with(), each.without(), each.bytes);
    }

    /** The agent's summary, at the end of the JVM, is behind what the programs have said. */
    @Test
    void noHookHasThrown() throws Exception {
        for (List<String> programs : List.of(SWAPPED, CAST)) {
            ProgramResult with = Program.several(programs).withJvmOption(PARANOID).withAgent().run();
            List<String> summary = with.errors().subList(with.errors().lastIndexOf("program") + 1,
                    with.errors().size());
            assertThat(summary).as(with::toString)
                    .anyMatch(line -> line.startsWith("netty-transport-rdma-agent: swapped "))
                    .noneMatch(line -> line.contains("agent: failed"));
        }
    }

    /** The program that runs all the others leaks one buffer by itself. */
    @Test
    void nothingLeaks() throws Exception {
        ProgramResult with = Program.several(SWAPPED).withJvmOption(PARANOID).withAgent().run();
        assertThat(with.lines("LEAK: ")).as(with::toString).hasSize(1);
        assertThat(with.lines("leaked on purpose")).as(with::toString).isNotEmpty();
    }

    @Test
    void classesThatWereSwappedAreReportedOnceInTheLog() throws Exception {
        ProgramResult with = Program.several(SWAPPED).withJvmOption(PARANOID).withAgent().run();
        for (Class<?> type : new Class<?>[] {EpollIoHandler.class, EpollServerSocketChannel.class,
                EpollSocketChannel.class}) {
            assertThat(with.lines("takes the place of " + type.getName())).as(with::toString).hasSize(1);
        }
    }

    @ParameterizedTest
    @EnumSource(names = { "INITIALIZER_THAT_PASSES_ITS_CHANNEL_ON", "CAST_OF_A_CONFIGURATION" })
    void castIsReportedOnceForEachClassThatStays(Case each) throws Exception {
        ProgramResult with = each.with();
        Class<?> type = each == Case.CAST_OF_A_CONFIGURATION ? EpollSocketChannel.class : NioSocketChannel.class;
        assertThat(with.lines(type.getName() + " stays as it is: " + Casts.class.getName())).as(with::toString)
                .hasSize(1);
        // Programs that give a library event loops for RDMA get this line.
        assertThat(with.lines("give your library")).as(with::toString).isEmpty();
    }

    @Test
    void castThatIsFoundTooLateIsReported() throws Exception {
        ProgramResult with = Program.of(Casts.class, "late").withAgent().run();
        assertThat(with.answers()).as(with::toString).isEqualTo(Program.of(Casts.class, "late").run().answers());
        assertThat(with.lines("will fail with a ClassCastException: it was loaded when others had taken the place of " +
                EpollSocketChannel.class.getName())).as(with::toString).hasSize(1);
        // The first one is over RDMA, the second one is what is cast to.
        assertThat(with.swapped(EpollSocketChannel.class)).as(with::toString).isOne();
    }

    @ParameterizedTest
    @EnumSource(names = { "FAILURES_OF_NIO", "FAILURES_OF_EPOLL" })
    void whatFailsFailsAlthoughItWasSwapped(Case each) throws Exception {
        ProgramResult with = each.with();
        assertThat(with.swapped(each == Case.FAILURES_OF_NIO ? NioSocketChannel.class : EpollSocketChannel.class))
                .isEqualTo(2);
    }

    @Test
    void processesThatShareAPortHaveTheListenerForRdmaOfTheFirst() throws Exception {
        try (RunningProgram first = Program.of(ReusePort.class, "wait").withAgent().start()) {
            String port = first.line("port");
            ProgramResult second = Program.of(ReusePort.class, port).withAgent().run();
            assertSame(second, Case.LISTENERS_THAT_SHARE_A_PORT.without(), 16 * MIB);
            assertThat(second.lines("agent: failed")).as(second::toString).isEmpty();
            assertThat(first.end().bytesOverRdma()).isGreaterThanOrEqualTo(16 * MIB);
        }
    }
}
