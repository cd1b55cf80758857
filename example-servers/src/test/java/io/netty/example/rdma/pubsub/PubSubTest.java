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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.pubsub.Edition.Check;
import io.netty.example.rdma.pubsub.Press.Mailing;
import io.netty.example.rdma.pubsub.Press.SharedMemory;
import io.netty.example.rdma.pubsub.PubSubCommand.Publisher;
import io.netty.example.rdma.pubsub.PubSubCommand.Subscriber;
import io.netty.example.rdma.pubsub.PublisherEnd.ReadPublisher;
import io.netty.example.rdma.pubsub.PublisherEnd.WritingPublisher;
import io.netty.example.rdma.pubsub.SubscriberEnd.ReadSubscriber;
import io.netty.example.rdma.pubsub.SubscriberEnd.WrittenSubscriber;
import io.netty.example.rdma.pubsub.Subscription.By;
import io.netty.example.rdma.util.Commands;
import io.netty.example.rdma.util.RunningServer;
import io.netty.example.rdma.verbs.EndPair;
import io.netty.example.rdma.verbs.EndPair.Way;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(180)
class PubSubTest {
    private static final int SIZE = 10_007;
    private static final Edition FORMAT = new Edition(Check.CRC, SIZE);
    private static final int COUNT = 50;
    private static final long INTERVAL_NANOS = 200_000;
    /** Number of torn copies, none of which a subscriber may take for an edition. */
    private static final int TORN_COPIES = 20;

    @TempDir
    private Path folder;

    private static Stream<Object[]> formatsInEachWay() {
        return Arrays.stream(Way.values()).flatMap(way -> Stream.of(FORMAT, new Edition(Check.TWICE, 100))
                .map(format -> new Object[] {format, way}));
    }

    @ParameterizedTest
    @MethodSource("formatsInEachWay")
    void subscribersReadTheNewestEdition(Edition format, Way way) throws Exception {
        Subscription subscription = new Subscription(By.READ, format, COUNT);
        List<ReadSubscriber> subscribers = List.of(new ReadSubscriber(subscription), new ReadSubscriber(subscription));
        SharedMemory memory = new SharedMemory(format);
        List<VerbsEnd> publishers =
                List.of(new ReadPublisher(subscription, memory), new ReadPublisher(subscription, memory));
        try (Press press = new Press(memory, INTERVAL_NANOS)) {
            press.start();
            allAreRight(way, publishers, subscribers);
        }
    }

    @ParameterizedTest
    @MethodSource("formatsInEachWay")
    void publisherWritesTheNewestEdition(Edition format, Way way) throws Exception {
        Subscription subscription = new Subscription(By.WRITE, format, COUNT);
        List<WrittenSubscriber> subscribers =
                List.of(new WrittenSubscriber(subscription), new WrittenSubscriber(subscription));
        List<WritingPublisher> publishers =
                List.of(new WritingPublisher(subscription), new WritingPublisher(subscription));
        try (Press press = new Press(new Mailing(format, publishers), INTERVAL_NANOS)) {
            press.start();
            allAreRight(way, publishers, subscribers);
        }
    }

    @ParameterizedTest
    @EnumSource
    void publisherConnectsAsWell(Way way) throws Exception {
        Subscription read = new Subscription(By.READ, FORMAT, COUNT);
        Subscription written = new Subscription(By.WRITE, FORMAT, COUNT);
        SharedMemory memory = new SharedMemory(FORMAT);
        WritingPublisher writing = new WritingPublisher(written);
        try (Press press = new Press(memory, INTERVAL_NANOS);
             Press mailing = new Press(new Mailing(FORMAT, List.of(writing)), INTERVAL_NANOS)) {
            press.start();
            mailing.start();
            allAreRight(way, List.of(new ReadSubscriber(read), new WrittenSubscriber(written)),
                    List.of(new ReadPublisher(read, memory), writing));
        }
    }

