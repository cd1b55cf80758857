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
package io.netty.channel.rdma.ortcp;

import io.netty.util.internal.ObjectUtil;

import java.net.InetSocketAddress;

/**
 * Chooses the transports that a connection or a listener may take, by host and port. {@link RdmaOrTcpSocketChannel} and
 * {@link RdmaOrTcpServerSocketChannel} take a rule by their constructors or by the option {@link
 * RdmaOrTcpChannelOption#TRANSPORT_RULE}:
 * <pre>
 * RdmaOrTcpRule rule = address -&gt;
 *         address.getPort() == 5432 ? RdmaOrTcpChoice.TCP_ONLY : RdmaOrTcpChoice.RDMA_OR_TCP;
 * bootstrap.channelFactory(() -&gt; new RdmaOrTcpSocketChannel(rule));
 * </pre>
 * Several event loops may call a rule at once. It must not block, for example look up names.
 */
@FunctionalInterface
public interface RdmaOrTcpRule {
    /**
     * @param address the resolved address that the client connects to, or the address that the server binds, perhaps a
     *                wildcard address or port 0. {@link InetSocketAddress#getHostString()} is the name if Netty has
     *                resolved it.
     * @return not {@code null}. An exception of this method fails the connect or the bind.
     */
    RdmaOrTcpChoice choose(InetSocketAddress address);

    /** A rule with the same choice for all addresses. */
    static RdmaOrTcpRule always(RdmaOrTcpChoice choice) {
        ObjectUtil.checkNotNull(choice, "choice");
        return address -> choice;
    }
}
