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
package io.netty.channel.rdma.leakcheck;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.Rdma;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.VerbsApi;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Opens what a process opens once and keeps, so that it is there before anything is counted: no class of tests is then
 * blamed for having been the first one to use it.
 */
final class OpenedOnce {
    /**
     * The configuration parameter of JUnit with names of classes, separated by commas, whose static fields hold
     * event loops that are never shut down.
     */
    private static final String CLASSES = "io.netty.channel.rdma.leakcheck.classes";
    /**
     * The embedded provider frees its resources for peers a second after its last object, and makes them again for the
     * next one. So there is always an object.
     */
    private static final List<Device> HELD = new ArrayList<>();
    private static boolean done;

    private OpenedOnce() {
    }

    static synchronized void open(ExtensionContext context) {
        if (done) {
            return;
        }
        done = true;
        try {
            openDescriptorOfClosedSockets();
            if (Rdma.isAvailable()) {
                connect();
                for (VerbsApi verbs : VerbsApi.usable()) {
                    for (String name : Device.names(verbs)) {
                        HELD.add(Device.open(verbs, name));
                    }
                }
            }
            for (String name : context.getConfigurationParameter(CLASSES).orElse("").split(",\\s*")) {
                if (!name.isEmpty()) {
                    Class.forName(name);
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** The JDK has one half-closed socket, whose descriptor takes the place of each socket that is being closed. */
    private static void openDescriptorOfClosedSockets() throws IOException {
        SocketChannel.open().close();
    }

    /** The connection manager's devices. */
    private static void connect() throws InterruptedException {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        try {
            Channel server = new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                    .childHandler(new ChannelInboundHandlerAdapter())
                    .bind(TestAddress.anyPort()).sync().channel();
            new Bootstrap().group(group).channel(RdmaSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .connect((InetSocketAddress) server.localAddress()).sync().channel().close().sync();
        } finally {
            group.shutdownGracefully(0, TestTimeouts.SECONDS, TimeUnit.SECONDS).sync();
        }
    }
}