    @Test
    void halvesAreReadInTheOtherOrderThanTheyAreWritten() throws Exception {
        Edition twice = new Edition(Check.TWICE, 100);
        Subscription read = new Subscription(By.READ, twice, COUNT);
        Subscription written = new Subscription(By.WRITE, twice, COUNT);
        SharedMemory memory = new SharedMemory(twice);
        Offsets reads = new Offsets();
        Offsets writes = new Offsets();
        ReadSubscriber reading = new ReadSubscriber(read) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                ctx.pipeline().addBefore(ctx.name(), null, reads);
                super.begin(ctx, peer);
            }
        };
        WritingPublisher writing = new WritingPublisher(written) {
            @Override
            protected void begin(ChannelHandlerContext ctx, Introduction peer) {
                ctx.pipeline().addBefore(ctx.name(), null, writes);
                super.begin(ctx, peer);
            }
        };
        try (Press press = new Press(memory, INTERVAL_NANOS);
             Press mailing = new Press(new Mailing(twice, List.of(writing)), INTERVAL_NANOS)) {
            press.start();
            mailing.start();
            allAreRight(Way.CONNECTION_MANAGER, List.of(new ReadPublisher(read, memory), writing),
                    List.of(reading, new WrittenSubscriber(written)));
        }
        assertThat(reads.offsets).startsWith((long) twice.firstPart(), 0L);
        assertThat(writes.offsets).startsWith(0L, (long) twice.firstPart());
    }

    /** Notes where in the peer's memory operations are. */
    private static final class Offsets extends ChannelOutboundHandlerAdapter {
        private final List<Long> offsets = new ArrayList<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            if (message instanceof RdmaRead) {
                offsets.add(((RdmaRead) message).offset());
            } else if (message instanceof RdmaWrite) {
                offsets.add(((RdmaWrite) message).offset());
            }
            ctx.write(message, promise);
        }
    }

    @ParameterizedTest
    @EnumSource
    void subscribersComeAndGo(By by) throws Exception {
        int most = 10 * COUNT;
        int[] counts = {most, COUNT, 2 * COUNT};
        SharedMemory memory = new SharedMemory(FORMAT);
        List<PublisherEnd> publishers = new ArrayList<>();
        List<WritingPublisher> writing = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            // Knows nothing of what a subscriber wants.
            Subscription subscription = new Subscription(by, FORMAT, 0);
            if (by == By.WRITE) {
                writing.add(new WritingPublisher(subscription));
                publishers.add(writing.get(i));
            } else {
                publishers.add(new ReadPublisher(subscription, memory));
            }
        }
        try (Press press = new Press(by == By.READ ? memory : new Mailing(FORMAT, writing), INTERVAL_NANOS);
             EndPair pair = new EndPair()) {
            press.start();
            InetSocketAddress address = pair.accept(publishers);
            SubscriberEnd staying = null;
            for (int count : counts) {
                Subscription subscription = new Subscription(by, FORMAT, count);
                SubscriberEnd subscriber =
                        by == By.READ ? new ReadSubscriber(subscription) : new WrittenSubscriber(subscription);
                pair.connect(address, subscriber);
                if (staying == null) {
                    staying = subscriber;
                } else {
                    // The subscriber leaves before the next one joins.
                    assertThat(TestTimeouts.result(subscriber.result()).count()).isEqualTo(count);
                    assertThat(subscriber.wrong()).isZero();
                }
            }
            assertThat(TestTimeouts.result(staying.result()).count()).isEqualTo(most);
            assertThat(staying.wrong()).isZero();
            for (int i = 0; i < counts.length; i++) {
                Result result = TestTimeouts.result(publishers.get(i).result());
                assertThat(result.count()).isEqualTo(counts[i]);
                assertThat(result.wrong()).isZero();
            }
        } finally {
            if (by == By.WRITE) {
                // No press had it.
                memory.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void subscriberThatGoesWithoutAReceiptDoesNotEndThePublisher(By by) throws Exception {
        Subscription subscription = new Subscription(by, FORMAT, COUNT);
        SharedMemory memory = new SharedMemory(FORMAT);
        List<WritingPublisher> writing =
                List.of(new WritingPublisher(subscription), new WritingPublisher(subscription));
        List<? extends PublisherEnd> publishers = by == By.WRITE ? writing
                : List.of(new ReadPublisher(subscription, memory), new ReadPublisher(subscription, memory));
        try (Press press = new Press(by == By.READ ? memory : new Mailing(FORMAT, writing), INTERVAL_NANOS);
             EndPair pair = new EndPair()) {
            press.start();
            InetSocketAddress address = pair.accept(publishers);
            Leaver leaver = new Leaver(subscription);
            pair.connect(address, leaver);
            assertThat(TestTimeouts.result(publishers.get(0).result()).what())
                    .contains("whose subscriber is gone without a receipt");
            assertThatThrownBy(() -> TestTimeouts.result(leaver.result())).hasMessageContaining("ended before");
            SubscriberEnd staying = by == By.READ ? new ReadSubscriber(subscription)
                    : new WrittenSubscriber(subscription);
            pair.connect(address, staying);
            assertThat(TestTimeouts.result(staying.result()).count()).isEqualTo(COUNT);
            Result last = TestTimeouts.result(publishers.get(1).result());
            assertThat(last.count()).isEqualTo(COUNT);
            assertThat(last.wrong()).isZero();
        } finally {
            if (by == By.WRITE) {
                // No press had it.
                memory.close();
            }
        }
    }

    @Test
    void programThatPublishesConnectsToThoseThatListen() throws Exception {
        List<CompletableFuture<Integer>> subscribers = new ArrayList<>();
        for (String[] own : new String[][] {{"--number", "0", "--count", "20"}, {"--number", "1", "--count", "30"}}) {
            subscribers.add(CompletableFuture.supplyAsync(() -> run(new Subscriber(), "--listen", own)));
        }
        assertThat(run(new Publisher(), "--connect", "--subscribers", "2")).isZero();
        for (CompletableFuture<Integer> subscriber : subscribers) {
            assertThat(TestTimeouts.result(subscriber)).isZero();
        }
    }

    private int run(Callable<Integer> program, String option, String... more) {
        List<String> arguments = new ArrayList<>(List.of("--host", RunningServer.HOST, "--timeout",
                RunningServer.TIMEOUT, "--descriptors", folder.toString(), "--by", "read", "--size", "1K", option));
        arguments.addAll(List.of(more));
        return Commands.run(program, arguments.toArray(new String[0]));
    }

    private void allAreRight(Way way, List<? extends VerbsEnd> publishers, List<? extends VerbsEnd> subscribers)
            throws Exception {
        try (EndPair pair = new EndPair()) {
            pair.connect(way, folder, publishers, subscribers);
            for (List<? extends VerbsEnd> ends : List.of(publishers, subscribers)) {
                for (VerbsEnd end : ends) {
                    Result result = TestTimeouts.result(end.result());
                    assertThat(result.wrong()).isZero();
                    assertThat(result.count()).isEqualTo(COUNT);
                }
            }
        }
    }

    @Test
    void readerTakesTornDataAgainUntilTheyAreWhole() throws Exception {
        Subscription subscription = new Subscription(By.READ, FORMAT, 1);
        ReadSubscriber subscriber = new ReadSubscriber(subscription);
        TornMemory publisher = new TornMemory(subscription);
        tornDataAreTakenAgain(publisher, publisher::complete, subscriber);
    }

    @Test
    void subscriberThatIsWrittenToTakesTornDataAgainUntilTheyAreWhole() throws Exception {
        Subscription subscription = new Subscription(By.WRITE, FORMAT, 1);
        WrittenSubscriber subscriber = new WrittenSubscriber(subscription);
        HalfWriter publisher = new HalfWriter(subscription);
        tornDataAreTakenAgain(publisher, publisher::complete, subscriber);
    }

    private void tornDataAreTakenAgain(PublisherEnd publisher, Runnable complete, SubscriberEnd subscriber)
            throws Exception {
        try (EndPair pair = new EndPair()) {
            pair.connect(Way.CONNECTION_MANAGER, folder, List.of(publisher), List.of(subscriber));
            TestTimeouts.awaitTrue(() -> subscriber.torn() >= TORN_COPIES);
            assertThat(subscriber.result()).isNotDone();
            complete.run();
            Result result = TestTimeouts.result(subscriber.result());
            assertThat(result.wrong()).isZero();
            assertThat(result.count()).isOne();
            assertThat(result.what()).contains(subscriber.torn() + " torn copies");
        }
    }

    private static ByteBuf edition() {
        ByteBuf edition = Unpooled.directBuffer(FORMAT.length(), FORMAT.length());
        FORMAT.write(edition, 1);
        return edition;
    }

    /** Closes the connection as soon as it has one. */
    private static final class Leaver extends VerbsEnd {
        Leaver(Subscription subscription) {
            super(subscription.toString());
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            RegisteredMemory memory = RegisteredMemory.allocate(FORMAT.length(),
                    Set.of(RdmaPermission.LOCAL_WRITE, RdmaPermission.REMOTE_WRITE));
            whenClosed(memory::close);
            return List.of(channel.export(memory));
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
            ctx.close();
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
            throw new IllegalArgumentException("what for? " + msg);
        }
    }

    /** Stays in the middle of a replacement until it is told to go on. */
    private static final class TornMemory extends PublisherEnd {
        private RegisteredMemory memory;

        TornMemory(Subscription subscription) {
            super(subscription);
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            memory = RegisteredMemory.allocate(FORMAT.length(), Set.of(RdmaPermission.REMOTE_READ));
            whenClosed(memory::close);
            FORMAT.write(memory.buf(), 0);
            copy(0, FORMAT.length() / 2);
            return List.of(channel.export(memory));
        }

        void complete() {
            copy(FORMAT.length() / 2, FORMAT.length());
        }

        private void copy(int begin, int end) {
            ByteBuf edition = edition();
            memory.buf().setBytes(begin, edition, begin, end - begin);
            edition.release();
        }

        @Override
        void enough(ChannelHandlerContext ctx) {
            answer(ctx);
        }
    }

    /** Writes the first half, and the second one when it is told to go on. */
    private static final class HalfWriter extends PublisherEnd {
        private volatile ChannelHandlerContext context;
        private RemoteMemory remote;

        HalfWriter(Subscription subscription) {
            super(subscription);
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
            context = ctx;
            remote = peer.memory(0, FORMAT.length());
            write(0, FORMAT.length() / 2);
        }

        void complete() {
            context.executor().execute(() -> write(FORMAT.length() / 2, FORMAT.length()));
        }

        private void write(int begin, int end) {
            write(context, new RdmaWrite(edition().setIndex(begin, end), remote, begin));
            context.flush();
        }

        @Override
        void enough(ChannelHandlerContext ctx) {
            answer(ctx);
        }
    }
}
