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
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a close does to bytes that were flushed before it, on either side.
 */
class RdmaCloseTest {
    private static EventLoopGroup group;

    @BeforeAll
    static void createGroup() {
        group = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());
    }

    @AfterAll
    static void shutdownGroup() {
        assertThat(group.shutdownGracefully(0, 30, TimeUnit.SECONDS)
                .awaitUninterruptibly(ConnectedPair.SECONDS, TimeUnit.SECONDS)).isTrue();
    }

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
            await(pair.client.close());
            assertThat(last.await(ConnectedPair.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(last.cause()).isInstanceOf(ClosedChannelException.class);

            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
        awaitReleased(bufs);
    }

    @Test
    void closeThatLingersWaitsForASlowReader() throws Exception {
        byte[] content = random(1_000_000, 2);
        try (ConnectedPair pair = slowServer()) {
            pair.client.config().setSoLinger((int) ConnectedPair.SECONDS);
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(content));
            ChannelFuture close = pair.client.close();
            pair.server.config().setAutoRead(true);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            await(close);
            await(write);
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
            await(shutdown);
            await(write);
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
            await(pair.server.close());
            await(close);
        }
        awaitReleased(bufs);
    }

    @RepeatedTest(20)
    void bytesThatLandedBeforeThePeerClosedAreReadWhateverIsWritten() throws Exception {
        byte[] content = random(60_000, 4);
        try (ConnectedPair pair = new ConnectedPair(group, b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 1 << 20), b -> { })) {
            await(pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content)));
            // Some of it under way, and more behind, when the peer goes.
            pair.server.writeAndFlush(Unpooled.wrappedBuffer(content));
            // In many small pieces, so that writes that fail come between. The end is reported, with what lies before
            // it, even if nobody reads.
            pair.server.config().setOption(ChannelOption.RECVBUF_ALLOCATOR,
                    new FixedRecvByteBufAllocator(1000).maxMessagesPerRead(1));
            await(pair.client.close());
            // As with a socket, writes may go on to succeed until the peer's connection is gone.
            ChannelFuture write;
            do {
                write = pair.server.writeAndFlush(Unpooled.copyInt(1));
                assertThat(write.await(ConnectedPair.SECONDS, TimeUnit.SECONDS)).isTrue();
            } while (write.isSuccess());
            assertThat(write.cause()).isInstanceOf(IOException.class);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            await(pair.server.closeFuture());
        }
    }

    private static ConnectedPair slowServer() throws Exception {
        return new ConnectedPair(group, b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536), b -> { });
    }

    private static void awaitReleased(List<ByteBuf> bufs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(ConnectedPair.SECONDS);
        while (bufs.stream().anyMatch(buf -> buf.refCnt() > 0) && System.nanoTime() - deadline < 0) {
            await(group.next().submit(() -> { }));
        }
        assertThat(bufs).allMatch(buf -> buf.refCnt() == 0);
    }

    private static void await(Future<?> future) throws InterruptedException {
        assertThat(future.await(ConnectedPair.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(future.cause()).isNull();
    }

    private static byte[] random(int length, long seed) {
        byte[] bytes = new byte[length];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }
}
