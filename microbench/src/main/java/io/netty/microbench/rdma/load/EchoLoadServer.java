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
package io.netty.microbench.rdma.load;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ServerOptions;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

import java.util.concurrent.Callable;

/**
 * A server of echoes and streams, as each connection asks for.
 */
@Command(name = "echo-load-server", description = "Sends back what it receives, or sends a stream.")
public final class EchoLoadServer implements Callable<Integer> {
    /** The default, 32 to 64 KiB, would let a stream of 64 KiB writes have no more than one in flight. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(1 << 20, 4 << 20);

    @Mixin
    private ServerOptions options;

    private EchoLoadServer() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoLoadServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        SslContextBuilder tls = options.sslContext();
        SslContext ssl = tls == null ? null : tls.build();
        return options.serve("echo and stream", new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
                if (ssl != null) {
                    channel.pipeline().addLast(ssl.newHandler(channel.alloc()));
                }
                channel.pipeline().addLast(new RequestHandler());
            }
        });
    }
}
