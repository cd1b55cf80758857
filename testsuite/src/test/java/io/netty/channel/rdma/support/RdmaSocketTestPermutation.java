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
package io.netty.channel.rdma.support;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestScope;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.leakcheck.LeftChannels;
import io.netty.channel.rdma.ortcp.RdmaOrTcpChoice;
import io.netty.channel.rdma.ortcp.RdmaOrTcpRule;
import io.netty.channel.rdma.ortcp.RdmaOrTcpServerSocketChannel;
import io.netty.channel.rdma.ortcp.RdmaOrTcpSocketChannel;
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
 * RDMA channels at both ends; or those of {@code bootstrap}, over each transport. Unlike with epoll there is no mixing
 * with other transports: the wire is another one.
 */
public final class RdmaSocketTestPermutation extends SocketTestPermutation {
    public static final RdmaSocketTestPermutation INSTANCE = new RdmaSocketTestPermutation();

    public static final EventLoopGroup RDMA_BOSS_GROUP = new TestGroup(1, "testsuite-rdma-boss");
    public static final EventLoopGroup RDMA_WORKER_GROUP = new TestGroup(NUM_THREADS, "testsuite-rdma-worker");

    /** True if channels are made that decide when they connect: see {@code RdmaOrTcpTestsuiteTest}. */
    private static volatile boolean choosing;

    private RdmaSocketTestPermutation() {
    }

    /** From now on, channels decide when they connect, or don't. */
    public static void choose(boolean choose) {
        choosing = choose;
    }

    /**
     * Returns whether tests of many variants are to run some of them: everything takes long, or all of them run
     * elsewhere.
     */
    public static boolean isSample() {
        return choosing || TestTimeouts.MULTIPLIER > 1 || !TestScope.ALL;
    }

    /**
     * Where servers bind, with a free port: the property {@code io.netty.rdma.test.address}, by default the loopback
     * address. A kernel device needs the address of its network interface.
     */
    public static SocketAddress newSocketAddress() {
        String address = SystemPropertyUtil.get("io.netty.rdma.test.address");
        return address == null ? new InetSocketAddress(NetUtil.LOCALHOST, 0) : new InetSocketAddress(address, 0);
    }

    /**
     * Netty's own allocators, whose memory is not registered, and ours, whose memory is sent in place. Where not all
     * variants run, one of Netty's stands for all. Which transport a connection takes does not depend on them.
     */
    public static List<ByteBufAllocator> newAllocators() {
        List<ByteBufAllocator> allocators = new ArrayList<>(TestsuitePermutation.allocator());
        if (choosing && !TestScope.ALL) {
            allocators.clear();
        } else if (isSample()) {
            allocators.subList(0, allocators.size() - 1).clear();
        }
        allocators.add(RdmaByteBufAllocator.DEFAULT);
        return allocators;
    }

    @Override
    public List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> socket() {
        List<BootstrapFactory<Bootstrap>> clients = new ArrayList<>(clientSocket());
        if (choosing) {
            clients.add(client(() -> new RdmaOrTcpSocketChannel(RdmaOrTcpRule.always(RdmaOrTcpChoice.TCP_ONLY))));
        }
        return combo(serverSocket(), clients);
    }

    @Override
    public List<BootstrapFactory<ServerBootstrap>> serverSocket() {
        return Collections.singletonList(() -> new ServerBootstrap().group(RDMA_BOSS_GROUP, RDMA_WORKER_GROUP)
                .channel(choosing ? RdmaOrTcpServerSocketChannel.class : RdmaServerSocketChannel.class));
    }

    @Override
    public List<BootstrapFactory<Bootstrap>> clientSocket() {
        return Collections.singletonList(client(choosing ? RdmaOrTcpSocketChannel::new : RdmaSocketChannel::new));
    }

    private static BootstrapFactory<Bootstrap> client(ChannelFactory<Channel> factory) {
        return () -> new Bootstrap().group(RDMA_WORKER_GROUP).channelFactory(factory);
    }

    /** Has channels of TCP closed after the class of tests; those of RDMA end with their peers. */
    private static final class TestGroup extends MultiThreadIoEventLoopGroup {
        TestGroup(int threads, String name) {
            super(threads, new DefaultThreadFactory(name, true), RdmaIoHandler.newFactory());
        }

        @Override
        public ChannelFuture register(Channel channel) {
            if (choosing) {
                LeftChannels.add(channel);
            }
            return super.register(channel);
        }
    }
}
