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

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FileRegion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static io.netty.channel.rdma.ConnectedPair.random;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * File regions: those of files, which are read into registered memory, and others, which give what they have.
 */
class RdmaFileRegionTest {
    private static final int LENGTH = 3_000_000;

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    @TempDir
    private Path folder;
    private final byte[] content = random(LENGTH, 1);
    private Path file;

    @BeforeEach
    void writeFile() throws IOException {
        file = Files.write(folder.resolve("file"), content);
    }

    private DefaultFileRegion region(long position, long count) {
        return new DefaultFileRegion(file.toFile(), position, count);
    }

    @ParameterizedTest
    @CsvSource({ "0, 3000000", "0, 1", "2999999, 1", "1000, 65536", "12345, 70000", "3000000, 0", "5, 0" })
    void regionIsSentWithWhatIsAroundIt(int position, int count) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] head = random(250, 2);
            byte[] tail = random(30_000, 3);
            FileRegion region = region(position, count);
            pair.client.write(Unpooled.wrappedBuffer(head));
            ChannelFuture middle = pair.client.write(region);
            ChannelFuture last = pair.client.writeAndFlush(
                    pair.client.alloc().directBuffer().writeBytes(tail));
            assertThat(pair.serverEvents.read(head.length)).isEqualTo(head);
            assertThat(pair.serverEvents.read(count)).isEqualTo(slice(position, count));
            assertThat(pair.serverEvents.read(tail.length)).isEqualTo(tail);
            sync(middle);
            sync(last);
            assertThat(region.transferred()).isEqualTo(count);
            assertThat(region.refCnt()).isZero();
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(tail.length);
        }
    }

    private byte[] slice(int position, int count) {
        return Arrays.copyOfRange(content, position, position + count);
    }

    @Test
    void regionsOfOneFlushAreUnderWayTogether() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            int count = 1000;
            List<ChannelFuture> writes = new ArrayList<>();
            sync(pair.client.eventLoop().submit(() -> {
                for (int i = 0; i < 20; i++) {
                    writes.add(pair.client.write(region(i * count, count)));
                }
                pair.client.flush();
                assertThat(pair.client.connection().sendPath().isInFlight()).isTrue();
                assertThat(pair.client.unsafe().outboundBuffer().size()).isEqualTo(20);
            }));
            assertThat(pair.serverEvents.read(20 * count)).isEqualTo(slice(0, 20 * count));
            for (ChannelFuture write : writes) {
                sync(write);
            }
        }
    }

    @Test
    void regionThatWasOpenedAndRetainedStaysTheApplications() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group());
             FileChannel channel = FileChannel.open(file)) {
            DefaultFileRegion region = new DefaultFileRegion(channel, 10, 5000);
            region.retain();
            sync(pair.client.writeAndFlush(region));
            assertThat(pair.serverEvents.read(5000)).isEqualTo(slice(10, 5000));
            assertThat(region.refCnt()).isOne();
            assertThat(region.isOpen()).isTrue();
            assertThat(channel.isOpen()).isTrue();
            region.release();
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void progressIsToldUntilTheEnd() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            List<Long> progress = new ArrayList<>();
            ChannelProgressivePromise promise = pair.client.newProgressivePromise();
            promise.addListener(new ChannelProgressiveFutureListener() {
                @Override
                public void operationProgressed(ChannelProgressiveFuture future, long done, long total) {
                    assertThat(total).isEqualTo(LENGTH);
                    progress.add(done);
                }

                @Override
                public void operationComplete(ChannelProgressiveFuture future) {
                    progress.add(-1L);
                }
            });
            pair.client.writeAndFlush(region(0, LENGTH), promise);
            assertThat(pair.serverEvents.read(LENGTH)).isEqualTo(content);
            sync(promise);
            sync(pair.client.eventLoop().submit(() -> { }));
            assertThat(progress.remove(progress.size() - 1)).isEqualTo(-1L);
            assertThat(progress).hasSizeGreaterThan(1).isSorted().endsWith((long) LENGTH);
        }
    }

    /** Writes that were flushed before it do not fail with it. */
    @ParameterizedTest
    @CsvSource({ "2990000, 20000", "3000000, 1", "4000000, 10", "0, 3000001" })
    void regionBeyondTheEndOfItsFileFailsAfterWhatIsBeforeIt(int position, int count) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] head = random(250, 2);
            FileRegion region = region(position, count);
            FileRegion behind = region(0, 100);
            ChannelFuture first = pair.client.write(Unpooled.wrappedBuffer(head));
            ChannelFuture failed = pair.client.write(region);
            ChannelFuture last = pair.client.writeAndFlush(behind);
            assertThat(pair.serverEvents.read(head.length)).isEqualTo(head);
            sync(first);
            assertThat(TestTimeouts.await(failed).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("Underlying file size 3000000 smaller then requested count");
            assertThat(TestTimeouts.await(last).cause()).isInstanceOf(IOException.class);
            int there = Math.max(0, LENGTH - position);
            assertThat(pair.serverEvents.read(there)).isEqualTo(slice(LENGTH - there, there));
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            sync(pair.client.closeFuture());
            assertThat(region.refCnt()).isZero();
            assertThat(behind.refCnt()).isZero();
        }
    }

    @Test
    void fileThatIsTruncatedMeanwhileFails() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536), b -> { });
             FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            FileRegion region = region(0, LENGTH);
            ChannelFuture write = pair.client.writeAndFlush(region);
            TestTimeouts.awaitTrue(() -> region.transferred() > 0);
            channel.truncate(10);
            pair.server.config().setAutoRead(true);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("Underlying file size 10 smaller");
            int sent = (int) region.transferred();
            assertThat(sent).isBetween(1, LENGTH - 1);
            assertThat(pair.serverEvents.read(sent)).isEqualTo(slice(0, sent));
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(region.refCnt()).isZero();
        }
    }

    @Test
    void fileThatIsMissingFails() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new DefaultFileRegion(folder.resolve("none").toFile(), 0, 10);
            ChannelFuture write = pair.client.writeAndFlush(region);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("none");
            assertThat(region.refCnt()).isZero();
        }
    }

    @Test
    void fileThatWasClosedFails() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileChannel channel = FileChannel.open(file);
            FileRegion region = new DefaultFileRegion(channel, 0, 10);
            channel.close();
            ChannelFuture write = pair.client.writeAndFlush(region);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(ClosedChannelException.class);
            assertThat(region.refCnt()).isZero();
        }
    }

    // ---- regions of other classes

    @ParameterizedTest
    @ValueSource(ints = { 1, 7, 100_000, LENGTH })
    void regionOfAnotherClassGivesWhatItHas(int piece) throws Exception {
        int count = (int) Math.min(LENGTH, piece * 1000L);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new BytesRegion(count, piece);
            FileRegion other = new BytesRegion(10, 1);
            pair.client.write(region);
            sync(pair.client.writeAndFlush(other));
            assertThat(pair.serverEvents.read(count)).isEqualTo(slice(0, count));
            assertThat(pair.serverEvents.read(10)).isEqualTo(slice(0, 10));
            assertThat(region.refCnt()).isZero();
            assertThat(other.refCnt()).isZero();
        }
    }

    /** As that of a file does if it is given the channel of a file. */
    @Test
    void regionOfAnotherClassMayHandOverItsFile() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group());
             FileChannel channel = FileChannel.open(file)) {
            FileRegion region = new BytesRegion(LENGTH, LENGTH) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    return channel.transferTo(position, LENGTH - position, target);
                }
            };
            ChannelFuture write = pair.client.writeAndFlush(region);
            assertThat(pair.serverEvents.read(LENGTH)).isEqualTo(content);
            sync(write);
            assertThat(region.refCnt()).isZero();
        }
    }

    @Test
    void regionThatGivesNothingAtFirstIsAskedAgain() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new BytesRegion(1000, 1000) {
                private int asked;

                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    return ++asked % 3 == 0 ? super.give(target, position) : 0;
                }
            };
            sync(pair.client.writeAndFlush(region));
            assertThat(pair.serverEvents.read(1000)).isEqualTo(slice(0, 1000));
            assertThat(region.refCnt()).isZero();
        }
    }

    @Test
    void regionThatFailsFailsAfterWhatIsBeforeIt() throws Exception {
        IOException failure = new IOException("no more");
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new BytesRegion(1000, 300) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    if (position >= 300) {
                        // Some of it is there already, which nobody may see.
                        super.give(target, position);
                        throw failure;
                    }
                    return super.give(target, position);
                }
            };
            ChannelFuture first = pair.client.write(Unpooled.wrappedBuffer(content, 0, 50));
            ChannelFuture write = pair.client.writeAndFlush(region);
            assertThat(pair.serverEvents.read(50)).isEqualTo(slice(0, 50));
            sync(first);
            assertThat(TestTimeouts.await(write).cause()).isSameAs(failure);
            assertThat(pair.serverEvents.read(300)).isEqualTo(slice(0, 300));
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.hasBytes()).isFalse();
            assertThat(region.refCnt()).isZero();
        }
    }

    /** Bytes that the channel has not taken would be missing in the stream, without a sign. */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void regionThatDropsWhatWasNotTakenFails(boolean inPieces) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new TestRegion(10) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    int piece = inPieces ? 10_000 : LENGTH;
                    for (int i = 0; i < LENGTH; i += piece) {
                        target.write(ByteBuffer.wrap(content, i, piece));
                    }
                    return 10;
                }
            };
            ChannelFuture write = pair.client.writeAndFlush(region);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("has dropped");
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.serverEvents.hasBytes()).isFalse();
            assertThat(region.refCnt()).isZero();
        }
    }

    /** A loop that waits for room would wait for ever, and with it all channels of the event loop. */
    @Test
    void regionThatNeverReturnsFails() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            FileRegion region = new TestRegion(1 << 30) {
                @Override
                protected long give(WritableByteChannel target, long position) throws IOException {
                    for (long done = 0; done < count(); done += 1 << 20) {
                        for (ByteBuffer piece = ByteBuffer.wrap(content, 0, 1 << 20); piece.hasRemaining();) {
                            target.write(piece);
                        }
                    }
                    return count();
                }
            };
            assertThat(TestTimeouts.await(pair.client.writeAndFlush(region)).cause()).isInstanceOf(IOException.class)
                    .hasMessageContaining("bytes without a return");
            assertThat(region.refCnt()).isZero();
        }
    }

    /** Region of the first bytes of the content. */
    private class BytesRegion extends TestRegion {
        private final int piece;

        BytesRegion(int count, int piece) {
            super(count);
            this.piece = piece;
        }

        @Override
        protected long give(WritableByteChannel target, long position) throws IOException {
            return target.write(ByteBuffer.wrap(content, (int) position, (int) Math.min(piece, count() - position)));
        }
    }
}
