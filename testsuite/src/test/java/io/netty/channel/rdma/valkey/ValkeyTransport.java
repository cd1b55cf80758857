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
package io.netty.channel.rdma.valkey;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;

import java.net.SocketAddress;

/**
 * Ways to a server of Valkey. The server and the pipeline are the same on each, and so are the answers.
 */
enum ValkeyTransport {
    TCP(EpollSocketChannel.class),
    RDMA(RdmaValkeySocketChannel.class),
    UNIX(EpollDomainSocketChannel.class) {
        @Override
        SocketAddress address(ValkeyServer server) {
            return new DomainSocketAddress(server.socket().toString());
        }
    };

    private final Class<? extends Channel> channelType;

    ValkeyTransport(Class<? extends Channel> channelType) {
        this.channelType = channelType;
    }

    Class<? extends Channel> channelType() {
        return channelType;
    }

    SocketAddress address(ValkeyServer server) {
        return server.address();
    }
}
