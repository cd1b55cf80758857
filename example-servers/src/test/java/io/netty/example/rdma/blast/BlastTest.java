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
package io.netty.example.rdma.blast;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.EndPair;
import io.netty.example.rdma.verbs.EndPair.Way;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(180)
class BlastTest {
    /** Size of messages whose data do not overlap. */
    private static final int SMALL = 64;
    private static final int FEW = 50;
    private static final int OPERATION = 7;
    private static final Duration WARM_UP = Duration.ofMillis(20);
    private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({
        "WRITE, 5003, 1000, 64, CONNECTION_MANAGER", "READ, 5003, 1000, 64, CONNECTION_MANAGER",
        "WRITE, 5003, 300, 64, DESCRIPTORS", "READ, 5003, 300, 64, DESCRIPTORS",
        "WRITE, 1, 100, 1, CONNECTION_MANAGER", "READ, 1, 100, 1, CONNECTION_MANAGER",
        "WRITE, 64, 20000, 8000, CONNECTION_MANAGER", "READ, 64, 5000, 1000, CONNECTION_MANAGER",
        "WRITE, 70000, 3, 64, CONNECTION_MANAGER", "READ, 70000, 3, 64, CONNECTION_MANAGER"
    })
    void everyByteOfEveryOperationIsRight(BlastMode mode, int size, int count, int chain, Way way) throws Exception {
        Barrage barrage = new Barrage(mode, false, size, count, WARM_UP, chain, true);
        assertThat(wrong(way, new BlastTarget(barrage), new Blaster(barrage))).containsExactly(0, 0);
    }

    /** Cases in which the roles of client and server are reversed. */
    @ParameterizedTest
    @CsvSource({
        "WRITE, CONNECTION_MANAGER", "READ, CONNECTION_MANAGER", "WRITE, DESCRIPTORS", "READ, DESCRIPTORS"
    })
    void serverDoesItAsWell(BlastMode mode, Way way) throws Exception {
        Barrage barrage = new Barrage(mode, true, 5003, 300, WARM_UP, 64, true);
        BlastEnd server = barrage.end(false);
        BlastEnd client = barrage.end(true);
        assertThat(server).isInstanceOf(Blaster.class);
        assertThat(client).isInstanceOf(BlastTarget.class);
        assertThat(wrong(way, server, client)).containsExactly(0, 0);
    }

