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
package io.netty.example.rdma.echo.compare;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.example.rdma.Commands;
import io.netty.example.rdma.TransportOptions;
import io.netty.example.rdma.echo.EchoServerHandler;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * The server's process: an echo server and a stream source, on ports of their own that it prints. It ends when its
 * standard input does, that is no later than the process that started it.
 */
@Command(name = "measured-server")
final class MeasuredServer implements Callable<Integer> {
    static final String READY = "ports ";
    static final String COUNTERS = "server ";
    /** The default, 32 to 64 KiB, would let a stream of 64 KiB writes have no more than one in flight. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(1 << 20, 4 << 20);

    @Mixin
    private TransportOptions options;

    @Option(names = "--host", required = true)
    private String host;

    private MeasuredServer() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new MeasuredServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        EventLoopGroup group = options.newGroup();
        try {
            int echo = bind(group, new EchoServerHandler());
            int stream = bind(group, new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new StreamSourceHandler());
                }
            });
            System.out.println(READY + echo + ' ' + stream);
            awaitEndOfInput();
            System.out.println(COUNTERS + options.transport().counters());
            return 0;
        } finally {
            Commands.shutdown(group);
        }
    }

    private int bind(EventLoopGroup group, ChannelHandler handler) throws InterruptedException {
        Channel server = new ServerBootstrap()
                .group(group)
                .channel(options.transport().serverChannelType())
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK)
                .childHandler(handler)
                .bind(options.transport().address(host, 0)).sync().channel();
        return options.transport().port(server);
    }

    private static void awaitEndOfInput() throws IOException {
        while (System.in.read() >= 0) {
            // Nothing is ever sent.
        }
    }
}
