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
import io.netty.buffer.ByteBufHolder;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestRandom;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.support.PeerProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.LongStream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Written bytes arrive unchanged, whatever allowed changes happen to the buffers meanwhile: they grow, are
 * released, or are taken out of composite buffers, and their memory is used again. The peer is stopped for that, so
 * that the device (the embedded provider's, which is the peer's process) takes nothing before.
 */
class RdmaMemoryInFlightTest {
    private static final int KIB = 1 << 10;
    /** No device here has room for more in a work request. */
    private static final int MAX_INLINE = 512;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(1);

    static LongStream seeds() {
        return TestRandom.seeds(4);
    }

    @Test
    void aBufferGrowsWhileItsSlicesAreInFlight() throws Exception {
        try (Peer peer = new Peer(PeerProcess.server(), RdmaSocketChannel.class, Integer.MAX_VALUE);
             Program program = new Program(peer, 1)) {
            // So that the peer's window is open.
            program.whileRunning(() -> program.writeNew(2048 * KIB));
            program.whileStopped(() -> {
                ByteBuf buf = peer.channel.alloc().directBuffer(16 * 256 * KIB);
                buf.writeBytes(program.bytes(16 * 256 * KIB));
                for (int i = 0; i < 16; i++) {
                    program.write(buf.retainedSlice(i * 256 * KIB, 256 * KIB));
                }
                peer.channel.flush();
                buf.writeByte(42);
                program.useMemory(16 * 256 * KIB);
                buf.release();
            });
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void aStreamIsWhatWasWritten(long seed) throws Exception {
        try (Peer peer = new Peer(PeerProcess.server(), RdmaSocketChannel.class, Integer.MAX_VALUE)) {
            run(peer, seed);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void messagesAreWhatWasWritten(long seed) throws Exception {
        try (Peer peer = new Peer(PeerProcess.messageServer(), RdmaMessageChannel.class, PeerProcess.MAX_MESSAGE)) {
            run(peer, seed);
        }
    }

    private static void run(Peer peer, long seed) throws Exception {
        System.out.println("seed " + seed);
        try (Program program = new Program(peer, seed)) {
            program.whileRunning(() -> program.writeNew(peer.most(2048 * KIB)));
            for (int round = 0; round < 20; round++) {
                program.whileRunning(() -> {
                    program.writeNew(peer.most(200 * KIB));
                    program.writeNew(peer.most(2 * KIB));
                });
                program.whileStopped(program::steps);
            }
        }
    }

    /** Writes what it does with buffers to a peer that echoes, and compares. Steps are on the event loop. */
    private static final class Program implements AutoCloseable {
        private final Peer peer;
        private final SplittableRandom random;
        private final ByteArrayOutputStream written = new ByteArrayOutputStream();
        private final List<ByteBuf> buffers = new ArrayList<>();
        private final List<CompositeByteBuf> composites = new ArrayList<>();
        /** Received buffers: their memory is the peer's again when they are released. */
        private final List<ByteBuf> received = new ArrayList<>();
        private final List<ByteBuf> used = new ArrayList<>();
        /** The last write that is too long to be copied into its work request, where it is done at once. */
        private ChannelFuture last;

        Program(Peer peer, long seed) {
            this.peer = peer;
            random = new SplittableRandom(seed);
        }

        void whileRunning(Runnable steps) throws Exception {
            TestTimeouts.sync(peer.channel.eventLoop().submit(steps));
            compare();
        }

        void whileStopped(Runnable steps) throws Exception {
            peer.process.stop();
            last = null;
            try {
                TestTimeouts.sync(peer.channel.eventLoop().submit(steps));
                assertThat(last == null || !last.isDone()).as("the last write is in flight").isTrue();
            } finally {
                peer.process.resume();
            }
            compare();
        }

        private void compare() throws Exception {
            peer.channel.flush();
            byte[] expected = written.toByteArray();
            written.reset();
            ByteBuf all = Unpooled.buffer(expected.length);
            while (all.readableBytes() < expected.length) {
                ByteBuf buf = TestTimeouts.take(peer.echoed, "an echo");
                all.writeBytes(buf, buf.readerIndex(), buf.readableBytes());
                received.add(buf);
            }
            assertThat(ByteBufUtil.hashCode(all)).isEqualTo(ByteBufUtil.hashCode(Unpooled.wrappedBuffer(expected)));
            assertThat(all.array()).isEqualTo(expected);
            while (received.size() > 8) {
                received.remove(0).release();
            }
            releaseAll(used);
        }

        @Override
        public void close() {
            releaseAll(buffers);
            releaseAll(composites);
            releaseAll(received);
            releaseAll(used);
        }

        byte[] bytes(int length) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            return bytes;
        }

        private ByteBuf newBuffer(int length) {
            return peer.channel.alloc().directBuffer(length).writeBytes(bytes(length));
        }

        void writeNew(int length) {
            write(newBuffer(length));
        }

        /** Takes over the buffer. */
        void write(ByteBuf buf) {
            written.writeBytes(ByteBufUtil.getBytes(buf));
            boolean isLong = buf.readableBytes() > MAX_INLINE;
            ChannelFuture future = peer.channel.write(peer.message(buf));
            last = isLong ? future : last;
        }

        /** Memory that has become free is used for something else. */
        void useMemory(int length) {
            used.add(peer.channel.alloc().directBuffer(length).setZero(0, length));
        }

        void steps() {
            int steps = random.nextInt(10, 60);
            for (int i = 0; i < steps; i++) {
                step();
            }
            releaseAll(buffers);
            releaseAll(composites);
            for (int order = 9; order < 20; order++) {
                useMemory(1 << order);
                useMemory(1 << order);
            }
        }

        private void step() {
            switch (random.nextInt(10)) {
            case 0:
            case 1:
                buffers.add(newBuffer(length()));
                break;
            case 2:
                any(buffers, this::writePart);
                break;
            case 3:
                any(buffers, buf -> buf.writeBytes(bytes(length())));
                break;
            case 4:
                any(buffers, this::resize);
                break;
            case 5:
                composites.add(compose());
                break;
            case 6:
                any(composites, this::writePart);
                break;
            case 7:
                // The consolidation releases the components.
                any(composites, CompositeByteBuf::consolidate);
                break;
            case 8:
                peer.channel.flush();
                break;
            default:
                any(buffers, buf -> {
                    buffers.remove(buf);
                    buf.release();
                });
                useMemory(length());
            }
        }

        private int length() {
            return peer.most(1 << random.nextInt(15)) + random.nextInt(2 * KIB);
        }

        private void resize(ByteBuf buf) {
            int capacity = buf.capacity();
            buf.capacity(capacity + random.nextInt(1, 2 * capacity));
            if (random.nextBoolean()) {
                buf.capacity(Math.max(capacity, buf.writerIndex()));
            }
        }

        private void writePart(ByteBuf buf) {
            int from = random.nextInt(buf.readableBytes());
            int length = peer.most(random.nextInt(1, buf.readableBytes() - from + 1));
            switch (random.nextInt(3)) {
            case 0:
                write(buf.retainedSlice(from, length));
                break;
            case 1:
                write(buf.retainedDuplicate().setIndex(from, from + length));
                break;
            default:
                // A buffer that does not know its memory, whose owner keeps that until it was written.
                ByteBuf owner = newBuffer(length);
                used.add(owner);
                write(Unpooled.wrappedBuffer(owner.nioBuffer()));
            }
        }

        private CompositeByteBuf compose() {
            CompositeByteBuf composite = peer.channel.alloc().compositeDirectBuffer();
            for (int parts = random.nextInt(1, 5); parts > 0; parts--) {
                List<ByteBuf> from = random.nextBoolean() ? buffers : received;
                if (from.isEmpty()) {
                    composite.addComponent(true, newBuffer(length()));
                } else if (random.nextBoolean()) {
                    composite.addComponent(true, from.get(random.nextInt(from.size())).retainedDuplicate());
                } else {
                    composite.addComponent(true, from.remove(random.nextInt(from.size())));
                }
            }
            return composite;
        }

        private <B extends ByteBuf> void any(List<B> from, Consumer<B> step) {
            if (!from.isEmpty()) {
                step.accept(from.get(random.nextInt(from.size())));
            }
        }

        private static void releaseAll(List<? extends ByteBuf> buffers) {
            buffers.forEach(ByteBuf::release);
            buffers.clear();
        }
    }

    /** A process that echoes, and a channel to it. */
    private static final class Peer implements AutoCloseable {
        final PeerProcess process;
        final Channel channel;
        final BlockingQueue<ByteBuf> echoed = new LinkedBlockingQueue<>();
        private final int maxMessage;

        Peer(PeerProcess process, Class<? extends Channel> type, int maxMessage) throws Exception {
            this.process = process;
            this.maxMessage = maxMessage;
            // The other process accepts for the first time, which takes seconds on an emulated processor.
            Bootstrap bootstrap = new Bootstrap().group(LOOPS.group()).channel(type)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) TestTimeouts.SECONDS * 1000);
            if (type == RdmaMessageChannel.class) {
                bootstrap.option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, PeerProcess.MAX_MESSAGE);
            }
            try {
                channel = TestTimeouts.sync(bootstrap
                        .handler(new ChannelInboundHandlerAdapter() {
                            @Override
                            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                                echoed.add(msg instanceof ByteBuf ? (ByteBuf) msg : ((ByteBufHolder) msg).content());
                            }
                        }).connect(process.address())).channel();
            } catch (Throwable t) {
                process.close();
                throw t;
            }
        }

        Object message(ByteBuf buf) {
            return channel instanceof RdmaMessageChannel ? new RdmaSend(buf) : buf;
        }

        int most(int length) {
            return Math.min(length, maxMessage);
        }

        @Override
        public void close() {
            assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            process.close();
        }
    }
}
