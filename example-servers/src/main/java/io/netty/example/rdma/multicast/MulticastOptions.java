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
package io.netty.example.rdma.multicast;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.DeviceChoice;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The command line options for which group it is, and on which device.
 */
public final class MulticastOptions {
    /** The user event of a channel that has joined. */
    static final Object JOINED = new Object();
    /** A subscriber that is held up for a while should not lose anything yet: 4 MiB with the longest datagrams. */
    private static final int RECEIVE_QUEUE_DEPTH = 1024;

    @Option(names = "--group", defaultValue = "239.195.8.8",
            description = "The address of the group (default: ${DEFAULT-VALUE}).")
    private InetAddress group;

    @Option(names = "--host", description = "The address of this host that chooses the device (default: 127.0.0.1, or "
            + "that of an RDMA device if there is one).")
    private String host;

    @Mixin
    private DeviceChoice device;

    /** The group as a recipient. */
    InetSocketAddress group() {
        return new InetSocketAddress(group, 0);
    }

    /** Binds a channel and joins the group. Not on an event loop. */
    RdmaDatagramChannel join(EventLoopGroup loops, MulticastEnd end) throws Exception {
        RdmaDatagramChannel channel = (RdmaDatagramChannel) device.of(new Bootstrap()).group(loops)
                .channel(RdmaDatagramChannel.class).option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RECEIVE_QUEUE_DEPTH)
                .handler(end).bind(host != null ? host : device.isNamed() ? "0.0.0.0" : LocalHost.address(), 0).sync()
                .channel();
        if (!channel.capabilities().supportsMulticast()) {
            throw new UnsupportedOperationException(channel.capabilities().deviceName() + " has no multicast");
        }
        channel.joinGroup(group).sync();
        channel.pipeline().fireUserEventTriggered(JOINED);
        return channel;
    }
}
