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
package io.netty.microbench.rdma.bench;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.microbench.rdma.load.EchoLoadServer.RequestHandler;
import io.netty.microbench.rdma.load.LoadClient;
import io.netty.microbench.rdma.load.Scenario;
import io.netty.microbench.rdma.process.Control;
import io.netty.util.concurrent.Promise;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The measuring client of the parts "idle" and "setup". It makes round trips on one connection, and connections for one
 * round trip each. On command it opens further connections, which stay idle.
 */
@Command(name = "idle-load",
        description = "Measures round trips to an echo server and short connections, and opens idle connections.")
final class IdleLoad extends LoadClient {
    /** Opens this number of further connections; the answer is the time in nanoseconds. */
    static final String OPEN = "open";
    /** Closes all idle connections. */
    static final String CLOSE = "close";

    private IdleLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new IdleLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        Bootstrap bootstrap = bootstrap(options, group);
        List<Scenario> scenarios = new ArrayList<>();
        scenarios.add(new Scenario("round trips of 64 B", 1, 0, new EchoBatches(bootstrap, 1)));
        for (int atATime : Section.AT_A_TIME) {
            scenarios.add(new Scenario(Section.shortConnections(atATime), atATime, 0,
                    new ShortConnections(bootstrap)));
        }
        return scenarios;
    }

    @Override
    protected void addCommands(Control control, ClientOptions options, EventLoopGroup group) throws Exception {
        IdleConnections idle = new IdleConnections(bootstrap(options, group), group.next());
        control.add(OPEN, arguments -> Long.toString(idle.open(Integer.parseInt(arguments[0]))))
                .add(CLOSE, arguments -> {
                    idle.close();
                    return "closed";
                });
    }

    /** Connections for one round trip each, like those of a load balancer for clients with a single request. */
    static final class ShortConnections implements Scenario.Operation {
        private static final int MESSAGE_BYTES = 64;

        private final Bootstrap bootstrap;

        /**
         * Creates the operation, without a connection so far.
         *
         * @param bootstrap has the server's address and the event loop
         */
        ShortConnections(Bootstrap bootstrap) {
            this.bootstrap = bootstrap;
        }

        @Override
        public void start(Scenario.Completion completion) {
            Connection connection = new Connection();
            ChannelFutureListener closed = future -> completion.ended(connection.failure());
            ChannelFutureListener connected = future -> {
                if (future.isSuccess()) {
                    future.channel().closeFuture().addListener(closed);
                } else {
                    completion.ended(future.cause());
                }
            };
            bootstrap.clone().handler(connection).connect().addListener(connected);
        }

        private static final class Connection extends ChannelInboundHandlerAdapter {
            private int toArrive = MESSAGE_BYTES;
            private Throwable failure;

            Throwable failure() {
                return failure == null && toArrive > 0 ? new IOException("the server closed before its answer")
                        : failure;
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.writeAndFlush(ctx.alloc().directBuffer(Integer.BYTES + MESSAGE_BYTES).writeInt(RequestHandler.ECHO)
                        .writeZero(MESSAGE_BYTES), ctx.voidPromise());
            }

            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ByteBuf received = (ByteBuf) msg;
                toArrive -= received.readableBytes();
                received.release();
                if (toArrive <= 0) {
                    ctx.close();
                }
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                failure = cause;
                ctx.close();
            }
        }
    }

    /** Connections that stay idle. Not to be used on their event loop. */
    private static final class IdleConnections {
        private static final int AT_A_TIME = 16;

        private final Bootstrap bootstrap;
        private final EventLoop loop;
        private final ChannelGroup open;
        private Promise<Void> opened;
        private int toStart;
        private int toEnd;

        /**
         * @param bootstrap has the server's address
         * @param loop      event loop of all these connections
         */
        IdleConnections(Bootstrap bootstrap, EventLoop loop) {
            this.bootstrap = bootstrap.clone(loop).handler(new Silent());
            this.loop = loop;
            open = new DefaultChannelGroup(loop);
        }

        /**
         * Opens further connections, {@value #AT_A_TIME} at a time.
         *
         * @return the time in nanoseconds
         */
        long open(int count) throws Exception {
            Promise<Void> promise = loop.newPromise();
            long start = System.nanoTime();
            loop.execute(() -> {
                opened = promise;
                toStart = count;
                toEnd = count;
                for (int i = 0; i < AT_A_TIME; i++) {
                    next();
                }
            });
            promise.get();
            return System.nanoTime() - start;
        }

        private void next() {
            if (toStart == 0) {
                return;
            }
            toStart--;
            bootstrap.connect().addListener((ChannelFutureListener) connected -> {
                if (!connected.isSuccess()) {
                    opened.tryFailure(connected.cause());
                    return;
                }
                open.add(connected.channel());
                toEnd--;
                if (toEnd == 0) {
                    opened.trySuccess(null);
                }
                next();
            });
        }

        /** Closes all connections, and returns when they are closed at this end. */
        void close() throws Exception {
            open.close().sync();
        }

        /** Ignores input: an echo server sends nothing to a client that sends nothing. */
        @Sharable
        private static final class Silent extends ChannelInboundHandlerAdapter {
        }
    }
}
