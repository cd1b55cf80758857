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

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.rdma.valkey.RdmaValkeySocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.DeferredFlush;
import io.netty.example.rdma.util.Pattern;
import io.netty.example.rdma.util.Transport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The measuring client of Valkey's server.
 */
@Command(name = "valkey-load", description = "Measures SET and GET of Valkey and checks every answer.")
public final class ValkeyLoad extends LoadClient {
    private static final Map<Integer, String> SIZES = new TreeMap<>(Map.of(3, "3 B", 1 << 10, "1 KiB",
            64 << 10, "64 KiB", 1 << 20, "1 MiB"));
    private static final int IN_FLIGHT = 64;
    /** Size from which bytes are counted in place of operations. */
    private static final int LARGE = 64 << 10;
    /** Water mark above all bytes in flight. The default, 32 to 64 KiB, is for callers that check the writability. */
    private static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(64 << 20, 128 << 20);

    @Option(names = "--socket", description = "The server's Unix socket, for the transport unix.")
    private String socket;

    private ValkeyLoad() {
    }

    public static void main(String[] args) {
        System.exit(Commands.run(new ValkeyLoad(), args));
    }

    @Override
    public List<Scenario> scenarios(ClientOptions options, EventLoopGroup group) throws Exception {
        ValkeyHandler handler = new ValkeyHandler();
        Channel channel = new Bootstrap().group(group).channel(channelType(options.transport().transport()))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        ch.config().setWriteBufferWaterMark(WATER_MARK);
                        ch.pipeline().addLast(handler);
                    }
                }).connect(address(options)).sync().channel();
        List<Scenario> scenarios = new ArrayList<>();
        for (Map.Entry<Integer, String> size : SIZES.entrySet()) {
            int length = size.getKey();
            Exchange set = Exchange.set(channel.alloc(), length);
            Exchange get = Exchange.get(channel.alloc(), length);
            // The value must exist before it is read.
            CompletableFuture<Throwable> stored = new CompletableFuture<>();
            channel.eventLoop().execute(() -> handler.send(set, stored::complete));
            Throwable cause = stored.get();
            if (cause != null) {
                throw new IOException("SET of " + size.getValue(), cause);
            }
            for (int inFlight : new int[] {1, IN_FLIGHT}) {
                for (Exchange exchange : List.of(set, get)) {
                    scenarios.add(new Scenario((exchange == set ? "SET of " : "GET of ") + size.getValue()
                            + (inFlight == 1 ? "" : ", " + inFlight + " in flight"), inFlight,
                            length >= LARGE ? length : 0,
                            (Scenario.Completion completion) -> handler.send(exchange, completion)));
                }
            }
        }
        return scenarios;
    }

    private static Class<? extends Channel> channelType(Transport transport) {
        return transport == Transport.RDMA ? RdmaValkeySocketChannel.class : transport.channelType();
    }

    private SocketAddress address(ClientOptions options) throws IOException {
        return options.transport().transport() == Transport.UNIX ? new DomainSocketAddress(socket)
                : new InetSocketAddress(options.host(), options.port());
    }

    /**
     * A client's end of a connection to Valkey. It sends commands, and compares each byte of the answers, which come in
     * order. For one channel, on its event loop.
     */
    private static final class ValkeyHandler extends ChannelInboundHandlerAdapter {
        private final Queue<Pending> pending = new ArrayDeque<>();
        private ChannelHandlerContext context;
        private DeferredFlush flush;
        /** Number of bytes of the first pending answer that have arrived. */
        private int seen;
        private boolean reading;

        private record Pending(ByteBuf answer, Scenario.Completion completion) {
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
            flush = new DeferredFlush(ctx.channel());
        }

        /** Sends a command. The completion is called when its answer has come and was right. */
        void send(Exchange exchange, Scenario.Completion completion) {
            if (!context.channel().isActive()) {
                completion.ended(new IOException("the server has closed"));
                return;
            }
            pending.add(new Pending(exchange.answer(), completion));
            context.write(exchange.command().retainedDuplicate(), context.voidPromise());
            if (!reading) {
                flush.request();
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf received = (ByteBuf) msg;
            reading = true;
            try {
                while (received.isReadable()) {
                    Pending first = pending.peek();
                    int length = first == null ? 0
                            : Math.min(received.readableBytes(), first.answer().readableBytes() - seen);
                    // The JDK compares many bytes at a time.
                    if (length == 0 || !received.nioBuffer(received.readerIndex(), length)
                            .equals(first.answer().nioBuffer(first.answer().readerIndex() + seen, length))) {
                        fail(new IOException("not the answer: " + received.toString(StandardCharsets.ISO_8859_1)
                                .substring(0, Math.min(received.readableBytes(), 100))));
                        ctx.close();
                        return;
                    }
                    received.skipBytes(length);
                    seen += length;
                    if (seen == first.answer().readableBytes()) {
                        seen = 0;
                        pending.remove().completion().ended(null);
                    }
                }
            } finally {
                received.release();
            }
        }

        /** Flushes all commands that followed from answers together. */
        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            reading = false;
            ctx.flush();
        }

        private void fail(Throwable cause) {
            for (Pending each = pending.poll(); each != null; each = pending.poll()) {
                each.completion().ended(cause);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(new IOException("the server has closed between a command and its answer"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            fail(cause);
            ctx.close();
        }
    }

    /** A command that is sent again and again, and its answer, which is always the same. */
    private record Exchange(ByteBuf command, ByteBuf answer) {
        /** Stores a value. */
        static Exchange set(ByteBufAllocator allocator, int length) {
            ByteBuf command = text(allocator, "*3\r\n$3\r\nSET\r\n" + key(length));
            return new Exchange(value(command, length), text(allocator, "+OK\r\n"));
        }

        /** Reads the value that was stored. */
        static Exchange get(ByteBufAllocator allocator, int length) {
            return new Exchange(text(allocator, "*2\r\n$3\r\nGET\r\n" + key(length)),
                    value(allocator.directBuffer(), length));
        }

        private static String key(int length) {
            String key = "value of " + length;
            return "$" + key.length() + "\r\n" + key + "\r\n";
        }

        private static ByteBuf value(ByteBuf buffer, int length) {
            buffer.writeCharSequence("$" + length + "\r\n", StandardCharsets.US_ASCII);
            Pattern.write(buffer, 0, length);
            buffer.writeCharSequence("\r\n", StandardCharsets.US_ASCII);
            return buffer;
        }

        private static ByteBuf text(ByteBufAllocator allocator, String text) {
            return ByteBufUtil.writeAscii(allocator, text);
        }
    }
}
