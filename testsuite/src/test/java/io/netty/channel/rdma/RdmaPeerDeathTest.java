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
package io.netty.channel.rdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The process at the other end dies by SIGKILL: the channel is told within a bounded time, what was being written
 * fails, and this process goes on, also with the next process at the other end.
 */
class RdmaPeerDeathTest {
    private static final int WRITE_SIZE = 1 << 20;
    private static EventLoopGroup group;

    @BeforeAll
    static void createGroup() {
        group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
    }

    @AfterAll
    static void shutdownGroup() throws InterruptedException {
        TestTimeouts.await(group.shutdownGracefully());
    }

    @Test
    void serverIsKilledInTheMiddleOfAStream() throws Exception {
        Flood flood = new Flood();
        try (PeerProcess server = PeerProcess.server()) {
            connect(flood, server.address());
            flood.nextRead();
            server.kill();
            flood.assertReset();
        }
        try (PeerProcess server = PeerProcess.server()) {
            EchoClient.check(group, server.address());
        }
    }

    @Test
    void serverIsKilledWhileNothingHappens() throws Exception {
        try (PeerProcess server = PeerProcess.server()) {
            Events events = new Events();
            connect(events, server.address());
            server.kill();
            events.assertInactive();
        }
        try (PeerProcess server = PeerProcess.server()) {
            EchoClient.check(group, server.address());
        }
    }

    @Test
    void clientIsKilledInTheMiddleOfAStream() throws Exception {
        try (EchoServer server = new EchoServer(group)) {
            Flood flood = new Flood();
            try (PeerProcess client = PeerProcess.client(server.address())) {
                Channel accepted = server.nextConnection().channel();
                accepted.eventLoop().submit(() -> {
                    accepted.pipeline().removeFirst();
                    accepted.pipeline().addLast(flood);
                }).sync();
                flood.nextRead();
                client.kill();
                flood.assertReset();
            }
            EchoClient.check(group, server.address());
        }
    }

    private static void connect(ChannelInboundHandlerAdapter handler, SocketAddress address)
            throws InterruptedException {
        TestTimeouts.await(new Bootstrap().group(group).channel(RdmaSocketChannel.class).handler(handler)
                .connect(address)).syncUninterruptibly();
    }

    private static class Events extends ChannelInboundHandlerAdapter {
        final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        final List<Throwable> causes = new ArrayList<>();

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            events.add(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            events.add(EchoServer.INACTIVE);
        }

        void assertInactive() throws InterruptedException {
            Object event;
            while ((event = TestTimeouts.take(events, "channelInactive")) != EchoServer.INACTIVE) {
                assertThat(event).isInstanceOf(IOException.class);
                causes.add((Throwable) event);
            }
        }
    }

    /** Writes as much as is taken, and notes that something came back. */
    private static final class Flood extends Events {
        private final BlockingQueue<ChannelFuture> writes = new LinkedBlockingQueue<>();
        private final BlockingQueue<Integer> reads = new LinkedBlockingQueue<>();

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            if (ctx.channel().isActive()) {
                flood(ctx);
            }
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            flood(ctx);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            flood(ctx);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            reads.add(((ByteBuf) msg).readableBytes());
            ((ByteBuf) msg).release();
        }

        private void flood(ChannelHandlerContext ctx) {
            while (ctx.channel().isActive() && ctx.channel().isWritable()) {
                writes.add(ctx.writeAndFlush(ctx.alloc().directBuffer(WRITE_SIZE).writeZero(WRITE_SIZE)));
            }
        }

        void nextRead() throws InterruptedException {
            TestTimeouts.take(reads, "an echo");
        }

        void assertReset() throws InterruptedException {
            assertInactive();
            assertThat(causes).isNotEmpty().first().asString().contains("reset");
            boolean failed = false;
            ChannelFuture write;
            while ((write = writes.poll()) != null) {
                failed |= !TestTimeouts.await(write).isSuccess();
            }
            assertThat(failed).as("some write failed").isTrue();
        }
    }
}
