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
package io.netty.example.rdma.reconnect;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;

/**
 * Is connected to a server of numbers, whatever becomes of the connections.
 */
@Command(name = "ticker-client", description = "Has a ticker-server write numbers into its memory until there were "
        + "--count, and connects again whenever the connection ends or there is no server.")
public final class TickerClient implements Callable<Integer> {
    private static final int CONNECT_TIMEOUT_MILLIS = 2000;

    @Mixin
    private VerbsOptions options;

    @Option(names = "--host", description = "The address of the server (default: 127.0.0.1, or that of an RDMA device "
            + "if there is one).")
    private String host;

    @Option(names = "--port", defaultValue = "8080", description = "The port (default: ${DEFAULT-VALUE}).")
    private int port;

    public static void main(String[] args) {
        System.exit(Commands.run(new TickerClient(), args));
    }

    /** Options of every connection. */
    static Bootstrap bootstrap() {
        return new Bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
                .option(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
    }

    @Override
    public Integer call() throws Exception {
        return options.run(group -> {
            TickReader reader = new TickReader(bootstrap(), group,
                    new InetSocketAddress(host != null ? host : LocalHost.address(), port), options.count());
            reader.start();
            return List.of(reader.result());
        });
    }
}
