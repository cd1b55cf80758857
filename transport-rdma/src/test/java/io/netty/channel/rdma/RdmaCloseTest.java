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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.ConnectedPair.random;
import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Effects of a close on bytes that were flushed before it, on either side.
 */
@Tag("iwarp-all")
class RdmaCloseTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    @Test
    void slowReaderGetsAllThatWasFlushedBeforeTheClose(@TempDir Path directory) throws Exception {
        byte[] content = random(3_000_000, 1);
        Path file = Files.write(directory.resolve("file"), Arrays.copyOfRange(content, 1_000_000, 1_500_000));
        List<ByteBuf> bufs = new ArrayList<>();
        try (ConnectedPair pair = slowServer()) {
            for (int i = 0; i < 1_000_000; i += 50_000) {
                ByteBuf buf = (i % 100_000 == 0 ? pair.client.alloc().directBuffer() : Unpooled.buffer())
                        .writeBytes(content, i, 50_000);
                bufs.add(buf);
                pair.client.write(buf);
            }
            pair.client.write(new DefaultFileRegion(file.toFile(), 0, 500_000));
            CompositeByteBuf composite = pair.client.alloc().compositeBuffer()
                    .addComponent(true, Unpooled.copiedBuffer(content, 1_500_000, 700_000))
                    .addComponent(true, pair.client.alloc().directBuffer().writeBytes(content, 2_200_000, 800_000));
            bufs.add(composite);
            ChannelFuture last = pair.client.writeAndFlush(composite);
            // Far more than the peer has room for, so that the close can't wait for all of it.
            sync(pair.client.close());
            TestTimeouts.await(last);
            assertThat(last.cause()).isInstanceOf(ClosedChannelException.class);

            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
        awaitTrue(() -> bufs.stream().allMatch(buf -> buf.refCnt() == 0));
    }

    /** So that a server gets memory back by the close of a channel whose peer does not read. */
    @ParameterizedTest
    @ValueSource(ints = { 0, 700_000 })
    void closeThatHasGivenUpWaitingLeavesAsMuchAsASocket(int sendBufferSize, @TempDir Path directory)
            throws Exception {
        int most = sendBufferSize == 0 ? 4 << 20 : sendBufferSize;
        byte[] content = random(12_000_000, 11);
        Path file = Files.write(directory.resolve("file"), Arrays.copyOf(content, 500_000));
        List<ByteBuf> bufs = new ArrayList<>();
        LoopClock clock = new LoopClock(1);
        try (ConnectedPair pair = slowServer(clock.group())) {
            if (sendBufferSize != 0) {
                pair.client.config().setSendBufferSize(sendBufferSize);
            }
            pair.client.write(new DefaultFileRegion(file.toFile(), 0, 500_000));
            for (int i = 500_000; i < content.length; i += 500_000) {
                ByteBuf buf = (i % 1_000_000 == 0 ? pair.client.alloc().directBuffer() : Unpooled.buffer())
                        .writeBytes(content, i, 500_000);
                bufs.add(buf);
                pair.client.write(buf);
            }
            pair.client.flush();
            linger(pair.client);
            ChannelFuture close = pair.client.close();
            // The close waits.
            sync(pair.client.eventLoop().submit(() -> { }));
            clock.advance(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            sync(close);
            assertThat(pair.client.metrics().detachedBytes()).isBetween(most - (128L << 10), (long) most);
            // The messages are released after the promise of the close is done.
            awaitTrue(() -> bufs.stream().filter(buf -> buf.refCnt() > 0).mapToLong(ByteBuf::capacity).sum() <= most);

            pair.server.config().setAutoRead(true);
            // As with TCP, the bytes that were left end in order.
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            byte[] arrived = pair.serverEvents.readAll();
            assertThat(arrived.length).isBetween(most, most + (128 << 10));
            assertThat(arrived).isEqualTo(Arrays.copyOf(content, arrived.length));
            awaitTrue(() -> pair.client.metrics().detachedBytes() == 0);
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
        awaitTrue(() -> bufs.stream().allMatch(buf -> buf.refCnt() == 0));
    }

    /** The promises are done then, so the application may use the memory again. */
    @ParameterizedTest
    @ValueSource(strings = { "retained", "slice", "composite", "wrapped", "heap" })
    void memoryMayBeUsedAgainOnceTheCloseHasGivenUpWaiting(String kind) throws Exception {
        byte[] content = random(1_000_000, 8);
        LoopClock clock = new LoopClock(1);
        try (ConnectedPair pair = slowServer(clock.group())) {
            ByteBuf kept = kind.equals("wrapped") ? Unpooled.directBuffer() : kind.equals("heap") ? Unpooled.buffer() :
                    pair.client.alloc().directBuffer();
            kept.writeBytes(content);
            ByteBuf message = kept.retain();
            if (kind.equals("slice")) {
                message = kept.slice();
            } else if (kind.equals("composite")) {
                message = pair.client.alloc().compositeBuffer().addComponent(true, kept);
            } else if (kind.equals("wrapped")) {
                message = Unpooled.unreleasableBuffer(kept);
                kept.release();
            }
            linger(pair.client);
            ChannelFuture write = pair.client.writeAndFlush(message);
            ChannelFuture close = pair.client.close();
            // The close waits.
            sync(pair.client.eventLoop().submit(() -> { }));
            clock.advance(TestTimeouts.SECONDS, TimeUnit.SECONDS);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(ClosedChannelException.class);
            kept.setZero(0, content.length);
            sync(close);

            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(kept.release()).isTrue();
        } finally {
            TestTimeouts.shutdown(clock.group());
        }
    }

    /** Memory that the device reads must not go back to the application before. */
    @Test
    void closeThatHasGivenUpWaitingWaitsForWhatIsInFlight() throws Exception {
        byte[] content = random(30_000, 9);
        try (ConnectedPair pair = slowServer()) {
            ByteBuf kept = pair.client.alloc().directBuffer().writeBytes(content);
            ChannelPromise write = pair.client.newPromise();
            ChannelPromise close = pair.client.newPromise();
            sync(pair.client.eventLoop().submit(() -> {
                pair.client.writeAndFlush(kept.retain(), write);
                pair.client.close(close);
                assertThat(pair.client.connection().sendPath().isReadingShared()).isTrue();
                pair.client.socketUnsafe().ending.overdue(null);
                assertThat(pair.client.isOpen()).isTrue();
            }));
            sync(write);
            kept.setZero(0, content.length);
            sync(close);

            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            kept.release();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = { 0, 100 })
    void loopThatEndsLetsWhatIsInFlightArrive(long quietMillis) throws Exception {
        byte[] content = random(30_000, 10);
        EventLoopGroup clients = new RdmaEventLoopGroup(1);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), clients, b -> { }, b -> { })) {
            ByteBuf kept = pair.client.alloc().directBuffer().writeBytes(content);
            ChannelPromise write = pair.client.newPromise();
            sync(pair.client.eventLoop().submit(() -> {
                pair.client.writeAndFlush(kept.retain(), write);
                clients.shutdownGracefully(quietMillis, TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS),
                        TimeUnit.MILLISECONDS);
            }));
            sync(write);
            kept.setZero(0, content.length);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            TestTimeouts.await(clients.terminationFuture());
            kept.release();
        }
    }

    /** As when the peer's device does not answer, so that there is no more time to wait. */
    @Test
    void endWithSharedMemoryInFlightIsAReset() throws Exception {
        try (ConnectedPair pair = slowServer()) {
            ByteBuf kept = pair.client.alloc().directBuffer().writeZero(30_000);
            sync(pair.client.eventLoop().submit(() -> {
                pair.client.writeAndFlush(kept.retain());
                pair.client.connection().close(false);
            }));
            assertThat(pair.serverEvents.next()).isInstanceOf(IOException.class).asString()
                    .contains("Connection reset by peer");
            sync(pair.client.close());
            kept.release();
        }
    }

    /** As if a handler had released it once too often. */
    @Test
    void writeThatFailsEndsTheConnectionWithSharedMemoryInFlight() throws Exception {
        try (ConnectedPair pair = slowServer()) {
            ByteBuf kept = pair.client.alloc().directBuffer().writeZero(30_000);
            ByteBuf bad = Unpooled.buffer().writeZero(100);
            sync(pair.client.eventLoop().submit(() -> {
                ChannelFuture write = pair.client.write(kept.retain());
                pair.client.write(bad);
                bad.release();
                pair.client.flush();
                assertThat(write.cause()).isNotNull();
            }));
            sync(pair.client.closeFuture());
            kept.release();
        }
    }

    @Test
    void closeThatLingersWaitsForASlowReader() throws Exception {
        byte[] content = random(1_000_000, 2);
        try (ConnectedPair pair = slowServer()) {
            linger(pair.client);
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(content));
            ChannelFuture close = pair.client.close();
            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            sync(close);
            sync(write);
        }
    }

    @Test
    void shutdownOfOutputWaitsForASlowReader() throws Exception {
        byte[] content = random(1_000_000, 3);
        try (ConnectedPair pair = slowServer()) {
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(content));
            ChannelFuture shutdown = pair.client.shutdownOutput();
            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            sync(shutdown);
            sync(write);
        }
    }

    /** A handler may write whenever there is room, and each write fails at once. */
    @ParameterizedTest
    @ValueSource(booleans = { true, false })
    void channelHasNoRoomWhileItsEndWaits(boolean close) throws Exception {
        try (ConnectedPair pair = slowServer()) {
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(random(100_000, 6)));
            assertThat(pair.client.isWritable()).isTrue();
            linger(pair.client);
            ChannelFuture end = close ? pair.client.close() : pair.client.shutdownOutput();
            sync(pair.client.eventLoop().submit(() -> {
                assertThat(end.isDone()).isFalse();
                assertThat(pair.client.isActive()).isTrue();
                assertThat(pair.client.isWritable()).isFalse();
                assertThat(pair.client.bytesBeforeUnwritable()).isZero();
                assertThat(pair.client.bytesBeforeWritable()).isEqualTo(Long.MAX_VALUE);
            }));
            pair.server.config().setAutoRead(true);
            sync(write);
            sync(end);
            assertThat(pair.client.isWritable()).isFalse();
        }
    }

    @Test
    void shutdownOfOutputThatWaitsCannotBeCancelled() throws Exception {
        try (ConnectedPair pair = slowServer()) {
            pair.client.writeAndFlush(Unpooled.wrappedBuffer(random(100_000, 7)));
            ChannelFuture shutdown = pair.client.shutdownOutput();
            sync(pair.client.eventLoop().submit(() -> { }));
            assertThat(shutdown.cancel(false)).isFalse();
            pair.server.config().setAutoRead(true);
            sync(shutdown);
        }
    }

    @Test
    void bothSidesMayCloseWithMoreFlushedThanTheOtherHasRoomFor() throws Exception {
        List<ByteBuf> bufs = new ArrayList<>();
        try (ConnectedPair pair = slowServer()) {
            pair.client.config().setAutoRead(false);
            for (RdmaSocketChannel channel : List.of(pair.client, pair.server)) {
                ByteBuf buf = channel.alloc().directBuffer().writeZero(2_000_000);
                bufs.add(buf);
                channel.writeAndFlush(buf);
            }
            ChannelFuture close = pair.client.close();
            sync(pair.server.close());
            sync(close);
        }
        awaitTrue(() -> bufs.stream().allMatch(buf -> buf.refCnt() == 0));
    }

    @RepeatedTest(20)
    void bytesThatLandedBeforeThePeerClosedAreReadWhateverIsWritten() throws Exception {
        byte[] content = random(60_000, 4);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 1 << 20), b -> { })) {
            sync(pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content)));
            // Some of it under way, and more behind, when the peer goes.
            pair.server.writeAndFlush(Unpooled.wrappedBuffer(content));
            // In many small pieces, so that writes that fail come between. The end is reported, with what lies before
            // it, even if nobody reads.
            pair.server.config().setOption(ChannelOption.RECVBUF_ALLOCATOR,
                    new FixedRecvByteBufAllocator(1000).maxMessagesPerRead(1));
            sync(pair.client.close());
            // As with a socket, writes may go on to succeed until the peer's connection is gone.
            ChannelFuture write;
            do {
                write = pair.server.writeAndFlush(Unpooled.copyInt(1));
                TestTimeouts.await(write);
            } while (write.isSuccess());
            assertThat(write.cause()).isInstanceOf(IOException.class);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            sync(pair.server.closeFuture());
        }
    }

    @Test
    void resetFailsWhatACloseWaitsForWithItsCause() throws Exception {
        try (ConnectedPair pair = slowServer()) {
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(random(1_000_000, 5)));
            linger(pair.client);
            ChannelFuture close = pair.client.close();
            // The close waits.
            sync(pair.client.eventLoop().submit(() -> { }));
            pair.server.config().setSoLinger(0);
            sync(pair.server.close());
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("Connection reset by peer");
            sync(close);
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    /** A close of the channel waits for as long as the test does, not for 3 s, which a slow machine may need. */
    private static void linger(RdmaSocketChannel channel) {
        channel.config().setSoLinger((int) TestTimeouts.SECONDS);
    }

    private static ConnectedPair slowServer() throws Exception {
        return slowServer(LOOPS.group());
    }

    private static ConnectedPair slowServer(EventLoopGroup clients) throws Exception {
        return new ConnectedPair(LOOPS.group(), clients, b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536), b -> { });
    }
}
