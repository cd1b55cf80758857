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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.rdma.verbs.ChildJvm;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.GlobalEventExecutor;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A process whose direct memory is used up by answers that clients do not read, on many connections at once: when the
 * clients have gone, no channel and no buffer is left, each write is done, and the next connection works.
 */
class RdmaOutOfDirectMemoryTest {
    private static final int CLIENTS = 40;
    private static final int ROUNDS = 3;
    /** Enough for a round: some connections end by it, the others have no memory to read or to send. */
    private static final int FAILURES = CLIENTS / 8;
    private static final int ANSWERS = 16;
    private static final int ANSWER = 128 << 10;

    @Test
    void nothingIsLeftWhenTheClientsHaveGone() throws Exception {
        try (ChildJvm child = new ChildJvm(Answerer.class, List.of("io.netty.maxDirectMemory=" + (48 << 20),
                "io.netty.rdma.maxPinnedMemory=" + (40 << 20)))) {
            assertThat(child.output().lines().filter(line -> line.startsWith("round "))).hasSize(ROUNDS);
        }
    }

    @Sharable
    private static final class Silent extends ChannelInboundHandlerAdapter { }

    /** Answers each message by many that are larger, all in direct memory. */
    @Sharable
    static final class Answerer extends ChannelInboundHandlerAdapter {
        private final ByteBufAllocator allocator = new UnpooledByteBufAllocator(true);
        private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        private final Queue<ByteBuf> answers = new ConcurrentLinkedQueue<>();
        private final AtomicInteger unfinished = new AtomicInteger();
        private final AtomicInteger failures = new AtomicInteger();

        private Answerer() { }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            accepted.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ReferenceCountUtil.release(msg);
            for (int i = 0; i < ANSWERS; i++) {
                ByteBuf answer = allocator.directBuffer(ANSWER).writeZero(ANSWER);
                answers.add(answer);
                unfinished.incrementAndGet();
                ctx.writeAndFlush(answer).addListener(written -> unfinished.decrementAndGet());
            }
        }

        /** Some servers close then, others wait for the client's end. */
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failures.incrementAndGet();
            if ((System.identityHashCode(ctx.channel()) & 1) == 0) {
                ctx.close();
            }
        }

        private static Bootstrap client(EventLoopGroup group, ByteBufAllocator allocator) {
            return new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                    .option(ChannelOption.ALLOCATOR, allocator).handler(new Silent());
        }

        private void run(EventLoopGroup group) throws Exception {
            Channel server = sync(new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)
                    .childOption(ChannelOption.ALLOCATOR, allocator).childHandler(this)
                    .bind(TestAddress.anyPort())).channel();
            Bootstrap bootstrap = client(group, allocator).option(ChannelOption.AUTO_READ, false);
            for (int round = 0; round < ROUNDS; round++) {
                failures.set(0);
                List<Channel> clients = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    ChannelFuture connect = TestTimeouts.await(bootstrap.connect(server.localAddress()));
                    if (connect.isSuccess()) {
                        clients.add(connect.channel());
                    }
                }
                awaitTrue(() -> {
                    clients.forEach(client -> client.writeAndFlush(Unpooled.buffer(1).writeByte(1)));
                    return failures.get() >= FAILURES;
                });
                int failed = failures.get();
                for (int i = 0; i < clients.size(); i++) {
                    if (i % 2 == 0) {
                        clients.get(i).config().setOption(ChannelOption.SO_LINGER, 0);
                    }
                    clients.get(i).close();
                }
                for (Channel client : clients) {
                    sync(client.closeFuture());
                }
                awaitTrue(accepted::isEmpty);
                awaitTrue(() -> unfinished.get() == 0);
                awaitTrue(() -> answers.stream().allMatch(answer -> answer.refCnt() == 0));
                System.out.println("round " + round + ": " + clients.size() + " clients, " + failed + " failures, " +
                        answers.size() + " answers");
                answers.clear();
                Channel next = sync(client(group, allocator).connect(server.localAddress())).channel();
                sync(next.writeAndFlush(Unpooled.buffer(1).writeByte(1)));
                sync(next.close());
            }
            sync(server.close());
        }

        public static void main(String[] arguments) throws Exception {
            EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());
            Answerer answerer = new Answerer();
            try {
                answerer.run(group);
            } finally {
                TestTimeouts.shutdown(group);
            }
            assertThat(answerer.answers).allMatch(answer -> answer.refCnt() == 0);
            assertThat(((UnpooledByteBufAllocator) answerer.allocator).metric().usedDirectMemory()).isZero();
        }
    }
}
