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
package io.netty.channel.rdma.bytestream;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The end of a connection that the peer has caused, as applications see it: the same program on epoll and on RDMA. A
 * row for each intended difference is in docs/migrating.md.
 */
@Tag("iwarp")
@Tag("quick")
class RdmaConnectionEndTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    /** More than the buffers of two sockets hold. */
    private static final int FLUSHED = 32;

    enum Peer { RESETS, SHUTS_DOWN_AND_RESETS, CLOSES }

    enum Pending { NOTHING, UNFLUSHED, FLUSHED, FLUSHED_AND_UNFLUSHED }

    enum Reading { ON, OFF, OFF_WITH_BYTES_THERE }

    record Scenario(Peer peer, Pending pending, Reading reading, boolean halfClosure, boolean autoClose) {
        boolean isFlushing() {
            return pending == Pending.FLUSHED || pending == Pending.FLUSHED_AND_UNFLUSHED;
        }
    }

    static Stream<Scenario> scenarios() {
        return Arrays.stream(Peer.values()).flatMap(peer -> Arrays.stream(Pending.values())
                .flatMap(pending -> Arrays.stream(Reading.values()).flatMap(reading -> Stream.of(
                        new Scenario(peer, pending, reading, true, true),
                        new Scenario(peer, pending, reading, true, false),
                        new Scenario(peer, pending, reading, false, true),
                        new Scenario(peer, pending, reading, false, false)))))
                // A channel without half closure is closed by the first of it.
                .filter(scenario -> scenario.halfClosure || scenario.peer != Peer.SHUTS_DOWN_AND_RESETS);
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void isAsWithEpoll(Scenario scenario) throws Exception {
        List<String> epoll = new Run(scenario, false).events();
        List<String> rdma = new Run(scenario, true).events();
        if (scenario.peer == Peer.CLOSES && scenario.isFlushing()) {
            // TCP makes that a reset, as the peer had bytes that it did not read. Here it is an end, and what the peer
            // has sent before is read; but the writes end in the same way.
            epoll = withoutReading(epoll);
            rdma = withoutReading(rdma);
        }
        assertThat(rdma).isEqualTo(epoll);
    }

    private static List<String> withoutReading(List<String> events) {
        return events.stream().filter(event -> !event.startsWith("read") && !event.startsWith("ChannelInput"))
                .map(event -> event.replace("Broken pipe", "Connection reset by peer")).collect(Collectors.toList());
    }

    /** One connection. */
    private static final class Run {
        private static final String CLOSED = "unregistered";
        private static final String HALF_CLOSED = "ChannelInputShutdownReadComplete";

        private final List<String> events = new CopyOnWriteArrayList<>();
        private final List<ChannelFuture> writes = new CopyOnWriteArrayList<>();
        private final Scenario scenario;
        private final Channel listener;
        private final Channel peer;
        private final Channel channel;

        Run(Scenario scenario, boolean rdma) throws Exception {
            this.scenario = scenario;
            BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
            listener = TestTimeouts.sync(new ServerBootstrap().group(LOOPS.group())
                    .channel(rdma ? RdmaServerSocketChannel.class : EpollServerSocketChannel.class)
                    .childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    .childHandler(new Silent(accepted))
                    .bind(rdma ? TestAddress.anyPort() : new InetSocketAddress("127.0.0.1", 0))).channel();
            channel = TestTimeouts.sync(new Bootstrap().group(LOOPS.group())
                    .channel(rdma ? RdmaSocketChannel.class : EpollSocketChannel.class)
                    .option(ChannelOption.AUTO_READ, scenario.reading == Reading.ON)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, scenario.halfClosure)
                    .option(ChannelOption.AUTO_CLOSE, scenario.autoClose)
                    .option(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(1 << 29, 1 << 30))
                    .handler(new Recorder()).connect(listener.localAddress())).channel();
            peer = TestTimeouts.take(accepted, "the peer's channel");
        }

        /** Events of the application, one line each; repetitions are one line. */
        List<String> events() throws Exception {
            if (scenario.reading == Reading.OFF_WITH_BYTES_THERE) {
                if (scenario.peer == Peer.RESETS) {
                    // Else a write this short is done before it is there, and a reset may take it back.
                    peer.config().setOption(ChannelOption.SO_LINGER, 0);
                }
                TestTimeouts.sync(peer.writeAndFlush(Unpooled.copiedBuffer("there", StandardCharsets.US_ASCII)));
            }
            TestTimeouts.sync(channel.eventLoop().submit(this::writeAll));
            endByPeer();
            TestTimeouts.awaitTrue(() -> events.contains(CLOSED) || events.contains(HALF_CLOSED));
            if (scenario.isFlushing()) {
                TestTimeouts.await(writes.get(FLUSHED - 1));
                // The consequences of the failure come in the same turn of the loop.
                TestTimeouts.sync(channel.eventLoop().submit(() -> { }));
            }
            if (channel.isOpen()) {
                if (scenario.peer != Peer.CLOSES) {
                    TestTimeouts.sync(channel.eventLoop().submit(() -> {
                        write("late");
                        channel.flush();
                    }));
                    TestTimeouts.await(writes.get(writes.size() - 1));
                }
                channel.close();
            }
            TestTimeouts.awaitTrue(() -> events.contains(CLOSED));
            for (ChannelFuture write : writes) {
                TestTimeouts.await(write);
            }
            peer.close();
            TestTimeouts.sync(listener.close());
            List<String> result = new ArrayList<>();
            for (String event : events) {
                if (result.isEmpty() || !result.get(result.size() - 1).equals(event)) {
                    result.add(event);
                }
            }
            return result;
        }

        private void writeAll() {
            if (scenario.isFlushing()) {
                for (int i = 0; i < FLUSHED; i++) {
                    write("flushed");
                }
                channel.flush();
            }
            if (scenario.pending == Pending.UNFLUSHED || scenario.pending == Pending.FLUSHED_AND_UNFLUSHED) {
                write("unflushed");
            }
        }

        private void write(String name) {
            ChannelFuture write = channel.write(channel.alloc().buffer(1 << 20).writeZero(1 << 20));
            writes.add(write);
            write.addListener(future -> {
                // The number of writes that buffers have taken does not matter.
                if (!future.isSuccess()) {
                    events.add("write " + name + ": " + describe(future.cause()) + ", open " + channel.isOpen());
                }
            });
        }

        private void endByPeer() throws Exception {
            if (scenario.peer == Peer.SHUTS_DOWN_AND_RESETS) {
                TestTimeouts.sync(((DuplexChannel) peer).shutdownOutput());
                TestTimeouts.awaitTrue(() -> events.contains(HALF_CLOSED));
            }
            if (scenario.peer != Peer.CLOSES) {
                peer.config().setOption(ChannelOption.SO_LINGER, 0);
            }
            TestTimeouts.sync(peer.close());
        }

        private static String describe(Throwable cause) {
            if (cause instanceof ClosedChannelException) {
                return "ClosedChannelException";
            }
            String type = cause.getClass().getSimpleName();
            String message = String.valueOf(cause.getMessage());
            for (String reason : new String[] { "Connection reset by peer", "Broken pipe" }) {
                if (cause instanceof IOException && message.contains(reason)) {
                    // epoll has a NativeIoException with the name of the system call, RDMA one with the address.
                    type = "IOException";
                    message = reason;
                }
            }
            return type + ' ' + message + (cause.getCause() == null || type.equals("IOException") ? "" :
                    " by " + describe(cause.getCause()));
        }

        private final class Recorder extends ChannelInboundHandlerAdapter {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                events.add("read " + ((ByteBuf) msg).toString(StandardCharsets.US_ASCII));
                ReferenceCountUtil.release(msg);
            }

            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                events.add("readComplete");
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                events.add(event.getClass().getSimpleName());
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                events.add("exception " + describe(cause) + ", open " + ctx.channel().isOpen());
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add(CLOSED);
            }
        }
    }

    @Sharable
    private static final class Silent extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<Channel> channels;

        Silent(BlockingQueue<Channel> channels) {
            this.channels = channels;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channels.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ReferenceCountUtil.release(msg);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The peer ends what it has begun.
        }
    }
}
