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

import io.netty.channel.rdma.TestScope;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Libraries on Netty as they are published: the same answers with and without the agent, over RDMA.
 */
@Tag("platforms")
class LibrariesTest {
    private static final long MIB = 1024 * 1024;

    enum Library {
        GRPC("Grpc", 40 * MIB, false),
        ARMERIA("Armeria", 80 * MIB, false),
        ASYNC_HTTP_CLIENT("AsyncHttp", 20 * MIB, false),
        LETTUCE("Redis", 2 * MIB, false),
        REACTOR_NETTY_AND_RSOCKET("ReactorNetty", 60 * MIB, false),
        VERTX("VertxHttp", 20 * MIB, false),
        AWS_SDK("AwsSdk", 20 * MIB, true),
        SPRING_WEBFLUX("WebFlux", 20 * MIB, true),
        KTOR("Ktor", 20 * MIB, true),
        /** Version 5 on Java 25, for which it is made (lane {@code platforms}). */
        MICRONAUT("Micronaut", 20 * MIB, Runtime.version().feature() < 25);

        private final String program;
        private final long bytes;
        /** Only with all tests. */
        private final boolean isLong;

        Library(String program, long bytes, boolean isLong) {
            this.program = program;
            this.bytes = bytes;
            this.isLong = isLong;
        }
    }

    static List<Library> libraries() {
        return Arrays.stream(Library.values()).filter(each -> TestScope.ALL || !each.isLong).toList();
    }

    private static Program program() {
        return Program.several(libraries().stream().map(each -> each.program).toList());
    }

    @ParameterizedTest
    @MethodSource("libraries")
    void runsOverRdma(Library library) throws Exception {
        ProgramResult without = program().run().of(library.program);
        ProgramResult with = program().withAgent().run().of(library.program);
        assertThat(without.isSuccess()).as(without::toString).isTrue();
        assertThat(with.answers()).as(with::toString).isEqualTo(without.answers());
        assertThat(with.isSuccess()).as(with::toString).isTrue();
        // The agent's summary, at the end of the JVM, is in no library's part.
        assertThat(program().withAgent().run().lines("agent: failed")).as(with::toString).isEmpty();
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(library.bytes);
        assertThat(with.count("tcpConnects")).as(with::toString).isZero();
        // The bytes that go by way of registered memory of the transport, as they were in other memory.
        System.out.println(library + ": " + with.count("bytesSentInPlace") + " bytes in place, " +
                with.count("bytesSentCopied") + " copied");
    }
}
