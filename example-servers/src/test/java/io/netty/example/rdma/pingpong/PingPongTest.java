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
package io.netty.example.rdma.pingpong;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaMessageMetrics;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.verbs.EndPair;
import io.netty.example.rdma.verbs.EndPair.Way;
import io.netty.example.rdma.verbs.NumberedData;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.pingpong.PingPongCommand.PingPongClient;
import io.netty.example.rdma.pingpong.PingPongCommand.PingPongServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(180)
class PingPongTest {
    /** Size of messages whose data do not overlap. */
    private static final int SMALL = 64;
    private static final int COUNT = 100;
    private static final int ROUND_TRIP = 2;
    private static final Duration WARM_UP = Duration.ofMillis(20);

    @TempDir
    private Path folder;

    private static Stream<Object[]> modesInEachWay() {
        return Arrays.stream(Way.values())
                .flatMap(way -> Arrays.stream(PingPongMode.values()).map(mode -> new Object[] {mode, way}));
    }

    @ParameterizedTest
    @MethodSource("modesInEachWay")
    void everyByteOfEveryRoundTripIsRight(PingPongMode mode, Way way) throws Exception {
        Game game = new Game(mode, 10_008, COUNT, WARM_UP, true);
        assertThat(wrong(way, PingPongEnd.create(game, false), PingPongEnd.create(game, true))).containsExactly(0, 0);
    }

    /** Beside what each end sends in all modes: its introduction and what it has counted; who measures, the end. */
    @ParameterizedTest
    @CsvSource({
            "CLIENT, 3, 3, 0, 0, 0, 0", "SERVER, 0, 0, 0, 3, 3, 0", "UNSIGNALLED, 3, 3, 0, 0, 0, 0",
            "WRITE, 3, 0, 0, 3, 0, 0", "READ, 0, 3, 3, 0, 3, 3", "READ_ONLY, 0, 3, 0, 0, 3, 0",
            "SEND, 0, 0, 3, 0, 0, 3", "WRITE_ACK, 3, 0, 3, 3, 0, 3", "WRITE_IMM, 3, 0, 0, 3, 0, 0",
            "SCAN, 3, 0, 0, 3, 0, 0"
    })
    void modeIsMadeOfItsOperations(PingPongMode mode, int clientWrites, int clientReads, int clientSends,
                                   int serverWrites, int serverReads, int serverSends) throws Exception {
        PingPongEnd server = PingPongEnd.create(game(mode), false);
        PingPongEnd client = PingPongEnd.create(game(mode), true);
        results(Way.CONNECTION_MANAGER, server, client);
        assertOperations(client, server, clientWrites, clientReads, clientSends);
        assertOperations(server, client, serverWrites, serverReads, serverSends);
    }

    private static void assertOperations(PingPongEnd end, PingPongEnd peer, int writes, int reads, int sends) {
        RdmaMessageMetrics metrics = metrics(end);
        boolean measures = end.game.mode().isDrivenBy(end.client);
        assertThat(metrics.writes()).as("writes").isEqualTo(writes);
        // One that waits by reading does it as often as it takes.
        assertThat(Math.min(metrics.reads(), ROUND_TRIP + 1)).as("reads").isEqualTo(reads);
        assertThat(metrics.sends()).as("sends").isEqualTo(sends + (measures ? 3 : 2));
        assertThat(metrics(peer).receives()).as("receives of the peer").isEqualTo(
                metrics.sends() + (end.game.mode() == PingPongMode.WRITE_IMM ? writes : 0));
    }

    private static RdmaMessageMetrics metrics(PingPongEnd end) {
        return ((RdmaMessageChannel) end.ctx.channel()).metrics();
    }

