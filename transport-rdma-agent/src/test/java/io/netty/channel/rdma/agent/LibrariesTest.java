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

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import unmodified.Armeria;
import unmodified.AsyncHttp;
import unmodified.Grpc;
import unmodified.Redis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Libraries on Netty as they are published, none of which can be given a class of channels, but gRPC: the same answers
 * with and without the agent, over RDMA.
 */
class LibrariesTest {
    private static final long MIB = 1024 * 1024;

    enum Library {
        GRPC(Grpc.class, 40 * MIB),
        ARMERIA(Armeria.class, 40 * MIB),
        ASYNC_HTTP_CLIENT(AsyncHttp.class, 20 * MIB),
        LETTUCE(Redis.class, 2 * MIB);

        private final Class<?> main;
        private final long bytes;

        Library(Class<?> main, long bytes) {
            this.main = main;
            this.bytes = bytes;
        }
    }

    @ParameterizedTest
    @EnumSource
    void runsOverRdma(Library library) throws Exception {
        ProgramResult without = Program.of(library.main).run();
        ProgramResult with = Program.of(library.main).withAgent().run();
        assertThat(without.exitStatus()).as(without::toString).isZero();
        assertThat(with.answers()).as(with::toString).isEqualTo(without.answers());
        assertThat(with.exitStatus()).as(with::toString).isZero();
        assertThat(with.lines("agent: failed")).as(with::toString).isEmpty();
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(library.bytes);
        assertThat(with.count("tcpConnects")).as(with::toString).isZero();
        // The bytes that go by way of registered memory of the transport, as they were in other memory, are few.
        System.out.println(library + ": " + with.count("bytesSentInPlace") + " bytes in place, " +
                with.count("bytesSentCopied") + " copied");
    }
}
