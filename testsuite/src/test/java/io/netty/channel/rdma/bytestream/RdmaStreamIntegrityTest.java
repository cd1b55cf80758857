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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.PeerProcess;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.util.concurrent.Promise;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Several connections at once, both sides sending: buffers of every kind and size, flushed now and then, also from
 * promise listeners; the reader keeps some of what it gets for a while and pauses now and then. Every byte is a
 * function of its position in the stream.
 */
@Tag("iwarp")
@Tag("rxe-quick")
class RdmaStreamIntegrityTest {
    private static final int CONNECTIONS = 3;
    private static final long BYTES = 10_000_000 / TestTimeouts.MULTIPLIER;
    private static final long WRITES = 20_000 / TestTimeouts.MULTIPLIER;
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    @ParameterizedTest
    @ValueSource(ints = {20, 300, 5_000, 70_000, 2_000_000})
    void everyByteArrivesOnceAndInOrder(int maxWrite) throws InterruptedException {
        exchange(maxWrite, Math.min(BYTES, maxWrite * WRITES), Map.of());
    }

    /** Queues and buffers are full most of the time. */
    @ParameterizedTest
    @ValueSource(ints = {20, 5_000, 70_000})
    void tinyQueuesAndBuffers(int maxWrite) throws InterruptedException {
        exchange(maxWrite, Math.min(BYTES, maxWrite * WRITES / 4) / 5, Map.of(RdmaChannelOption.SEND_QUEUE_DEPTH, 16,
                RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 16, ChannelOption.SO_RCVBUF, 4096,
                RdmaChannelOption.RECEIVE_COPY_THRESHOLD, 0, RdmaChannelOption.SEND_COPY_THRESHOLD, 0,
                RdmaChannelOption.MAX_INLINE, 16));
    }