    @Test
    void writeOfUnsignalledModeHasNoCompletionAndIsNotWaitedFor() throws Exception {
        Game game = game(PingPongMode.UNSIGNALLED);
        UnsignalledWrites writes = new UnsignalledWrites();
        PingPongEnd client = new DrivingEnd(game, true) {
            @Override
            void begin() {
                ctx.pipeline().addBefore(ctx.name(), null, writes);
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), client)).containsExactly(0, 0);
        assertThat(writes.readsBehindThem).isEqualTo(ROUND_TRIP + 1);
    }

    /** Counts reads that are written when the unsignalled write before them is not done yet. */
    private static final class UnsignalledWrites extends ChannelOutboundHandlerAdapter {
        private ChannelPromise latest;
        private int readsBehindThem;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaWrite) {
                latest = ((RdmaWrite) message).isUnsignalled() ? promise : null;
            } else if (message instanceof RdmaRead && latest != null && !latest.isDone()) {
                readsBehindThem++;
            }
            ctx.write(message, promise);
        }
    }

    @ParameterizedTest
    @EnumSource
    void endsAreRightWithoutTheCheck(PingPongMode mode) throws Exception {
        int size = mode == PingPongMode.SEND ? SMALL : Long.BYTES;
        Game game = new Game(mode, size, COUNT, Duration.ZERO, false);
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), PingPongEnd.create(game, true)))
                .containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    void bothEndsKnowWhatWasDoneToWarmUp(PingPongMode mode) throws Exception {
        Game game = new Game(mode, SMALL, COUNT, WARM_UP, true);
        List<Result> results = results(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false),
                PingPongEnd.create(game, true));
        assertThat(results).extracting(Result::count).allMatch(count -> count > COUNT)
                .containsOnly(results.get(0).count());
    }

    @Test
    void whoLooksAtMemoryNoticesOneWrongBit() throws Exception {
        Game game = game(PingPongMode.WRITE);
        PingPongEnd corrupted = new WritingEnd(game, false) {
            @Override
            void begin() {
                corrupt(data.message(ROUND_TRIP));
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, corrupted, PingPongEnd.create(game, true))).containsExactly(0, 1);
    }

    @Test
    void whoReadsNoticesOneWrongBit() throws Exception {
        Game game = game(PingPongMode.READ);
        PingPongEnd corrupted = new ReadingEnd(game, true) {
            @Override
            void begin() {
                corrupt(data.message(ROUND_TRIP));
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), corrupted)).containsExactly(1, 0);
    }

    @Test
    void whoReadsAnswersWhenTheReadIsDone() throws Exception {
        Game game = game(PingPongMode.READ);
        LateReads late = new LateReads();
        PingPongEnd server = new ReadingEnd(game, false) {
            @Override
            void begin() {
                ctx.pipeline().addBefore(ctx.name(), null, late);
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, server, PingPongEnd.create(game, true))).containsExactly(0, 0);
        assertThat(late.reads).isEqualTo(ROUND_TRIP + 1);
        assertThat(late.overtaken).isFalse();
    }

    /** Writes each read in the next turn of the event loop, and notes what is written before it is done. */
    private static final class LateReads extends ChannelOutboundHandlerAdapter {
        private int reads;
        private boolean reading;
        private boolean overtaken;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaRead) {
                reads++;
                reading = true;
                promise.addListener(future -> reading = false);
                ctx.executor().execute(() -> ctx.writeAndFlush(message, promise));
                return;
            }
            overtaken |= reading;
            ctx.write(message, promise);
        }
    }

    /** The server notices the wrong bit. The client, of which one copy is torn, takes that again. */
    @Test
    void whoReadsAgainAndAgainNoticesOneWrongBit() throws Exception {
        Game game = game(PingPongMode.READ_ONLY);
        TornCopy tearing = new TornCopy();
        PingPongEnd corrupted = new PollingEnd(game, true) {
            @Override
            void begin() {
                corrupt(data.message(ROUND_TRIP));
                ctx.pipeline().addBefore(ctx.name(), null, tearing);
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), corrupted)).containsExactly(1, 0);
        assertThat(tearing.torn).isTrue();
    }

    /** Changes the first copy of a round trip, which then has its token and other bytes. */
    private static final class TornCopy extends ChannelOutboundHandlerAdapter {
        private boolean torn;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaRead) {
                ByteBuf copy = ((RdmaRead) message).content();
                // Listener of the end comes after this one.
                promise.addListener(read -> {
                    if (!torn && NumberedData.matches(copy, ROUND_TRIP)) {
                        torn = true;
                        corrupt(copy);
                    }
                });
            }
            ctx.write(message, promise);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"CLIENT", "SERVER", "UNSIGNALLED"})
    void whoReadsBackNoticesOneWrongBit(PingPongMode mode) throws Exception {
        Game game = game(mode);
        boolean client = mode != PingPongMode.SERVER;
        PingPongEnd corrupted = new DrivingEnd(game, client) {
            @Override
            void begin() {
                ctx.pipeline().addBefore(ctx.name(), null, new WrongByte(remote,
                        data.message(ROUND_TRIP).getByte(0) ^ 1));
                super.begin();
            }
        };
        PingPongEnd other = PingPongEnd.create(game, !client);
        assertThat(wrong(Way.CONNECTION_MANAGER, client ? other : corrupted, client ? corrupted : other))
                .containsExactly(client ? 0 : 1, client ? 1 : 0);
    }

    /** Changes the peer's memory between the write of a round trip and its read, which alone can tell. */
    private static final class WrongByte extends ChannelOutboundHandlerAdapter {
        private final RemoteMemory remote;
        private final int value;
        private int reads;

        WrongByte(RemoteMemory remote, int value) {
            this.remote = remote;
            this.value = value;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaRead && ++reads == ROUND_TRIP) {
                ctx.write(new RdmaWrite(ctx.alloc().directBuffer(1).writeByte(value), remote, 0));
            }
            ctx.write(message, promise);
        }
    }

    /** The server returns the bytes that have arrived, so both ends notice. */
    @Test
    void whoSendsNoticesOneWrongBit() throws Exception {
        Game game = game(PingPongMode.SEND);
        PingPongEnd corrupted = new SendingEnd(game, true) {
            @Override
            void begin() {
                corrupt(data.message(ROUND_TRIP));
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), corrupted)).containsExactly(1, 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"WRITE_ACK", "WRITE_IMM"})
    void whoIsToldOfWritesNoticesOneWrongBit(PingPongMode mode) throws Exception {
        Game game = game(mode);
        PingPongEnd corrupted = new NotifyingEnd(game, true) {
            @Override
            void begin() {
                corrupt(data.message(ROUND_TRIP));
                super.begin();
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, PingPongEnd.create(game, false), corrupted)).containsExactly(1, 1);
    }

    @Test
    void whoScansNoticesOneWrongBitOfUnknownData() throws Exception {
        Game game = game(PingPongMode.SCAN);
        PingPongEnd corrupted = new ScanningEnd(game, false) {
            @Override
            void hit(ByteBuf bytes) {
                corrupt(bytes);
                super.hit(bytes);
            }
        };
        PingPongEnd client = PingPongEnd.create(game, true);
        assertThat(wrong(Way.CONNECTION_MANAGER, corrupted, client)).containsExactly(0, ROUND_TRIP + 1);
    }

    /** The memory is written from its end on, and the first of 8 bytes come last. */
    @Test
    void whoScansWaitsUntilAllBytesAreThere() throws Exception {
        Game game = game(PingPongMode.SCAN);
        AtomicInteger scans = new AtomicInteger();
        ScanningEnd client = new ScanningEnd(game, true) {
            @Override
            void scan() {
                super.scan();
                scans.incrementAndGet();
            }
        };
        ScanningEnd server = new ScanningEnd(game, false) {
            @Override
            void hit(ByteBuf bytes) {
                int late = Long.BYTES / 2;
                ByteBuf rest = bytes.retainedSlice(late, game.size() - late);
                ctx.writeAndFlush(new RdmaWrite(rest, remote, late)).addListener(written -> hitAfter(bytes, scans.get()
                        + 2));
            }

            private void hitAfter(ByteBuf bytes, int scan) {
                if (scans.get() >= scan) {
                    super.hit(bytes);
                } else {
                    ctx.executor().schedule(() -> hitAfter(bytes, scan), 1, TimeUnit.MILLISECONDS);
                }
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, server, client)).containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    void onlyAnEndThatDoesNothingTellsOfItsProcessor(PingPongMode mode) throws Exception {
        List<Result> results = results(Way.CONNECTION_MANAGER, PingPongEnd.create(game(mode), false),
                PingPongEnd.create(game(mode), true));
        assertThat(results).extracting(result -> result.cpuNanos() >= 0).containsExactly(
                mode == PingPongMode.CLIENT || mode == PingPongMode.UNSIGNALLED, mode == PingPongMode.SERVER);
    }

    @Test
    void endThatHasCountedSomethingElseIsRefused() throws Exception {
        Game game = game(PingPongMode.SEND);
        PingPongEnd miscounting = new SendingEnd(game, false) {
            @Override
            long counted(long told) {
                return super.counted(told) - 1;
            }
        };
        PingPongEnd client = PingPongEnd.create(game, true);
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(miscounting), List.of(client));
            assertThatThrownBy(() -> TestTimeouts.result(client.result())).isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("the peer has counted 2 (expected: 3)");
        }
    }

    @Test
    void numberThatMeansNothingEndsTheConnection() throws Exception {
        Game game = game(PingPongMode.CLIENT);
        PingPongEnd server = PingPongEnd.create(game, false);
        PingPongEnd talkative = new DrivingEnd(game, true) {
            @Override
            void begin() {
                send(7);
            }
        };
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(server), List.of(talkative));
            assertThatThrownBy(() -> TestTimeouts.result(server.result())).isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("the peer sent the number 7");
        }
    }

    @Test
    void sizeThatHasNoTokenIsRefused() {
        assertThat(Commands.run(new PingPongClient(), "--size", "12")).isOne();
        assertThat(Commands.run(new PingPongServer(), "--size", "4")).isNotZero();
        assertThat(Commands.run(new PingPongClient(), "--size", "16", "--mode", "SEND")).isOne();
    }

    private static Game game(PingPongMode mode) {
        return new Game(mode, SMALL, ROUND_TRIP + 1, Duration.ZERO, true);
    }

    private static void corrupt(ByteBuf message) {
        // No byte of 0 comes of it.
        message.setByte(0, message.getByte(0) ^ 2);
    }

    /** Numbers of failed checks at the server, and at the client. */
    private long[] wrong(Way way, PingPongEnd server, PingPongEnd client) throws Exception {
        return results(way, server, client).stream().mapToLong(Result::wrong).toArray();
    }

    private List<Result> results(Way way, PingPongEnd server, PingPongEnd client) throws Exception {
        try (EndPair pair = new EndPair()) {
            pair.connect(way, folder, List.of(server), List.of(client));
            return List.of(TestTimeouts.result(server.result()), TestTimeouts.result(client.result()));
        }
    }
}
