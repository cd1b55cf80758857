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

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import unmodified.Casts;
import unmodified.EpollEcho;
import unmodified.Peers;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Addresses with RDMA, by the options of the agent.
 */
class RulesTest {
    private static final long MIB = 1024 * 1024;

    @ParameterizedTest
    @ValueSource(strings = { "clients=!*", "servers=!*", "clients=!127.0.0.0/8", "clients=10.0.0.0/8", "servers=*:1" })
    void addressThatIsExcludedHasTcp(String options) throws Exception {
        ProgramResult with = Program.of(EpollEcho.class).withAgent(options).run();
        assertThat(with.answers()).as(with::toString).isEqualTo(Program.of(EpollEcho.class).run().answers());
        assertThat(with.bytesOverRdma()).as(with::toString).isZero();
        assertThat(with.count("tcpAccepts")).as(with::toString).isOne();
    }

    @ParameterizedTest
    @ValueSource(strings = { "clients=!*:80", "clients=127.0.0.1", "servers=127.0.0.0/8,!*", "require" })
    void addressThatIsNotExcludedHasRdma(String options) throws Exception {
        ProgramResult with = Program.of(EpollEcho.class).withAgent(options).run();
        assertThat(with.answers()).as(with::toString).isEqualTo(Program.of(EpollEcho.class).run().answers());
        assertThat(with.bytesOverRdma()).as(with::toString).isGreaterThanOrEqualTo(8 * MIB);
    }

    @Test
    void requiredRdmaFailsAClientWhosePeerHasTcpAlone() throws Exception {
        ProgramResult with = Program.of(Peers.class, "epoll").withAgent("require").run();
        assertThat(with.answers()).as(with::toString).containsExactly("client: 10", "ended: true");
        assertThat(with.lines("ConnectException")).as(with::toString).isNotEmpty();
    }

    @Test
    void requiredRdmaFailsAChannelThatIsCast() throws Exception {
        ProgramResult with = Program.of(Casts.class, "config").withAgent("require").run();
        assertThat(with.answers()).as(with::toString).containsExactly("ended: true");
        assertThat(with.lines("RDMA is required by the options")).as(with::toString).isNotEmpty();
    }
}