    @Test
    void endsThatDoNotAgreeWhoDoesItAreTold() throws Exception {
        BlastEnd server = new Barrage(BlastMode.WRITE, true, SMALL, FEW, Duration.ZERO, 16, true).end(false);
        BlastEnd client = new Barrage(BlastMode.WRITE, false, SMALL, FEW, Duration.ZERO, 16, true).end(true);
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(server), List.of(client));
            assertThatThrownBy(() -> TestTimeouts.result(client.result())).isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("give both the same options");
        }
    }

    /** Only the end that has nothing to do tells of its processor. */
    @ParameterizedTest
    @EnumSource
    void targetTellsWhatItsEventLoopDid(BlastMode mode) throws Exception {
        Barrage barrage = new Barrage(mode, false, SMALL, FEW, Duration.ZERO, 16, false);
        List<Result> results = results(Way.CONNECTION_MANAGER, barrage.end(false), barrage.end(true));
        assertThat(results.get(0).cpuNanos()).isNotNegative();
        assertThat(results.get(0).toString()).endsWith("us each").contains(", processor ");
        assertThat(results.get(1).cpuNanos()).isNegative();
        assertThat(results.get(1).toString()).doesNotContain("processor");
    }

    @Test
    void processorTimeIsThatOfTheEventLoop() throws Exception {
        Barrage barrage = new Barrage(BlastMode.WRITE, false, SMALL, FEW, Duration.ZERO, 16, false);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        BlastTarget busy = new BlastTarget(barrage) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) throws Exception {
                long end = threads.getCurrentThreadCpuTime() + BUSY_NANOS;
                while (threads.getCurrentThreadCpuTime() < end) {
                    Thread.onSpinWait();
                }
                super.begin(ctx, peer);
            }
        };
        assertThat(results(Way.CONNECTION_MANAGER, busy, barrage.end(true)).get(0).cpuNanos())
                .isGreaterThanOrEqualTo(BUSY_NANOS);
    }

    @Test
    void chainIsFlushedOnceAndItsLastOperationAloneHasAPromise() throws Exception {
        Barrage barrage = new Barrage(BlastMode.WRITE, false, SMALL, FEW, Duration.ZERO, 16, true);
        Chains chains = new Chains();
        Blaster blaster = new Blaster(barrage) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                ctx.pipeline().addBefore(ctx.name(), null, chains);
                super.begin(ctx, peer);
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, barrage.end(false), blaster)).containsExactly(0, 0);
        assertThat(chains.lengths).containsExactly(16, 16, 16, 2);
        assertThat(chains.promises).isEqualTo(4);
    }

    /** Notes how many operations are written before each flush. */
    private static final class Chains extends ChannelOutboundHandlerAdapter {
        private final List<Integer> lengths = new ArrayList<>();
        private int length;
        private int promises;

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaWrite) {
                length++;
                promises += promise.isVoid() ? 0 : 1;
            }
            ctx.write(message, promise);
        }

        @Override
        public void flush(ChannelHandlerContext ctx) {
            if (length > 0) {
                lengths.add(length);
                length = 0;
            }
            ctx.flush();
        }
    }

    @Test
    void endThatHasCountedSomethingElseIsRefused() throws Exception {
        Barrage barrage = new Barrage(BlastMode.READ, false, SMALL, FEW, Duration.ZERO, 16, true);
        BlastTarget miscounting = new BlastTarget(barrage) {
            @Override
            void message(ChannelHandlerContext ctx, long number) {
                super.message(ctx, number + 1);
            }
        };
        BlastEnd client = barrage.end(true);
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(miscounting), List.of(client));
            assertThatThrownBy(() -> TestTimeouts.result(client.result())).isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("the peer has counted 49 (expected: 50)");
        }
    }

    @ParameterizedTest
    @EnumSource
    void endIsRightWithoutTheCheck(BlastMode mode) throws Exception {
        Barrage barrage = new Barrage(mode, false, 5003, 1000, Duration.ZERO, 64, false);
        assertThat(wrong(Way.CONNECTION_MANAGER, new BlastTarget(barrage), new Blaster(barrage)))
                .containsExactly(0, 0);
    }

    @ParameterizedTest
    @EnumSource
    void bothEndsKnowWhatWasDoneToWarmUp(BlastMode mode) throws Exception {
        Barrage barrage = new Barrage(mode, false, SMALL, FEW, WARM_UP, 16, true);
        List<Result> results = results(Way.CONNECTION_MANAGER, new BlastTarget(barrage), new Blaster(barrage));
        assertThat(results).extracting(Result::count).allMatch(count -> count > FEW)
                .containsOnly(results.get(0).count());
    }

    @Test
    void serverNoticesOneWrongBitThatWasWritten() throws Exception {
        Barrage barrage = new Barrage(BlastMode.WRITE, false, SMALL, FEW, Duration.ZERO, 16, true);
        Blaster corrupted = new Blaster(barrage) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                corrupt(data.message(OPERATION), 0);
                super.begin(ctx, peer);
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, new BlastTarget(barrage), corrupted)).containsExactly(1, 0);
    }

    @ParameterizedTest
    @EnumSource
    void wrongDataAtTheEndAreNoticedWithoutTheCheck(BlastMode mode) throws Exception {
        Barrage barrage = new Barrage(mode, false, SMALL, FEW, Duration.ZERO, 16, false);
        BlastTarget target = mode == BlastMode.READ ? corrupted(barrage, 0) : new BlastTarget(barrage);
        Blaster blaster = new Blaster(barrage) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                if (mode == BlastMode.WRITE) {
                    corrupt(data.message(0), 0);
                }
                super.begin(ctx, peer);
            }
        };
        assertThat(wrong(Way.CONNECTION_MANAGER, target, blaster))
                .containsExactly(mode == BlastMode.WRITE ? 1 : 0, mode == BlastMode.READ ? 1 : 0);
    }

    @Test
    void clientNoticesOneWrongBitThatItHasRead() throws Exception {
        Barrage barrage = new Barrage(BlastMode.READ, false, SMALL, 20, Duration.ZERO, 16, true);
        assertThat(wrong(Way.CONNECTION_MANAGER, corrupted(barrage, OPERATION), new Blaster(barrage)))
                .containsExactly(0, 1);
    }

    @Test
    void moreOperationsThanAgreedEndTheConnection() throws Exception {
        Barrage barrage = new Barrage(BlastMode.WRITE, false, SMALL, FEW, Duration.ZERO, 16, true);
        BlastTarget target = new BlastTarget(barrage);
        Blaster boastful = new Blaster(barrage) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                ctx.writeAndFlush(NumberMessage.of(ctx.alloc(), FEW + 1));
            }
        };
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(target), List.of(boastful));
            assertThatThrownBy(() -> TestTimeouts.result(target.result())).isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("the peer has done 51 operations");
        }
    }

    @Test
    void chainThatIsLongerThanAnyQueueIsRefused() {
        assertThatThrownBy(() -> new Barrage(BlastMode.WRITE, false, 1, 1, Duration.ZERO, 8001, true))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("--chain: 8001");
    }

    @Test
    void moreMemoryThanIsReasonableIsRefused() {
        assertThatThrownBy(() -> new Barrage(BlastMode.WRITE, false, 16 << 20, 1, Duration.ZERO, 64, true))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("lower --chain");
    }

    private static BlastTarget corrupted(Barrage barrage, int slot) {
        return new BlastTarget(barrage) {
            @Override
            protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
                List<RemoteMemory> exported = super.export(channel);
                corrupt(memory.buf(), slot * SMALL + SMALL - 1);
                return exported;
            }
        };
    }

    private static void corrupt(ByteBuf buf, int index) {
        buf.setByte(index, ~buf.getByte(index));
    }

    /** Numbers of failed checks at the server, and at the client. */
    private long[] wrong(Way way, BlastEnd server, BlastEnd client) throws Exception {
        return results(way, server, client).stream().mapToLong(Result::wrong).toArray();
    }

    private List<Result> results(Way way, BlastEnd server, BlastEnd client) throws Exception {
        try (EndPair pair = new EndPair()) {
            pair.connect(way, folder, List.of(server), List.of(client));
            return List.of(TestTimeouts.result(server.result()), TestTimeouts.result(client.result()));
        }
    }
}
