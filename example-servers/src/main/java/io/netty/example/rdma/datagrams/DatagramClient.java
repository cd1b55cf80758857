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

import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Sends datagrams to a server, one after the other.
 */
@Command(name = "datagram-client", description = "Sends datagrams to a datagram-server and waits for each to come "
        + "back; one that does not is sent again. A --size beyond the MTU is lowered to that: the result tells.")
public final class DatagramClient implements Callable<Integer> {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private BindOptions local;

    @Option(names = "--to", description = "The address of the server (default: that of --host).")
    private String server;

    @Option(names = "--port", defaultValue = "8080", description = "The server's port (default: ${DEFAULT-VALUE}).")
    private int port;

    public static void main(String[] args) {
        System.exit(Commands.run(new DatagramClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        int size = options.size(0, Integer.MAX_VALUE);
        return options.run(group -> {
            InetSocketAddress to = new InetSocketAddress(server != null ? server : local.host(), port);
            Pinger pinger = new Pinger(to, options.count(), size);
            RdmaDatagramChannel channel = local.bind(group, pinger, 0);
            channel.pipeline().fireUserEventTriggered(DatagramEnd.READY);
            return List.of(pinger.result());
        });
    }
}
