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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketTestPermutation;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.internal.SystemPropertyUtil;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * RDMA channels at both ends. Unlike with epoll there is no mixing with other transports: the wire is another one.
 */
final class RdmaSocketTestPermutation extends SocketTestPermutation {
    static final RdmaSocketTestPermutation INSTANCE = new RdmaSocketTestPermutation();

    static final EventLoopGroup RDMA_BOSS_GROUP = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("testsuite-rdma-boss", true), RdmaIoHandler.newFactory());
    static final EventLoopGroup RDMA_WORKER_GROUP = new MultiThreadIoEventLoopGroup(
            NUM_THREADS, new DefaultThreadFactory("testsuite-rdma-worker", true), RdmaIoHandler.newFactory());

    private RdmaSocketTestPermutation() {
    }

    /**
     * Where servers bind, with a free port: the property {@code io.netty.rdma.test.address}, by default the loopback
     * address. A kernel device needs the address of its network interface.
     */
    static SocketAddress newSocketAddress() {
        String address = SystemPropertyUtil.get("io.netty.rdma.test.address");
        return address == null ? new InetSocketAddress(NetUtil.LOCALHOST, 0) : new InetSocketAddress(address, 0);
    }

    /**
     * Netty's own allocators, whose memory is not registered, and ours, whose memory is sent in place. Where everything
     * takes long, one of Netty's stands for all.
     */
    static List<ByteBufAllocator> newAllocators() {
        List<ByteBufAllocator> allocators = new ArrayList<>(TestsuitePermutation.allocator());
        if (TestTimeouts.MULTIPLIER > 1) {
            allocators.subList(0, allocators.size() - 1).clear();
        }
        allocators.add(RdmaByteBufAllocator.DEFAULT);
        return allocators;
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        return combo(serverSocket(), clientSocket());
    }

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return Collections.singletonList(() -> new ServerBootstrap().group(RDMA_BOSS_GROUP, RDMA_WORKER_GROUP)
                .channel(RdmaServerSocketChannel.class));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return Collections.singletonList(() -> new Bootstrap().group(RDMA_WORKER_GROUP)
                .channel(RdmaSocketChannel.class));
    }
}
