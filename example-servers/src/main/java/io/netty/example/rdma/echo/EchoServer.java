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
package io.netty.example.rdma.echo;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.util.TransportOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

/**
 * An echo server. Runs until it is killed.
 */
@Command(name = "echo server", description = "Sends back what it receives.")
public final class EchoServer implements Callable<Integer> {
    /** Beginning of the line that says that the server listens; its address follows. */
    public static final String READY = "echo server listens on ";

    @Mixin
    private TransportOptions options;

    @Option(names = "--host",
            description = "Address to listen on (default: 127.0.0.1, or that of an RDMA device if there is one).")
    private String host;

    @Option(names = "--port", defaultValue = "8007", description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            Channel server = new ServerBootstrap()
                    .group(group)
                    .channel(options.transport().serverChannelType())
                    .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childHandler(new EchoServerHandler())
                    .bind(options.transport().address(host == null ? LocalHost.address() : host, port))
                    .sync().channel();
            System.out.println(READY + server.localAddress() + " (" + options + ')');
            server.closeFuture().sync();
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }
}
