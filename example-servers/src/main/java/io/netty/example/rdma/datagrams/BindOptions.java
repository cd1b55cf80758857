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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.DeviceChoice;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;

/**
 * The command line options for the address of a channel.
 */
final class BindOptions {
    /** Number of receives for a receiver that is held up for a while: 4 MiB with the longest datagrams. */
    private static final int RECEIVE_QUEUE_DEPTH = 1024;

    @Option(names = "--host", description = "The address of this host that chooses the device (default: 127.0.0.1, or "
            + "that of an RDMA device if there is one).")
    private String host;

    @Mixin
    private DeviceChoice device;

    /** Address that was chosen, or the default one. */
    String host() throws IOException {
        return host != null ? host : LocalHost.address();
    }

    /** Binds a channel. Not to be called on an event loop. */
    RdmaDatagramChannel bind(EventLoopGroup loops, DatagramEnd end, int port) throws Exception {
        return (RdmaDatagramChannel) device.of(new Bootstrap()).group(loops)
                .channel(RdmaDatagramChannel.class).option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, RECEIVE_QUEUE_DEPTH)
                .handler(end).bind(host == null && device.isNamed() ? "0.0.0.0" : host(), port).sync().channel();
    }
}
