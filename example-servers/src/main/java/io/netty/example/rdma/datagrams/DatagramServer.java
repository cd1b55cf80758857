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

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.ExampleServer;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions;
import io.netty.util.NetUtil;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Answers the datagrams of one client.
 */
@Command(name = "datagram-server", description = "Sends each datagram of a datagram-client back, and ends after it.")
public final class DatagramServer implements Callable<Integer> {
    @Mixin
    private VerbsOptions options;

    @Mixin
    private BindOptions local;

    @Option(names = "--port", defaultValue = "8080",
            description = "The port, 0 for any that is free (default: ${DEFAULT-VALUE}).")
    private int port;

    public static void main(String[] args) {
        System.exit(Commands.run(new DatagramServer(), args));
    }

    @Override
    public Integer call() throws Exception {
        return options.run(group -> {
            Ponger ponger = new Ponger();
            RdmaDatagramChannel channel = local.bind(group, ponger, port);
            System.out.println(ExampleServer.READY
                    + NetUtil.toSocketAddressString(channel.localAddress()));
            return List.of(ponger.result());
        });
    }

    /** Sends back each datagram to its sender, whose address the channel knows from the datagram. */
    static final class Ponger extends DatagramEnd {
        /** Time after the client's last END until the server ends: the client has the report then. */
        private static final long QUIET_MILLIS = 500;

        private long answered;
        private long again;
        private long last = -1;
        private int size;
        private long firstNanos;
        private long lastNanos;

        @Override
        void begin(ChannelHandlerContext ctx) {
            // The client begins.
        }

        @Override
        void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender) {
            switch (packet.type()) {
            case PING -> {
                lastNanos = System.nanoTime();
                if (answered++ == 0) {
                    firstNanos = lastNanos;
                }
                if (packet.number() == last) {
                    again++;
                } else {
                    last = packet.number();
                }
                size = packet.data().readableBytes();
                send(ctx, new Packet(Packet.Type.PONG, packet.run(), packet.number(), packet.data()), sender);
                ctx.flush();
            }
            case END -> {
                send(ctx, Packet.Type.REPORT, packet.run(), last + 1, sender);
                finishWhenQuiet(ctx, packet.number());
            }
            default -> wrong++;
            }
        }

        private void finishWhenQuiet(ChannelHandlerContext ctx, long count) {
            later(ctx, () -> finish(ctx, new Result("answered datagrams, " + again + " twice",
                    last + 1, size, last + 1 == count ? wrong : wrong + 1, lastNanos - firstNanos)), QUIET_MILLIS);
        }
    }
}
