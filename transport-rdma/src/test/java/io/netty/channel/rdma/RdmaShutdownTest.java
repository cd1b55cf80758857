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
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.verbs.VerbsResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Event loops that end at any moment in the life of their channels, in any order, without a quiet period: nothing is
 * left behind, and nobody waits for ever.
 */
class RdmaShutdownTest {
    private static final List<VerbsResource> OF_CONNECTIONS = Arrays.asList(VerbsResource.COMPLETION_CHANNEL,
            VerbsResource.COMPLETION_QUEUE, VerbsResource.QUEUE_PAIR, VerbsResource.EVENT_CHANNEL,
            VerbsResource.CONNECTION_ID);

    private final Queue<ByteBuf> written = new ConcurrentLinkedQueue<>();
    private int connected;
    private int releases;

    @ParameterizedTest
    @ValueSource(longs = { 1, 2, 3 })
    void loopsMayEndAtAnyMoment(long seed) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        int[] before = OF_CONNECTIONS.stream().mapToInt(VerbsResource::live).toArray();
        for (int i = 0; i < 30; i++) {
            round(random);
            for (int j = 0; j < before.length; j++) {
                assertThat(OF_CONNECTIONS.get(j).live()).as(OF_CONNECTIONS.get(j).toString())
                        .isLessThanOrEqualTo(before[j]);
            }
        }
        assertThat(connected).isPositive();
        assertThat(releases).isPositive();
    }

    /** Netty's event loop looks whether it is shut down before it runs this task, and next when it may end. */
    @Test
    void handlersHearTheEndWhenATaskShutsTheLoopDown() throws Exception {
        EventLoopGroup group = new RdmaEventLoopGroup(1);
        Queue<String> events = new ConcurrentLinkedQueue<>();
        Channel listener = new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                .handler(new EndRecorder("listener", events)).childHandler(new EndRecorder("accepted", events))
                .bind(TestAddress.anyPort()).sync().channel();
        Channel client = new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                .handler(new EndRecorder("client", events)).connect(listener.localAddress()).sync().channel();
        TestTimeouts.awaitTrue(() -> events.contains("accepted active"));
        events.clear();
        client.eventLoop().execute(() -> group.shutdownGracefully(0, TestTimeouts.SECONDS, TimeUnit.SECONDS));
        TestTimeouts.await(group.terminationFuture());
        assertThat(events).containsExactlyInAnyOrder("listener inactive", "listener unregistered",
                "accepted inactive", "accepted unregistered", "client inactive", "client unregistered");
    }

    private void round(SplittableRandom random) throws Exception {
        EventLoopGroup boss = new RdmaEventLoopGroup(1);
        EventLoopGroup workers = new RdmaEventLoopGroup(1 + random.nextInt(2));
        EventLoopGroup clients = new RdmaEventLoopGroup(1 + random.nextInt(2));
        Channel listener = new ServerBootstrap().group(boss, random.nextInt(3) == 0 ? boss : workers)
                .channel(RdmaServerSocketChannel.class).option(ChannelOption.AUTO_READ, random.nextInt(4) != 0)
                .childHandler(new Echo()).bind(TestAddress.anyPort()).sync().channel();
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = random.nextInt(20); i > 0; i--) {
            connects.add(new Bootstrap().group(clients).channel(RdmaSocketChannel.class)
                    .handler(new Talker(random.split())).connect(listener.localAddress()));
        }
        // Somewhere between the first request and the last echo.
        for (int i = random.nextInt(3000); i > 0; i--) {
            clients.next().submit(() -> { }).await();
        }
        List<EventLoopGroup> groups = new ArrayList<>(Arrays.asList(boss, workers, clients));
        Collections.shuffle(groups, new Random(random.nextLong()));
        for (EventLoopGroup group : groups) {
            group.shutdownGracefully(0, random.nextInt(2) * 500, TimeUnit.MILLISECONDS);
        }
        for (EventLoopGroup group : groups) {
            TestTimeouts.await(group.terminationFuture());
        }
        for (ChannelFuture connect : connects) {
            TestTimeouts.await(connect);
            connected += connect.isSuccess() ? 1 : 0;
        }
        for (ByteBuf buf; (buf = written.poll()) != null;) {
            assertThat(buf.refCnt()).isZero();
            releases++;
        }
    }

    @ChannelHandler.Sharable
    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private final class Talker extends ChannelInboundHandlerAdapter {
        private final SplittableRandom random;

        Talker(SplittableRandom random) {
            this.random = random;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            for (int i = random.nextInt(8); i > 0; i--) {
                ByteBuf buf = random.nextBoolean() ? ctx.alloc().directBuffer() : Unpooled.buffer();
                written.add(buf.writeZero(random.nextInt(200_000)));
                ctx.writeAndFlush(buf);
            }
            switch (random.nextInt(6)) {
            case 0:
                ctx.close();
                break;
            case 1:
                ctx.channel().config().setOption(ChannelOption.SO_LINGER, 0);
                ctx.close();
                break;
            case 2:
                ((RdmaSocketChannel) ctx.channel()).shutdownOutput();
                break;
            default:
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ((ByteBuf) msg).release();
            if (random.nextInt(10) == 0) {
                ctx.close();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private static final class EndRecorder extends ChannelInboundHandlerAdapter {
        private final String name;
        private final Queue<String> events;

        EndRecorder(String name, Queue<String> events) {
            this.name = name;
            this.events = events;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            events.add(name + " active");
            ctx.fireChannelActive();
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            events.add(name + " inactive");
        }

        @Override
        public void channelUnregistered(ChannelHandlerContext ctx) {
            events.add(name + " unregistered");
        }
    }
}