    private static void exchange(int maxWrite, long bytes, Map<ChannelOption<Integer>, Integer> options)
            throws InterruptedException {
        List<Promise<Void>> received = new ArrayList<>();
        List<Channel> channels = new ArrayList<>();
        for (int i = 0; i < 2 * CONNECTIONS; i++) {
            received.add(LOOPS.group().next().newPromise());
        }
        List<Promise<Void>> accepted = new ArrayList<>(received.subList(CONNECTIONS, 2 * CONNECTIONS));
        ServerBootstrap serverBootstrap = new ServerBootstrap().group(LOOPS.group())
                .channel(RdmaServerSocketChannel.class);
        Bootstrap bootstrap = new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class);
        options.forEach((option, value) -> {
            serverBootstrap.childOption(option, value);
            bootstrap.option(option, value);
        });
        serverBootstrap.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel ch) {
                synchronized (accepted) {
                    Promise<Void> promise = accepted.remove(0);
                    ch.pipeline().addLast(new Peer(accepted.size(), maxWrite, bytes, promise));
                }
            }
        });
        Channel server = TestTimeouts.sync(serverBootstrap.bind(RdmaSocketTestPermutation.newSocketAddress()))
                .channel();
        for (int i = 0; i < CONNECTIONS; i++) {
            channels.add(TestTimeouts.sync(bootstrap.clone().handler(new Peer(100 + i, maxWrite, bytes,
                    received.get(i))).connect(server.localAddress())).channel());
        }
        for (Promise<Void> promise : received) {
            TestTimeouts.sync(promise);
        }
        for (Channel channel : channels) {
            TestTimeouts.sync(channel.close());
        }
        TestTimeouts.sync(server.close());
    }

    @ParameterizedTest
    @ValueSource(ints = {20, 5_000, 70_000, 2_000_000})
    void everyByteComesBackFromAnotherProcess(int maxWrite) throws Exception {
        long bytes = Math.min(BYTES, maxWrite * WRITES);
        try (PeerProcess server = PeerProcess.server()) {
            List<Promise<Void>> received = new ArrayList<>();
            List<Channel> channels = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                Promise<Void> promise = LOOPS.group().next().newPromise();
                received.add(promise);
                channels.add(TestTimeouts.sync(new Bootstrap().group(LOOPS.group()).channel(RdmaSocketChannel.class)
                        .handler(new Peer(i, maxWrite, bytes, promise)).connect(server.address())).channel());
            }
            for (Promise<Void> promise : received) {
                TestTimeouts.sync(promise);
            }
            for (Channel channel : channels) {
                TestTimeouts.sync(channel.close());
            }
        }
    }

    private static byte value(long position) {
        return (byte) (position * 0x9E3779B97F4A7C15L >>> 56);
    }

    private static final class Peer extends ChannelInboundHandlerAdapter {
        private static final int MAX_PENDING = 16;

        private final Random random;
        private final int maxWrite;
        private final long bytes;
        private final Promise<Void> done;
        private final List<ByteBuf> kept = new ArrayList<>();
        private int pending;
        private long sent;
        private long received;

        Peer(long seed, int maxWrite, long bytes, Promise<Void> done) {
            random = new Random(seed);
            this.maxWrite = maxWrite;
            this.bytes = bytes;
            this.done = done;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            send(ctx);
        }

        private void send(ChannelHandlerContext ctx) {
            for (int i = random.nextInt(8); i >= 0 && sent < bytes; i--) {
                int length = (int) Math.min(1 + random.nextInt(random.nextBoolean() ? maxWrite : 200), bytes - sent);
                ByteBuf buf = buffer(ctx, length);
                sent += length;
                pending++;
                // Each one goes on with the stream when it is sent, in the middle of the completion of others.
                if (random.nextInt(3) == 0) {
                    ctx.writeAndFlush(buf).addListener(future -> sent(ctx, future.cause()));
                } else {
                    ctx.write(buf).addListener(future -> sent(ctx, future.cause()));
                }
            }
            ctx.flush();
        }

        private void sent(ChannelHandlerContext ctx, Throwable cause) {
            if (cause != null) {
                done.tryFailure(cause);
            } else if (--pending < MAX_PENDING) {
                send(ctx);
            }
        }

        private ByteBuf buffer(ChannelHandlerContext ctx, int length) {
            int first = random.nextInt(length + 1);
            switch (random.nextInt(5)) {
            case 0:
                return fill(Unpooled.buffer(length), sent, length);
            case 1:
                return fill(PooledByteBufAllocator.DEFAULT.directBuffer(length), sent, length);
            case 2:
                return Unpooled.wrappedBuffer(fill(RdmaByteBufAllocator.DEFAULT.directBuffer(), sent, first),
                        fill(PooledByteBufAllocator.DEFAULT.directBuffer(), sent + first, length - first));
            default:
                return fill(ctx.alloc().directBuffer(length), sent, length);
            }
        }

        private static ByteBuf fill(ByteBuf buf, long position, int length) {
            // At once, because the leak detector records every access.
            byte[] array = new byte[length];
            for (int i = 0; i < length; i++) {
                array[i] = value(position + i);
            }
            return buf.writeBytes(array);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf buf = (ByteBuf) msg;
            byte[] array = ByteBufUtil.getBytes(buf);
            for (int i = 0; i < array.length; i++, received++) {
                if (array[i] != value(received)) {
                    done.tryFailure(new AssertionError("byte " + received + " is wrong; offset " + i + " of " + buf));
                    break;
                }
            }
            kept.add(buf);
            if (kept.size() > 20 || received >= bytes) {
                release();
            }
            if (received == bytes) {
                done.trySuccess(null);
            } else if (random.nextInt(50) == 0) {
                ctx.channel().config().setAutoRead(false);
                ctx.executor().execute(() -> ctx.channel().config().setAutoRead(true));
            }
        }

        private void release() {
            // Out of order.
            while (!kept.isEmpty()) {
                kept.remove(random.nextInt(kept.size())).release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.tryFailure(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            done.tryFailure(new AssertionError("closed after " + received + " bytes"));
            release();
        }
    }
}
