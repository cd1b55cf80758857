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
package io.netty.channel.rdma.agent.hooks;

import io.netty.channel.rdma.agent.options.AddressPattern;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;

import java.net.InetSocketAddress;

/** Addresses that may have RDMA, by the options of the agent. */
final class Rules {
    /** Resolvers use TCP for answers that are too large for a datagram, and no name server speaks RDMA. */
    private static final int DNS_PORT = 53;

    private Rules() { }

    static RdmaOrTcpChoice ofClient(InetSocketAddress address) {
        if (address.getPort() == DNS_PORT || !AddressPattern.allows(Shared.OPTIONS.clients(), address)) {
            return RdmaOrTcpChoice.TCP_ONLY;
        }
        return Shared.OPTIONS.isRequire() ? RdmaOrTcpChoice.RDMA_ONLY : RdmaOrTcpChoice.RDMA_OR_TCP;
    }

    static RdmaOrTcpChoice ofServer(InetSocketAddress address) {
        if (!AddressPattern.allows(Shared.OPTIONS.servers(), address)) {
            return RdmaOrTcpChoice.TCP_ONLY;
        }
        return Shared.OPTIONS.isRequire() ? RdmaOrTcpChoice.RDMA_AND_TCP : RdmaOrTcpChoice.RDMA_IF_POSSIBLE;
    }
}
