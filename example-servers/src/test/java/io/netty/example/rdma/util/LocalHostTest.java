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
package io.netty.example.rdma.util;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.example.rdma.util.Transport.Waiting;
import org.junit.jupiter.params.ParameterizedTest;

import static org.assertj.core.api.Assertions.assertThat;

class LocalHostTest {
    @ParameterizedTest
    @EachTransport(tcp = true)
    void everyTransportCanListenThere(Transport transport) throws Exception {
        MultiThreadIoEventLoopGroup group = transport.newGroup(1, Waiting.DEFAULT);
        try {
            assertThat(new ServerBootstrap().group(group).channel(transport.serverChannelType())
                    .childHandler(new ChannelInboundHandlerAdapter()).bind(LocalHost.address(), 0).sync().channel()
                    .localAddress().toString()).contains(LocalHost.address());
        } finally {
            group.shutdownGracefully().sync();
        }
    }
}
