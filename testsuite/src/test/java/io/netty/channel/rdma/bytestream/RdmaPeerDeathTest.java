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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.EchoClient;
import io.netty.channel.rdma.support.EchoServer;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The process at the other end dies by SIGKILL or is stopped: the channel is told within a bounded time, what was being
 * written fails, and this process goes on, also with the next process at the other end.
 */
@Tag("iwarp-all")
class RdmaPeerDeathTest {
    private static final int WRITE_SIZE = 1 << 20;
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

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
            EchoClient.check(LOOPS.group(), server.address());
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
            EchoClient.check(LOOPS.group(), server.address());
        }
    }

    @Test
    void clientIsKilledInTheMiddleOfAStream() throws Exception {
        try (EchoServer server = new EchoServer(LOOPS.group())) {
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
            EchoClient.check(LOOPS.group(), server.address());
        }
    }

    /**
     * On the embedded provider, whose device is the process. A network adapter goes on answering for a process that is
     * stopped, as the kernel does for TCP.
     */
    @Test
    void peerThatIsStoppedIsReportedByKeepAlive() throws Exception {
        assertThatStoppedPeerIsReported(RdmaPeerDeathTest::keepAlive);
    }

    private static void assertThatStoppedPeerIsReported(ThrowingConsumer<Channel> whenStopped) throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED,
                "the device answers for a process that is stopped");
        try (PeerProcess server = PeerProcess.server()) {
            Events events = new Events();
            Channel channel = connect(events, server.address());
            EchoClient.check(LOOPS.group(), server.address());
            server.stop();
            whenStopped.accept(channel);
            events.assertInactive();
            assertThat(events.causes).first().asString().contains("timed out").contains(server.address().toString());
        }
    }

    /** Elsewhere the device answers, which is as far as keep-alive goes with TCP, too. */
    @Test
    void deviceAnswersKeepAliveForAPeerThatIsStopped() throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.IBVERBS,
                "the device is the process that is stopped");
        try (PeerProcess server = PeerProcess.server()) {
            Events events = new Events();
            Channel channel = connect(events, server.address());
            server.stop();
            channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 50);
            channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS, 5_000);
            channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_COUNT, 1);
            channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
            TestTimeouts.await(channel.eventLoop().schedule(() -> { }, 8, TimeUnit.SECONDS));
            assertThat(events.events).isEmpty();
            assertThat(channel.isActive()).isTrue();
            server.kill();
            events.assertInactive();
        }
    }

    @Test
    void peerThatIsStoppedForLessThanTheKeepAliveTimeStays() throws Exception {
        try (PeerProcess server = PeerProcess.server()) {
            Flood flood = new Flood();
            Channel channel = connect(flood, server.address());
            flood.nextRead();
            server.stop();
            channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 10);
            channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
            TestTimeouts.await(channel.eventLoop().schedule(() -> { }, 200, TimeUnit.MILLISECONDS));
            flood.forgetReads();
            server.resume();
            flood.nextRead();
            assertThat(flood.events).isEmpty();
            server.kill();
            flood.assertReset();
        }
    }

    @Test
    void peerThatIsStoppedInTheMiddleOfAStreamIsReportedAfterTheUserTimeout() throws Exception {
        try (PeerProcess server = PeerProcess.server()) {
            Flood flood = new Flood();
            Channel channel = connect(flood, server.address());
            flood.nextRead();
            server.stop();
            channel.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 500);
            flood.assertEnd("timed out");
        }
    }

    /** The write is done before, as its bytes are copied into the request. */
    @Test
    void peerThatIsStoppedBeforeAShortWriteIsReportedAfterTheUserTimeout() throws Exception {
        assertThatStoppedPeerIsReported(channel -> {
            channel.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 200);
            TestTimeouts.sync(channel.writeAndFlush(Unpooled.copiedBuffer(new byte[16])));
        });
    }

    @Test
    void closeIsBoundedWhenThePeerIsStopped() throws Exception {
        try (PeerProcess server = PeerProcess.server()) {
            Events events = new Events();
            Channel channel = connect(events, server.address());
            server.stop();
            TestTimeouts.await(channel.close());
            assertThat(channel.isOpen()).isFalse();
        }
    }

    private static void keepAlive(Channel channel) {
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 50);
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_INTERVAL_MILLIS, 50);
        channel.config().setOption(RdmaChannelOption.KEEP_ALIVE_COUNT, 2);
        channel.config().setOption(ChannelOption.SO_KEEPALIVE, true);
    }

    private static Channel connect(ChannelInboundHandlerAdapter handler, SocketAddress address)
            throws InterruptedException {
        return TestTimeouts.sync(new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class).handler(handler)
                .connect(address)).channel();
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

        void forgetReads() {
            reads.clear();
        }

        void assertReset() throws InterruptedException {
            assertEnd("reset");
        }

        void assertEnd(String why) throws InterruptedException {
            assertInactive();
            assertThat(causes).as("the writes tell").isEmpty();
            Throwable first = null;
            ChannelFuture write;
            while ((write = writes.poll()) != null) {
                first = first == null ? TestTimeouts.await(write).cause() : first;
            }
            assertThat(first).isInstanceOf(IOException.class).asString().contains(why);
        }
    }
}
