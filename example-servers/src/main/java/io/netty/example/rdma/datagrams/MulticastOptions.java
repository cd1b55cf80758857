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
package io.netty.example.rdma.datagrams;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The command line options for which group it is, and on which device.
 */
final class MulticastOptions {
    @Option(names = "--group", defaultValue = "239.195.8.8",
            description = "The address of the group (default: ${DEFAULT-VALUE}).")
    private InetAddress group;

    @Mixin
    private BindOptions local;

    /** The group as a recipient. */
    InetSocketAddress group() {
        return new InetSocketAddress(group, 0);
    }

    /** Binds a channel and joins the group. Not on an event loop. */
    void join(EventLoopGroup loops, DatagramEnd end) throws Exception {
        RdmaDatagramChannel channel = local.bind(loops, end, 0);
        if (!channel.capabilities().supportsMulticast()) {
            throw new UnsupportedOperationException(channel.capabilities().deviceName() + " has no multicast");
        }
        channel.joinGroup(group).sync();
        channel.pipeline().fireUserEventTriggered(DatagramEnd.READY);
    }
}
