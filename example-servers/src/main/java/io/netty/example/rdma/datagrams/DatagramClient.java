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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;

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

    /**
     * Sends numbered data, and the next ones when they have come back. No error reports a lost datagram, in either
     * direction, so the client repeats a datagram after a while.
     */
    static final class Pinger extends DatagramEnd {
        private static final long REPEAT_MILLIS = 100;

        private final SocketAddress server;
        private final long count;
        private final long run = ThreadLocalRandom.current().nextLong();
        private final ByteBuf data = Unpooled.buffer();
        private int size;
        private long number;
        private long again;
        private long startNanos;
        private long endNanos;

        /** @param size bytes of data in a datagram, if it has room for so many */
        Pinger(SocketAddress server, long count, int size) {
            this.server = server;
            this.count = count;
            this.size = size;
        }

        @Override
        void begin(ChannelHandlerContext ctx) {
            size = Math.min(size, ((RdmaDatagramChannel) ctx.channel()).maxPayload() - Packet.HEADER_LENGTH);
            startNanos = System.nanoTime();
            ping(ctx);
        }

        private void ping(ChannelHandlerContext ctx) {
            if (number == count) {
                send(ctx, Packet.Type.END, run, count, server);
            } else {
                data.clear();
                Pattern.write(data, number * size, size);
                send(ctx, new Packet(Packet.Type.PING, run, number, data), server);
                ctx.flush();
            }
            later(ctx, () -> {
                again++;
                ping(ctx);
            }, REPEAT_MILLIS);
        }

        @Override
        void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender) {
            if (packet.run() != run) {
                return;
            }
            if (packet.type() == Packet.Type.PONG && packet.number() == number && number < count) {
                if (packet.data().readableBytes() != size || !Pattern.matches(packet.data(), number * size)) {
                    wrong++;
                }
                number++;
                endNanos = System.nanoTime();
                ping(ctx);
            } else if (packet.type() == Packet.Type.REPORT && number == count) {
                cancel();
                finish(ctx, new Result("datagrams there and back, " + again + " sent again", count, size,
                        packet.number() == count ? wrong : wrong + 1, endNanos - startNanos));
            }
            // Other numbers are late echoes of datagrams that were repeated.
        }
    }
}
