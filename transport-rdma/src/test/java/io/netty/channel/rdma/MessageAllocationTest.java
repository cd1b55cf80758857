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

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.management.ManagementFactory;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Warm event loops allocate nothing for a message.
 */
class MessageAllocationTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    /** Messages of one window. An object of 16 bytes for each message would be 16 times the limit. */
    private static final int MESSAGES = 20_000;
    /** The first windows are before the code is compiled; a later one may meet a resize of something. */
    private static final int MAX_WINDOWS = 10;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private ResourceLeakDetector.Level level;

    /** Leak detection would be measured: a tracked buffer has an object for it. */
    @BeforeEach
    void stopLeakDetection() {
        level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    @AfterEach
    void resumeLeakDetection() {
        ResourceLeakDetector.setLevel(level);
    }

    /** Inline, staged and copied on arrival, in place at both ends, of several requests. */
    @ParameterizedTest
    @ValueSource(ints = { 64, 400, 4 << 10, 128 << 10 })
    void loopsAllocateNothingForMessageOfStream(int bytes) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            addFirst(pair.server, new Echo());
            Player player = new Player(bytes);
            addFirst(pair.client, player);
            long[] loops = { threadId(pair.client), threadId(pair.server) };

            long least = Long.MAX_VALUE;
            for (int window = 0; window < MAX_WINDOWS && least >= MESSAGES; window++) {
                long before = allocated(loops);
                player.play(MESSAGES);
                least = Math.min(least, allocated(loops) - before);
            }

            assertThat(least).as("bytes for %s messages and their echoes", MESSAGES).isLessThan(MESSAGES);
        }
    }

    /** On its loop, so that it gets the next message for sure. */
    private static void addFirst(Channel channel, ChannelHandler handler) throws Exception {
        TestTimeouts.sync(channel.eventLoop().submit(() -> channel.pipeline().addFirst(handler)));
    }

    private long allocated(long[] loops) {
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(loops)) {
            // The JVM can be told not to measure.
            assertThat(bytes).isPositive();
            sum += bytes;
        }
        return sum;
    }

    private static long threadId(Channel channel) throws Exception {
        EventLoop loop = channel.eventLoop();
        return TestTimeouts.result(loop.submit(() -> Thread.currentThread().getId()));
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ctx.write(msg, ctx.voidPromise());
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }

    /** Sends messages, the next ones when their predecessors have come back. */
    private static final class Player extends ChannelInboundHandlerAdapter implements Runnable {
        private final BlockingQueue<Boolean> ends = new LinkedBlockingQueue<>();
        private final int bytes;
        private ChannelHandlerContext context;
        private int toSend;
        private int toArrive;
        private int partial;

        Player(int bytes) {
            this.bytes = bytes;
        }

        void play(int messages) throws InterruptedException {
            toSend = messages;
            toArrive = messages;
            context.executor().execute(this);
            TestTimeouts.take(ends, "the last echo");
        }

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            context = ctx;
        }

        @Override
        public void run() {
            send();
            context.flush();
        }

        private void send() {
            if (toSend > 0) {
                toSend--;
                context.write(context.alloc().directBuffer(bytes, bytes).writerIndex(bytes), context.voidPromise());
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            for (partial += buf.readableBytes(); partial >= bytes; partial -= bytes) {
                send();
                if (--toArrive == 0) {
                    ends.add(true);
                }
            }
            buf.release();
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            ctx.flush();
        }
    }
}
