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

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.Figures;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.microbench.rdma.load.EchoLoadServer.RequestHandler;
import picocli.CommandLine.Command;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * The measuring client of the echo example: round trips, and streams whose received bytes it counts. Each scenario has
 * a connection of its own.
 */
@Command(name = "echo-load", description = "Measures round trips and streams.")
public class EchoLoad extends LoadClient {
    private static final List<Integer> WRITE_BYTES = List.of(64 << 10, 1 << 20);

    private final String where;
    private final List<Integer> messageBytes;
    private final int pieceBytes;

    private EchoLoad() {
        // A piece takes a few milliseconds.
        this("", List.of(64, 4 << 10, 64 << 10, 1 << 20), 16 << 20);
    }

    /**
     * Creates a load with other scenarios.
     *
     * @param where        part of the names of the scenarios
     * @param messageBytes sizes of the messages of round trips
     * @param pieceBytes   bytes that count as an operation of a stream
     */
    protected EchoLoad(String where, List<Integer> messageBytes, int pieceBytes) {
        this.where = where;
        this.messageBytes = messageBytes;
        this.pieceBytes = pieceBytes;
    }

    /** Returns the name of a scenario of round trips. */
    public static String roundTrips(String where, int messageBytes) {
        return "round trips" + where + " of " + Figures.size(messageBytes);
    }

    /** Returns the name of a scenario of a stream. */
    public static String stream(String where, int writeBytes) {
        return "a stream" + where + " of writes of " + Figures.size(writeBytes);
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new EchoLoad(), args));
    }

    @Override
    public final List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        List<Scenario> scenarios = new ArrayList<>();
        for (int bytes : messageBytes) {
            PingPongHandler handler = new PingPongHandler(bytes);
            connect(options, group, RequestHandler.ECHO, handler);
            scenarios.add(new Scenario(roundTrips(where, bytes), 1, 0, handler));
        }
        for (int bytes : WRITE_BYTES) {
            StreamSinkHandler handler = new StreamSinkHandler(pieceBytes);
            connect(options, group, bytes, handler);
            scenarios.add(new Scenario(stream(where, bytes), 1, pieceBytes, handler));
        }
        return scenarios;
    }

    /**
     * Opens streams of 64 KiB writes on an event loop. An operation receives the next piece of a stream without an
     * operation. Not to be called on an event loop.
     *
     * @param number     number of streams, at least as many as operations in flight
     * @param pieceBytes bytes that count as an operation
     */
    public static Scenario.Operation streams(ClientOptions options, EventLoopGroup loop, int number, int pieceBytes)
            throws IOException, InterruptedException {
        Queue<StreamSinkHandler> resting = new ArrayDeque<>();
        for (int i = 0; i < number; i++) {
            StreamSinkHandler sink = new StreamSinkHandler(pieceBytes);
            connect(options, loop, WRITE_BYTES.get(0), sink);
            resting.add(sink);
        }
        return completion -> {
            StreamSinkHandler sink = resting.remove();
            sink.start(cause -> {
                resting.add(sink);
                completion.ended(cause);
            });
        };
    }

    private static void connect(ClientOptions options, EventLoopGroup group, int request, ChannelHandler handler)
            throws IOException, InterruptedException {
        SslContextBuilder tls = options.sslContext();
        SslContext ssl = tls == null ? null : tls.build();
        String host = options.host();
        Channel channel = options.transport().connect(group, host, options.port(), new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setAutoRead(!(handler instanceof StreamSinkHandler));
                if (ssl != null) {
                    channel.pipeline().addLast(ssl.newHandler(channel.alloc(), host, options.port()));
                }
                channel.pipeline().addLast(handler);
            }
        });
        channel.writeAndFlush(channel.alloc().directBuffer(Integer.BYTES).writeInt(request)).sync();
    }

    /** Round trips: an operation sends a message and waits for its whole echo. Only one is in flight at any time. */
    private static final class PingPongHandler extends ChannelInboundHandlerAdapter implements Scenario.Operation {
        /** Number of messages without a seen completion: their echoes may arrive before. */
        private static final int MAX_UNDER_WAY = 64;

        private final int messageBytes;
        private ChannelHandlerContext context;
        private RepeatedMessage message;
        private int awaitedBytes;
        private Scenario.Completion completion;

        PingPongHandler(int messageBytes) {
            this.messageBytes = messageBytes;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
            message = new RepeatedMessage(ctx.alloc(), messageBytes, MAX_UNDER_WAY);
        }

        @Override
        public void start(Scenario.Completion toBeCalled) {
            if (message == null) {
                toBeCalled.ended(new IOException("the server has closed"));
                return;
            }
            completion = toBeCalled;
            awaitedBytes = messageBytes;
            context.writeAndFlush(message.next(), context.voidPromise());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            awaitedBytes -= received.readableBytes();
            received.release();
            if (awaitedBytes < 0) {
                end(new IOException("the echo is longer than the message"));
            } else if (awaitedBytes == 0) {
                end(null);
            }
        }

        private void end(Throwable cause) {
            Scenario.Completion ended = completion;
            if (ended != null) {
                completion = null;
                ended.ended(cause);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            if (message != null) {
                message.release();
                message = null;
            }
            end(new IOException("the server closed between a message and its echo"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(cause);
            ctx.close();
        }
    }

    /**
     * Streams: an operation receives the next piece of a stream, without a check of its bytes. While no operation is in
     * flight, nothing is read, so that the stream rests.
     */
    private static final class StreamSinkHandler extends ChannelInboundHandlerAdapter implements Scenario.Operation {
        private final int pieceBytes;
        private ChannelHandlerContext context;
        private int awaitedBytes;
        private Scenario.Completion completion;

        /** Creates the handler for a channel without autoRead. */
        StreamSinkHandler(int pieceBytes) {
            this.pieceBytes = pieceBytes;
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void start(Scenario.Completion toBeCalled) {
            if (!context.channel().isActive()) {
                toBeCalled.ended(new IOException("the server has closed"));
                return;
            }
            completion = toBeCalled;
            // Bytes that arrived beyond the last piece count for this one.
            awaitedBytes += pieceBytes;
            context.channel().config().setAutoRead(true);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            awaitedBytes -= received.readableBytes();
            received.release();
            if (awaitedBytes <= 0) {
                end(null);
            }
        }

        private void end(Throwable cause) {
            Scenario.Completion ended = completion;
            if (ended != null) {
                completion = null;
                ended.ended(cause);
            }
            if (completion == null) {
                context.channel().config().setAutoRead(false);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end(new IOException("the server closed in the middle of a stream"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(cause);
            ctx.close();
        }
    }
}
