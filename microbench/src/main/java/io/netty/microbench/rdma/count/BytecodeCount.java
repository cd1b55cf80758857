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
package io.netty.microbench.rdma.count;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.Transport;
import io.netty.example.rdma.util.Transport.Waiting;
import io.netty.util.concurrent.Promise;

import java.util.concurrent.TimeUnit;

/**
 * Counts the bytecodes of Netty and of the transport that a round trip of 64 B takes, and a connection with one round
 * trip. The counts are the same in each run, whatever else the machine does. They are the work of code that is not
 * compiled yet, and an estimate of the work of compiled code. Both ends are on one event loop that sleeps at once, so
 * that few polls find nothing.
 */
public final class BytecodeCount {
    private static final int BYTES = 64;
    private static final int ROUND_TRIPS = 20_000;
    private static final int CONNECTIONS = 1_000;
    private static final long SECONDS = 60;

    private final Transport transport;
    private final int methods;
    private final Bootstrap bootstrap = new Bootstrap();

    private BytecodeCount(Transport transport, int methods) {
        this.transport = transport;
        this.methods = methods;
    }

    /** @param args number of methods to list for each count; none by default */
    public static void main(String[] args) throws Exception {
        Class<?> counted = new CountingLoader().loadClass(BytecodeCount.class.getName());
        for (Transport transport : new Transport[] { Transport.RDMA, Transport.EPOLL }) {
            counted.getMethod("count", String.class, int.class).invoke(null, transport.name(),
                    args.length == 0 ? 0 : Integer.parseInt(args[0]));
        }
    }

    /** Counts. Called on the class that the counting loader has loaded. */
    public static void count(String transport, int methods) throws Exception {
        new BytecodeCount(Transport.valueOf(transport), methods).count();
    }

    private void count() throws Exception {
        EventLoopGroup group = transport.newGroup(1, Waiting.SLEEPING);
        try {
            Channel server = new ServerBootstrap().group(group).channel(transport.serverChannelType())
                    .childHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline().addLast(new Echo());
                        }
                    }).bind(transport.address("127.0.0.1", 0)).sync().channel();
            bootstrap.group(group).channel(transport.channelType())
                    .remoteAddress(transport.address("127.0.0.1", transport.port(server)));
            count("a round trip of " + BYTES + " B", 1, ROUND_TRIPS);
            count("a connection with a round trip", CONNECTIONS, 1);
        } finally {
            group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    /** Counts the second run, because the first one loads classes and fills pools. */
    private void count(String what, int connections, int roundTrips) throws Exception {
        for (int time = 0; time < 2; time++) {
            Promise<String> rows = bootstrap.config().group().next().newPromise();
            Client client = new Client(transport + ", " + what, connections, roundTrips, rows);
            bootstrap.config().group().execute(() -> {
                Counts.clear();
                connect(client, connections);
            });
            if (!rows.await(SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException(transport + ": no end of " + what);
            }
            if (time == 1) {
                System.out.print(rows.get());
            }
        }
    }

    private void connect(Client client, int left) {
        bootstrap.clone().handler(new Connection(client, left)).connect().addListener(connected -> {
            if (!connected.isSuccess()) {
                client.rows().setFailure(connected.cause());
            }
        });
    }

    /** The counted work: a number of connections, one after the other, each with a number of round trips. */
    private record Client(String what, int connections, int roundTrips, Promise<String> rows) {
    }

    private final class Connection extends ChannelInboundHandlerAdapter {
        private final Client client;
        private final int connections;
        private int roundTrips;
        private int received;

        Connection(Client client, int connections) {
            this.client = client;
            this.connections = connections;
            roundTrips = client.roundTrips();
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            ctx.writeAndFlush(ctx.alloc().directBuffer(BYTES).writeZero(BYTES), ctx.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            received += buf.readableBytes();
            buf.release();
            if (received == BYTES) {
                received = 0;
                roundTrips--;
                if (roundTrips > 0) {
                    send(ctx);
                } else {
                    ctx.close();
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (connections > 1) {
                connect(client, connections - 1);
            } else {
                client.rows().setSuccess(Counts.report(client.what(),
                        client.connections() * client.roundTrips(), methods));
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            client.rows().setFailure(cause);
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.writeAndFlush(msg, ctx.voidPromise());
        }
    }
}
