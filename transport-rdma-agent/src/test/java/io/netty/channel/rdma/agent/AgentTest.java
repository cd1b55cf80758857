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

import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import unmodified.OldNioEcho;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class AgentTest {
    private static final long MIB = 1024 * 1024;

    /** As of most libraries: NIO, and no epoll on the class path. */
    @Test
    void programOfNioHasRdma() throws Exception {
        ProgramResult without = Program.of(OldNioEcho.class).withoutEpoll().run();
        ProgramResult with = Program.of(OldNioEcho.class).withoutEpoll().withAgent().run();
        assertThat(without.exitStatus()).as(without::toString).isZero();
        assertThat(with.answers()).as(with::toString).isEqualTo(without.answers());
        assertThat(with.exitStatus()).as(with::toString).isZero();
        assertThat(with.swapped(NioIoHandler.class)).isEqualTo(2);
        assertThat(with.swapped(NioServerSocketChannel.class)).isOne();
        assertThat(with.swapped(NioSocketChannel.class)).isOne();
        // There and back. Memory of the default allocator of a channel for RDMA is sent as it is.
        assertThat(with.count("bytesSentInPlace")).as(with::toString).isEqualTo(8 * MIB);
        assertThat(with.bytesOverRdma()).as(with::toString).isEqualTo(8 * MIB);
    }
}
