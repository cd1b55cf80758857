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
package io.netty.channel.rdma.differential;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.TestRegion;
import io.netty.channel.rdma.TestTimeouts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Promises of a transport about a message that is read or written, on epoll's TCP and on RDMA: each test has its row in
 * docs/migrating.md.
 */
@Tag("quick")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MessageContractTest {
    private static final byte[] CONTENT = new byte[1_000_000];

    static {
        new SplittableRandom(1).nextBytes(CONTENT);
    }

    @TempDir
    private Path folder;
    private Transport epoll;
    private Transport rdma;

    @BeforeAll
    void start() {
        epoll = Transport.epoll();
        rdma = Transport.rdma();
    }

    @AfterAll
    void end() throws InterruptedException {
        epoll.close();
        rdma.close();
    }

    private Stream<Transport> transports() {
        return Stream.of(epoll, rdma);
    }

    private Stream<Arguments> with(Object... values) {
        return transports().flatMap(transport -> Stream.of(values).map(value -> Arguments.of(transport, value)));
    }

    // ---- what is read

    private Stream<Arguments> lengths() {
        return with(1, 1024, 1025, 100_000);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("lengths")
    void bufferThatWasReadTakesMoreBytes(Transport transport, int length) throws Exception {
        try (Ends ends = new Ends(transport)) {
            byte[] bytes = Arrays.copyOf(CONTENT, length);
            sync(ends.client.writeAndFlush(Unpooled.wrappedBuffer(bytes)));
            for (int done = 0; done < length;) {
                ByteBuf buf = ends.server.next();
                int arrived = buf.readableBytes();
                assertThat(buf.maxCapacity()).isEqualTo(Integer.MAX_VALUE);
                buf.writeBytes(CONTENT, 0, 5000).writeInt(1234);
                byte[] expected = ByteBufUtil.getBytes(buf);
                assertThat(Arrays.copyOf(expected, arrived)).isEqualTo(Arrays.copyOfRange(bytes, done, done + arrived));
                assertThat(Arrays.copyOfRange(expected, arrived, arrived + 5000))
                        .isEqualTo(Arrays.copyOf(CONTENT, 5000));
                assertThat(buf.getInt(arrived + 5000)).isEqualTo(1234);
                sync(ends.server.channel.writeAndFlush(buf));
                assertThat(ends.clientReader.read(expected.length)).isEqualTo(expected);
                assertThat(buf.refCnt()).isZero();
                done += arrived;
            }
        }
    }

    private Stream<Arguments> boundedAllocators() {
        return with(new AdaptiveRecvByteBufAllocator(64, 256, 1024), new FixedRecvByteBufAllocator(1024));
    }

    @ParameterizedTest(name = "{0}, {index}")
    @MethodSource("boundedAllocators")
    void readGivesNoMoreThanItsAllocatorSays(Transport transport, RecvByteBufAllocator allocator) throws Exception {
        try (Ends ends = new Ends(transport, allocator)) {
            sync(ends.client.writeAndFlush(Unpooled.wrappedBuffer(CONTENT, 0, 100_000)));
            for (int done = 0; done < 100_000;) {
                ByteBuf buf = ends.server.next();
                assertThat(buf.readableBytes()).isBetween(1, 1024);
                assertThat(ByteBufUtil.getBytes(buf))
                        .isEqualTo(Arrays.copyOfRange(CONTENT, done, done + buf.readableBytes()));
                done += buf.readableBytes();
                buf.release();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void bufferThatWasReadIsTheReadersAlsoWhenTheChannelIsClosed(Transport transport) throws Exception {
        List<ByteBuf> read = new ArrayList<>();
        int length = 50_000;
        try (Ends ends = new Ends(transport)) {
            sync(ends.client.writeAndFlush(Unpooled.wrappedBuffer(CONTENT, 0, length)));
            for (int done = 0; done < length; done += read.get(read.size() - 1).readableBytes()) {
                read.add(ends.server.next());
                assertThat(read.get(read.size() - 1).refCnt()).isOne();
            }
        }
        int done = 0;
        for (ByteBuf buf : read) {
            int arrived = buf.readableBytes();
            assertThat(ByteBufUtil.getBytes(buf)).isEqualTo(Arrays.copyOfRange(CONTENT, done, done + arrived));
            buf.setByte(0, ~buf.getByte(0));
            buf.writeInt(1);
            assertThat(buf.getByte(0)).isEqualTo((byte) ~CONTENT[done]);
            assertThat(buf.release()).isTrue();
            done += arrived;
        }
    }

    // ---- what is written

    private Stream<Arguments> constantLengths() {
        return with(100, 700);
    }

    /** As far as a socket's buffer takes it. */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("constantLengths")
    void bufferMayBeWrittenWhileItIsWrittenAlready(Transport transport, int length) throws Exception {
        try (Ends ends = new Ends(transport)) {
            ByteBuf constant = ends.client.alloc().directBuffer(length).writeBytes(CONTENT, 0, length);
            int times = 200_000 / length;
            ChannelFuture last = null;
            for (int i = 0; i < times; i++) {
                last = ends.client.writeAndFlush(constant.retain());
            }
            byte[] expected = new byte[times * length];
            for (int i = 0; i < expected.length; i += length) {
                System.arraycopy(CONTENT, 0, expected, i, length);
            }
            assertThat(ends.server.read(expected.length)).isEqualTo(expected);
            sync(last);
            assertThat(constant.readerIndex()).isZero();
            assertThat(constant.refCnt()).isOne();
            constant.release();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void buffersOfAllKindsAreSentAndReleased(Transport transport) throws Exception {
        try (Ends ends = new Ends(transport)) {
            int length = 3000;
            List<ByteBuf> messages = new ArrayList<>(List.of(
                    Unpooled.wrappedBuffer(CONTENT, 0, length),
                    Unpooled.EMPTY_BUFFER,
                    Unpooled.directBuffer().writeBytes(CONTENT, 0, length),
                    ends.client.alloc().heapBuffer().writeBytes(CONTENT, 0, length),
                    ends.client.alloc().directBuffer().writeBytes(CONTENT, 0, length).asReadOnly(),
                    Unpooled.wrappedBuffer(ByteBuffer.wrap(CONTENT, 0, length).asReadOnlyBuffer()),
                    Unpooled.wrappedBuffer(Unpooled.copiedBuffer(CONTENT, 0, 1000),
                            Unpooled.copiedBuffer(CONTENT, 1000, 0),
                            Unpooled.copiedBuffer(CONTENT, 1000, length - 1000)),
                    ends.client.alloc().directBuffer().writeBytes(CONTENT, 0, length).slice(0, length)));
            ChannelFuture last = null;
            for (ByteBuf message : messages) {
                last = ends.client.write(message);
            }
            ends.client.flush();
            for (int i = 0; i < messages.size() - 1; i++) {
                assertThat(ends.server.read(length)).as("message %s", i).isEqualTo(Arrays.copyOf(CONTENT, length));
            }
            sync(last);
            messages.remove(Unpooled.EMPTY_BUFFER);
            assertThat(messages).allMatch(message -> message.refCnt() == 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void messageOfAnotherClassFailsAloneAndIsReleased(Transport transport) throws Exception {
        try (Ends ends = new Ends(transport)) {
            ByteBuf buf = Unpooled.copiedBuffer(CONTENT, 0, 10);
            assertThat(TestTimeouts.await(ends.client.write(new DefaultByteBufHolder(buf))).cause())
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThat(buf.refCnt()).isZero();
            sync(ends.client.writeAndFlush(Unpooled.wrappedBuffer(CONTENT, 0, 10)));
            assertThat(ends.server.read(10)).isEqualTo(Arrays.copyOf(CONTENT, 10));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void messageToAChannelThatIsClosedFailsAndIsReleased(Transport transport) throws Exception {
        try (Ends ends = new Ends(transport)) {
            sync(ends.client.close());
            ByteBuf buf = Unpooled.copiedBuffer(CONTENT, 0, 10);
            FileRegion region = new PiecesRegion(10, 10);
            for (Object message : new Object[] { buf, region }) {
                assertThat(TestTimeouts.await(ends.client.writeAndFlush(message)).cause())
                        .isInstanceOf(ClosedChannelException.class);
            }
            assertThat(buf.refCnt()).isZero();
            assertThat(region.refCnt()).isZero();
        }
    }

    private Stream<Arguments> more() {
        return Stream.of(new int[] { 100, 200 }, new int[] { 1000, 1016 }, new int[] { 60_000, 60_100 },
                new int[] { 1, 5000 }).flatMap(more -> transports().map(t -> Arguments.of(t, more[0], more[1])));
    }

    @ParameterizedTest(name = "{0}, {1}, {2}")
    @MethodSource("more")
    void fileRegionMayWriteMoreThanItsCount(Transport transport, int count, int length) throws Exception {
        try (Ends ends = new Ends(transport)) {
            ends.send(new TestRegion(count) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    target.write(ByteBuffer.wrap(CONTENT, 0, length));
                    return count();
                }
            }, length);
        }
    }

    /** As with a channel that blocks, which {@link WritableByteChannel} can be. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void fileRegionMayWriteUntilAllIsTaken(Transport transport) throws Exception {
        try (Ends ends = new Ends(transport)) {
            ends.send(new TestRegion(CONTENT.length) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    for (int i = 0; i < CONTENT.length; i += 10_000) {
                        ByteBuffer piece = ByteBuffer.wrap(CONTENT, i, 10_000);
                        while (piece.hasRemaining()) {
                            target.write(piece);
                        }
                    }
                    return count();
                }
            }, CONTENT.length);
        }
    }

    private Stream<Arguments> pieces() {
        return with(999, 10_000, CONTENT.length);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("pieces")
    void fileRegionIsAskedAgainForWhatWasNotTaken(Transport transport, int piece) throws Exception {
        try (Ends ends = new Ends(transport)) {
            ends.send(new PiecesRegion(CONTENT.length, piece), CONTENT.length);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("transports")
    void fileRegionIsSentByAThreadThatIsInterrupted(Transport transport) throws Exception {
        Path file = Files.write(folder.resolve(transport.name), CONTENT);
        int length = 20_000;
        try (Ends ends = new Ends(transport); FileChannel channel = FileChannel.open(file)) {
            DefaultFileRegion region = new DefaultFileRegion(channel, 0, length);
            region.retain();
            ChannelFuture[] write = new ChannelFuture[1];
            sync(ends.client.eventLoop().submit(() -> {
                Thread.currentThread().interrupt();
                try {
                    write[0] = ends.client.writeAndFlush(region);
                    assertThat(Thread.currentThread().isInterrupted()).isTrue();
                } finally {
                    // For the thread's own sake: the event loop clears it, with a warning, when it sleeps.
                    Thread.interrupted();
                }
            }));
            assertThat(ends.server.read(length)).isEqualTo(Arrays.copyOf(CONTENT, length));
            sync(write[0]);
            assertThat(channel.isOpen()).isTrue();
            region.release();
        }
    }

    /** Writes pieces of the content until one is not taken as a whole. */
    private static final class PiecesRegion extends TestRegion {
        private final int piece;

        PiecesRegion(int count, int piece) {
            super(count);
            this.piece = piece;
        }

        @Override
        protected long give(WritableByteChannel target, long position) throws IOException {
            long given = 0;
            for (int n = piece; n == piece && position + given < count(); given += n) {
                n = target.write(ByteBuffer.wrap(CONTENT, (int) (position + given),
                        (int) Math.min(piece, count() - position - given)));
            }
            return given;
        }
    }

    /** Keeps what is read until a test takes it. */
    private static final class Reader extends ChannelInboundHandlerAdapter {
        private final BlockingQueue<ByteBuf> buffers = new LinkedBlockingQueue<>();
        private final BlockingQueue<Channel> channels = new LinkedBlockingQueue<>();
        private Channel channel;
        private ByteBuf rest;

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            channels.add(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            buffers.add((ByteBuf) msg);
        }

        ByteBuf next() throws InterruptedException {
            return TestTimeouts.take(buffers, "bytes");
        }

        byte[] read(int length) throws InterruptedException {
            ByteBuf all = Unpooled.buffer(length, length);
            while (all.isWritable()) {
                ByteBuf buf = rest == null ? next() : rest;
                all.writeBytes(buf, Math.min(buf.readableBytes(), all.writableBytes()));
                rest = buf.isReadable() ? buf : null;
                if (rest == null) {
                    buf.release();
                }
            }
            return all.array();
        }
    }

    /** A connection, its ends on different loops. */
    private static final class Ends implements AutoCloseable {
        final Reader clientReader = new Reader();
        final Reader server = new Reader();
        final Channel listener;
        final Channel client;

        Ends(Transport transport) throws InterruptedException {
            this(transport, null);
        }

        Ends(Transport transport, RecvByteBufAllocator allocator) throws InterruptedException {
            ServerBootstrap bootstrap = new ServerBootstrap().group(transport.loop(0), transport.loop(1))
                    .channel(transport.serverChannel).childHandler(server);
            if (allocator != null) {
                bootstrap.childOption(ChannelOption.RECVBUF_ALLOCATOR, allocator);
            }
            listener = sync(bootstrap.bind(transport.address())).channel();
            client = sync(new Bootstrap().group(transport.loop(2)).channel(transport.channel).handler(clientReader)
                    .connect(listener.localAddress())).channel();
            server.channel = TestTimeouts.take(server.channels, "a connection");
        }

        /** Sends a region with something around it. */
        void send(FileRegion region, int length) throws InterruptedException {
            client.write(Unpooled.wrappedBuffer(CONTENT, 100, 250));
            ChannelFuture write = client.write(region);
            ChannelFuture behind = client.writeAndFlush(Unpooled.wrappedBuffer(CONTENT, 200, 3000));
            assertThat(server.read(250)).isEqualTo(Arrays.copyOfRange(CONTENT, 100, 350));
            assertThat(server.read(length)).isEqualTo(Arrays.copyOf(CONTENT, length));
            assertThat(server.read(3000)).isEqualTo(Arrays.copyOfRange(CONTENT, 200, 3200));
            sync(write);
            sync(behind);
            assertThat(region.refCnt()).isZero();
        }

        @Override
        public void close() {
            for (Channel channel : new Channel[] { client, server.channel, listener }) {
                assertThat(channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
        }
    }
}
