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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.LocalHost;
import io.netty.example.rdma.util.TransportOptions;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.concurrent.Callable;

/**
 * Sends a file to an echo server. The exit status is 0 if what came back is equal.
 */
@Command(name = "echo client",
        description = "Sends a file through an echo server and compares SHA-256.")
public final class EchoClient implements Callable<Integer> {
    @Mixin
    private TransportOptions options;

    @Option(names = "--host", description = "The server (default: where one on this host listens by default).")
    private String host;

    @Option(names = "--port", defaultValue = "8007", description = "Its port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "--file", description = "The file (default: lib/modules of the running JDK, over 100 MB).")
    private Path file = Path.of(System.getProperty("java.home"), "lib", "modules");

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoClient(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try (FileChannel source = FileChannel.open(file)) {
            Promise<FileEcho> result = group.next().newPromise();
            Channel channel = new Bootstrap()
                    .group(group)
                    .channel(options.transport().channelType())
                    .handler(new FileEchoHandler(source, result))
                    .connect(options.transport().address(host == null ? LocalHost.address() : host, port))
                    .sync().channel();
            System.out.println(file + " to " + channel.remoteAddress() + " and back (" + options + ')');
            FileEcho echo = result.get();
            System.out.println(echo);
            String counters = options.transport().counters();
            if (!counters.isEmpty()) {
                System.out.println("client " + counters);
            }
            return echo.isIntact() ? 0 : 1;
        } finally {
            Commands.shutdown(group);
        }
    }
}
