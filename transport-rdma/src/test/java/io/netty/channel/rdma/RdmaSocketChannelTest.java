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
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.rdma.connection.ConnectionInternals;
import io.netty.channel.rdma.metrics.RdmaLoopMetrics;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import static io.netty.channel.rdma.ConnectedPair.random;
import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("aarch64")
@Tag("iwarp-all")
@Tag("oldest")
@Tag("platforms")
@Tag("quick")
@Tag("rxe-quick")
@Tag("stalls")
class RdmaSocketChannelTest {
    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    // ---- which way bytes go

    @Test
    void registeredBytesAreSentInPlaceAndDeliveredInPlace() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] content = random(30_000, 1);
            ByteBuf buf = pair.client.alloc().directBuffer().writeBytes(content);
            sync(pair.client.writeAndFlush(buf.slice(0, content.length)));
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(content.length);
            assertThat(pair.client.metrics().bytesSentCopied()).isZero();
            assertThat(pair.server.metrics().bytesReceivedInPlace()).isEqualTo(content.length);
            assertThat(pair.server.metrics().bytesReceivedCopied()).isZero();
        }
    }

    @Test
    void receivedBytesAreSentOnInPlace() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] content = random(100_000, 2);
            sync(pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content)));
            for (int i = 0; i < content.length;) {
                ByteBuf received = pair.serverEvents.nextBuffer();
                i += received.readableBytes();
                pair.server.writeAndFlush(received);
            }
            assertThat(pair.clientEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.server.metrics().bytesSentInPlace()).isEqualTo(content.length);
            assertThat(pair.server.metrics().bytesSentCopied()).isZero();
        }
    }

    /** As HTTP/2 makes its frames of what was queued in several buffers. */
    @Test
    void slicesOfCompositeBuffersAreSentFromWhereTheComponentsAre() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] content = random(100_000, 4);
            ByteBufAllocator alloc = pair.client.alloc();
            CompositeByteBuf composite = alloc.compositeBuffer().addComponents(true,
                    alloc.directBuffer().writeBytes(content, 0, 60_000),
                    UnpooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(content, 60_000, 20_000),
                    alloc.directBuffer().writeBytes(content, 80_000, 20_000));
            pair.client.write(composite.readRetainedSlice(70_000));
            sync(pair.client.writeAndFlush(composite.readRetainedSlice(30_000)));
            composite.release();
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(80_000);
            assertThat(pair.client.metrics().bytesSentCopied()).isEqualTo(20_000);
        }
    }

    @Test
    void foreignBytesAreCopiedOnce() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            byte[] content = random(200_000, 3);
            sync(pair.client.writeAndFlush(Unpooled.wrappedBuffer(content)));
            sync(pair.client.writeAndFlush(UnpooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(content)));
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.client.metrics().bytesSentCopied()).isEqualTo(2L * content.length);
            assertThat(pair.client.metrics().bytesSentInPlace()).isZero();
        }
    }

    @Test
    void fewBytesGoInlineAndAreCopiedOut() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            sync(pair.client.writeAndFlush(pair.client.alloc().buffer().writeLong(42)));
            assertThat(pair.serverEvents.read(8)[7]).isEqualTo((byte) 42);
            assertThat(pair.client.metrics().bytesSentInline()).isEqualTo(8);
            assertThat(pair.server.metrics().bytesReceivedCopied()).isEqualTo(8);
            assertThat(pair.server.metrics().bytesReceivedInPlace()).isZero();
        }
    }

    /** Small pieces are sent from where they are, or copied together, in one flush with others of each kind. */
    @Test
    void piecesOfOneFlushArriveInOrderWhateverTheirLengths() throws Exception {
        int[] lengths = {1, 7, 20, 40, 63, 64, 65, 100, 3_000, 20_000};
        SplittableRandom random = new SplittableRandom(5);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            ByteBufAllocator alloc = pair.client.alloc();
            for (int round = 0; round < 300; round++) {
                ByteBuf expected = Unpooled.buffer();
                List<ByteBuf> pieces = new ArrayList<>();
                for (int left = random.nextInt(1, 25); left > 0; left--) {
                    // Mostly small ones, so that several go together.
                    byte[] content = random(lengths[random.nextInt(random.nextInt(1, lengths.length + 1))], round);
                    int half = content.length / 2;
                    expected.writeBytes(content);
                    pieces.add(switch (random.nextInt(5)) {
                    case 0 -> Unpooled.wrappedBuffer(content);
                    case 1 -> UnpooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(content);
                    case 2 -> alloc.compositeBuffer().addComponents(true, alloc.directBuffer().writeBytes(content, 0,
                            half), alloc.directBuffer().writeBytes(content, half, content.length - half));
                    default -> alloc.directBuffer().writeBytes(content);
                    });
                }
                pieces.forEach(pair.client::write);
                pair.client.flush();
                assertThat(pair.serverEvents.read(expected.readableBytes())).isEqualTo(ByteBufUtil.getBytes(expected));
            }
            assertThat(pair.client.metrics().bytesSentInline()).isPositive();
        }
    }

    @Test
    void flushesOfOneTurnAfterTheFirstAreSentTogether() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            ChannelInboundHandlerAdapter answering = new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ReferenceCountUtil.release(msg);
                    for (int i = 0; i < 10; i++) {
                        ctx.writeAndFlush(ctx.alloc().directBuffer().writeZero(40));
                    }
                }
            };
            // Added on another thread, it might not get the first message.
            sync(pair.server.eventLoop().submit(() -> pair.server.pipeline().addFirst(answering)));
            sync(pair.client.writeAndFlush(Unpooled.copyInt(1)));
            pair.clientEvents.read(400);
            // Bytes that fit into one request are sent inline: one buffer does, nine do not.
            assertThat(pair.server.metrics().bytesSentInline()).isEqualTo(40);
            assertThat(pair.server.metrics().bytesSentCopied()).isEqualTo(360);
        }
    }

    @Test
    void thresholdsDecideWhatIsCopied() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                b -> b.childOption(RdmaChannelOption.RECEIVE_COPY_THRESHOLD, 0),
                b -> b.option(RdmaChannelOption.MAX_INLINE, 0).option(RdmaChannelOption.SEND_COPY_THRESHOLD, 0))) {
            sync(pair.client.writeAndFlush(pair.client.alloc().buffer().writeLong(42)));
            assertThat(pair.serverEvents.read(8)[7]).isEqualTo((byte) 42);
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(8);
            assertThat(pair.server.metrics().bytesReceivedInPlace()).isEqualTo(8);
        }
    }

    // ---- what arrives

    @ParameterizedTest
    @ValueSource(ints = { 4096, 65536, 1 << 20 })
    void anyMixOfMessagesArrivesAsOneStream(int receiveBuffer, @TempDir Path directory) throws Exception {
        byte[] fileContent = random(70_000, 4);
        Path file = Files.write(directory.resolve("file"), fileContent);
        SplittableRandom random = new SplittableRandom(receiveBuffer);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                b -> b.childOption(ChannelOption.SO_RCVBUF, receiveBuffer), b -> { })) {
            ByteBuf expected = Unpooled.buffer();
            List<ChannelFuture> futures = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                byte[] bytes = random(random.nextInt(10) == 0 ? random.nextInt(50_000) : random.nextInt(600), i);
                Object msg;
                switch (random.nextInt(6)) {
                case 0:
                    msg = Unpooled.wrappedBuffer(bytes);
                    break;
                case 1:
                    msg = UnpooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(bytes);
                    break;
                case 2:
                    CompositeByteBuf composite = pair.client.alloc().compositeBuffer();
                    composite.addComponent(true, Unpooled.copiedBuffer(bytes));
                    composite.addComponent(true, pair.client.alloc().directBuffer().writeBytes(fileContent, 0, 5000));
                    composite.addComponent(true, Unpooled.EMPTY_BUFFER);
                    composite.addComponent(true, Unpooled.copiedBuffer(bytes));
                    msg = composite;
                    bytes = ByteBufUtil.getBytes(composite);
                    break;
                case 3:
                    int position = random.nextInt(fileContent.length);
                    int count = random.nextInt(fileContent.length - position);
                    msg = new DefaultFileRegion(file.toFile(), position, count);
                    bytes = Arrays.copyOfRange(fileContent, position, position + count);
                    break;
                default:
                    msg = pair.client.alloc().directBuffer().writeBytes(bytes);
                }
                expected.writeBytes(bytes);
                futures.add(random.nextInt(3) == 0 ? pair.client.writeAndFlush(msg) : pair.client.write(msg));
            }
            pair.client.flush();
            byte[] content = new byte[expected.readableBytes()];
            expected.readBytes(content).release();
            byte[] received = pair.serverEvents.read(content.length);
            assertThat(Arrays.mismatch(received, content)).isEqualTo(-1);
            for (ChannelFuture future : futures) {
                sync(future);
            }
        }
    }

    @Test
    void applicationMayCollectMoreThanTheReceiveBuffer() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.SO_RCVBUF, 65536),
                b -> { })) {
            byte[] content = random(1_000_000, 5);
            ChannelFuture future = pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content));
            // The recorder releases nothing before all of it has arrived.
            sync(future);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.server.metrics().bytesReceivedCopied()).isPositive();
        }
    }

    @Test
    void slowReaderHoldsTheSenderBack() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536), b -> { })) {
            byte[] content = random(65536, 6);
            List<ChannelFuture> futures = new ArrayList<>();
            while (pair.client.isWritable()) {
                ByteBuf buf = pair.client.alloc().directBuffer().writeBytes(content);
                futures.add(pair.client.writeAndFlush(buf));
                // So that the water mark is seen.
                sync(pair.client.eventLoop().submit(() -> { }));
            }
            sync(futures.get(0));
            assertThat(futures.get(futures.size() - 1).isDone()).isFalse();
            assertThat(pair.serverEvents.hasBytes()).isFalse();
            pair.server.config().setAutoRead(true);
            for (ChannelFuture future : futures) {
                assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            }
            for (ChannelFuture future : futures) {
                sync(future);
            }
            assertThat(pair.client.isWritable()).isTrue();
        }
    }

    /** But for the first work request. */
    @ParameterizedTest
    @CsvSource({ "0, 0", "1000, 1000", "1000000, -1" })
    void sendBufferSizeBoundsWhatIsInFlight(int more, int moreInFlight) throws Exception {
        int segment = ConnectionInternals.FIRST_RECEIVE_BYTES / 2;
        int first = segment - segment / 4 - 4;
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { },
                b -> b.option(ChannelOption.SO_SNDBUF, first + more))) {
            // A quarter of the first part of the server's memory. Then the client knows the second one as well.
            sync(pair.client.writeAndFlush(Unpooled.wrappedBuffer(new byte[segment / 4])));
            pair.serverEvents.read(segment / 4);
            exchange(pair);
            byte[] content = random(500_000, 7);
            ChannelFuture written = sync(pair.client.eventLoop().submit(() -> {
                ChannelFuture write =
                        pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content));
                // Nothing of it is taken for sent before this task ends.
                assertThat(pair.client.metrics().bytesSentInPlace())
                        .isEqualTo(first + (moreInFlight < 0 ? segment : moreInFlight));
                return write;
            })).getNow();
            sync(written);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
        }
    }

    /** Nobody waits for such a completion, and it would wake the loop. */
    @ParameterizedTest
    @CsvSource({ "64, 0, -1, true", "2000, 0, -1, false", "64, 60000, -1, true", "64, 0, 0, false" })
    void writeWhoseBytesAreCopiedIntoTheRequestIsDoneWhenThatIsPosted(int bytes, int userTimeoutMillis, int linger,
                                                                      boolean done) throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { }, b -> {
            b.option(RdmaChannelOption.USER_TIMEOUT_MILLIS, userTimeoutMillis).option(ChannelOption.SO_LINGER, linger);
        })) {
            exchange(pair);
            byte[] content = random(bytes, 3);
            ChannelFuture write = sync(pair.client.eventLoop().submit(() -> {
                // No completion is handled before this task ends.
                ChannelFuture future = pair.client.writeAndFlush(pair.client.alloc().directBuffer()
                        .writeBytes(content));
                assertThat(future.isSuccess()).isEqualTo(done);
                assertThat(ConnectionInternals.awaitsCompletion(pair.client.connection())).isEqualTo(!done);
                return future;
            })).getNow();
            assertThat(pair.serverEvents.read(bytes)).isEqualTo(content);
            sync(write);
        }
    }

    @Test
    void listenersOfCopiedWritesMayWriteMoreThanOneChainAfterTheOther() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            int writes = 1000;
            pair.client.eventLoop().execute(() -> writeInTurn(pair.client, 0, writes));
            for (int i = 0; i < writes; i++) {
                assertThat(pair.serverEvents.read(4)).isEqualTo(Unpooled.copyInt(i).array());
            }
        }
    }

    private static void writeInTurn(RdmaSocketChannel channel, int number, int end) {
        if (number < end) {
            channel.writeAndFlush(Unpooled.copyInt(number)).addListener(done -> writeInTurn(channel, number + 1, end));
        }
    }

    private static void exchange(ConnectedPair pair) throws Exception {
        sync(pair.client.writeAndFlush(Unpooled.copyInt(1)));
        assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 1);
        sync(pair.server.writeAndFlush(Unpooled.copyInt(2)));
        assertThat(pair.clientEvents.read(4)).containsExactly(0, 0, 0, 2);
    }

    // ---- how it ends

    /** End that closes while bytes are in flight. */
    enum Close { REMOTE, LOCAL, LOCAL_RESET, REMOTE_RESET, NONE }

    @ParameterizedTest
    @EnumSource
    void memoryInFlightIsReleasedWhoeverCloses(Close close) throws Exception {
        List<ByteBuf> bufs = new ArrayList<>();
        List<ChannelFuture> futures = new ArrayList<>();
        int linger = close == Close.LOCAL_RESET || close == Close.REMOTE_RESET ? 0 : -1;
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536).childOption(ChannelOption.SO_LINGER, linger),
                b -> b.option(ChannelOption.SO_LINGER, linger))) {
            for (int i = 0; i < 20; i++) {
                ByteBuf registered = pair.client.alloc().directBuffer().writeZero(20_000);
                ByteBuf foreign = Unpooled.directBuffer().writeZero(20_000);
                bufs.add(registered);
                bufs.add(foreign);
                futures.add(pair.client.write(registered));
                futures.add(pair.client.writeAndFlush(foreign));
            }
            sync(futures.get(0));
            switch (close) {
            case REMOTE:
            case REMOTE_RESET:
                TestTimeouts.await(pair.server.close());
                TestTimeouts.await(pair.client.closeFuture());
                break;
            case LOCAL:
            case LOCAL_RESET:
                TestTimeouts.await(pair.client.close());
                break;
            default:
                pair.server.config().setAutoRead(true);
                pair.serverEvents.read(20 * 40_000);
            }
            for (ChannelFuture future : futures) {
                TestTimeouts.await(future);
            }
            if (close == Close.NONE) {
                assertThat(futures).allMatch(ChannelFuture::isSuccess);
            } else {
                assertThat(futures.get(futures.size() - 1).isSuccess()).isFalse();
            }
        }
        // Memory that the device may still read is kept beyond the close, until the end of the connection.
        awaitTrue(() -> bufs.stream().allMatch(buf -> buf.refCnt() == 0));
    }

    @Test
    void closeDeliversWhatWasFlushedBefore() throws Exception {
        // By default a close waits for 3 seconds, which a slow machine may take for what follows.
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { },
                b -> b.option(ChannelOption.SO_LINGER, (int) TestTimeouts.SECONDS))) {
            byte[] content = random(50_000, 8);
            ChannelFuture future = pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content));
            pair.client.close();
            sync(future);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void shutdownOfOutputDeliversWhatWasFlushedBeforeAndLeavesInputOpen() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(),
                b -> b.childOption(ChannelOption.ALLOW_HALF_CLOSURE, true), b -> { })) {
            byte[] content = random(50_000, 9);
            ChannelFuture future = pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content));
            sync(pair.client.shutdownOutput());
            sync(future);
            assertThat(pair.serverEvents.read(content.length)).isEqualTo(content);
            assertThat(pair.serverEvents.next()).isSameAs(ChannelInputShutdownEvent.INSTANCE);
            assertThat(pair.serverEvents.next()).isSameAs(ChannelInputShutdownReadComplete.INSTANCE);
            assertThat(pair.server.isInputShutdown()).isTrue();
            assertThat(pair.client.isOutputShutdown()).isTrue();
            assertThat(pair.client.writeAndFlush(Unpooled.copyInt(1)).await().isSuccess()).isFalse();

            sync(pair.server.writeAndFlush(Unpooled.copyInt(2)));
            assertThat(pair.clientEvents.read(4)).containsExactly(0, 0, 0, 2);
        }
    }

    @Test
    void resetIsReportedWithThePeersAddress() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { },
                b -> b.option(ChannelOption.SO_LINGER, 0))) {
            String client = pair.server.remoteAddress().toString();
            pair.client.close();
            assertThat(pair.serverEvents.next()).isInstanceOfSatisfying(IOException.class, e ->
                    assertThat(e).hasMessageContaining("Connection reset by peer").hasMessageContaining(client));
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    /** The reset is told by an exception, and closes the channel as the end of the input does. */
    @Test
    void writesThatWereNeverFlushedHaveNoPartInAReset() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { },
                b -> b.option(ChannelOption.SO_LINGER, 0))) {
            ChannelFuture write = pair.server.write(Unpooled.copyInt(1));
            pair.client.close();
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(ClosedChannelException.class).hasNoCause();
            assertThat(pair.serverEvents.next()).isInstanceOf(IOException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void orderlyCloseIsNoException() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            pair.client.close();
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.server.writeAndFlush(Unpooled.copyInt(1)).await().cause())
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void buffersOutliveTheConnection() throws Exception {
        ByteBuf received;
        byte[] content = random(5000, 10);
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            sync(pair.client.writeAndFlush(pair.client.alloc().directBuffer().writeBytes(content)));
            received = pair.serverEvents.nextBuffer();
        }
        try (ConnectedPair other = new ConnectedPair(LOOPS.group())) {
            // Sent in place from the receive buffer of the connection that is gone.
            sync(other.client.writeAndFlush(received.retain()));
            assertThat(other.serverEvents.read(content.length)).isEqualTo(content);
        }
        assertThat(ByteBufUtil.getBytes(received)).isEqualTo(content);
        assertThat(received.release()).isTrue();
    }

    @Test
    void idleConnectionWhosePeerAnswersStaysWithKeepAlive() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> { },
                b -> b.option(RdmaChannelOption.KEEP_ALIVE_IDLE_MILLIS, 10))) {
            exchange(pair);
            // A test of the peer is the only work request that completes then.
            long before = completions();
            pair.client.config().setOption(ChannelOption.SO_KEEPALIVE, true);
            awaitTrue(() -> completions() > before);
            sync(pair.client.writeAndFlush(Unpooled.copyInt(3)));
            assertThat(pair.serverEvents.read(4)).containsExactly(0, 0, 0, 3);
        }
    }

    private static long completions() {
        return RdmaLoopMetrics.all().stream().mapToLong(RdmaLoopMetrics::completions).sum();
    }

    @Test
    void peerThatTakesNothingIsReportedAfterTheUserTimeout() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536),
                b -> b.option(RdmaChannelOption.USER_TIMEOUT_MILLIS, 200))) {
            String server = pair.client.remoteAddress().toString();
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(random(1_000_000, 11)));
            TestTimeouts.await(write);
            assertThat(write.cause()).isInstanceOfSatisfying(IOException.class, e ->
                    assertThat(e).hasMessageContaining("Connection timed out").hasMessageContaining(server));
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void userTimeoutMayBeSetWhileThePeerIsWaitedFor() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group(), b -> b.childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.SO_RCVBUF, 65536), b -> { })) {
            ChannelFuture write = pair.client.writeAndFlush(Unpooled.wrappedBuffer(random(1_000_000, 12)));
            pair.client.config().setOption(RdmaChannelOption.USER_TIMEOUT_MILLIS, 100);
            assertThat(TestTimeouts.await(write).cause()).isInstanceOf(IOException.class);
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }
}
