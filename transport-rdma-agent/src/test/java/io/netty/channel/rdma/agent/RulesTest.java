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

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Addresses with RDMA, by the options of the agent.
 */
@Tag("platforms")
class RulesTest {
    private static final long MIB = 1024 * 1024;

    private static final String OPTIONS = "clients=!127.0.0.2,!127.0.1.0/24,127.0.0.0/8,servers=!127.0.0.3,*";

    private static ProgramResult echo(String address) throws Exception {
        return Program.several(List.of("EpollEcho 127.0.0.1", "EpollEcho 127.0.0.2", "EpollEcho 127.0.1.1",
                "EpollEcho 127.0.0.3")).withAgent(OPTIONS).run().of("EpollEcho " + address);
    }

    /** By a host and a network among clients, and as a server. */
    @ParameterizedTest
    @ValueSource(strings = { "127.0.0.2", "127.0.1.1", "127.0.0.3" })
    void addressThatIsExcludedHasTcp(String address) throws Exception {
        ProgramResult with = echo(address);
        assertThat(with.answers()).as(with::toString).contains("all came back: true, the same: true");
        assertThat(with.bytesOverRdma()).as(with::toString).isZero();
        assertThat(with.count("tcpAccepts")).as(with::toString).isOne();
    }

    @Test
    void addressThatIsNotExcludedHasRdma() throws Exception {
        ProgramResult with = echo("127.0.0.1");
        assertThat(with.answers()).as(with::toString).contains("all came back: true, the same: true");
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(8 * MIB);
    }

    private static ProgramResult required(String program) throws Exception {
        return Program.several(List.of("EpollEcho", "Peers epoll", "Casts config")).withAgent("require").run()
                .of(program);
    }

    @Test
    void requiredRdmaIsThere() throws Exception {
        ProgramResult with = required("EpollEcho");
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(8 * MIB);
    }

    @Test
    void requiredRdmaFailsAClientWhosePeerHasTcpAlone() throws Exception {
        ProgramResult with = required("Peers epoll");
        assertThat(with.answers()).as(with::toString).containsExactly("client: 10", "ended: true");
        assertThat(with.lines("ConnectException")).as(with::toString).isNotEmpty();
    }

    @Test
    void requiredRdmaFailsAChannelThatIsCast() throws Exception {
        ProgramResult with = required("Casts config");
        assertThat(with.answers()).as(with::toString).containsExactly("ended: true");
        assertThat(with.lines("RDMA is required by the options")).as(with::toString).isNotEmpty();
    }
}
