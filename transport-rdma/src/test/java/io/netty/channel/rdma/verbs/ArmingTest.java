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
package io.netty.channel.rdma.verbs;

import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoRegistration;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.unix.FileDescriptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * No wake-up is lost: the receiver only looks at its queue when epoll says so.
 */
@Tag("rxe-quick")
@ExtendWith(LiveObjectsExtension.class)
class ArmingTest {
    private static final int MESSAGES = 200_000 / Integer.getInteger("test.timeout.multiplier", 1);
    private static final int RECEIVES = 32;

    @Test
    void everyMessageWakesUpAReceiverThatSleepsInEpoll() throws Exception {
        IoEventLoopGroup group = new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());
        try (ConnectedPair pair = new ConnectedPair()) {
            for (int i = 0; i < RECEIVES; i++) {
                pair.server.receive(i, i * 8, 8);
            }
            Receiver receiver = new Receiver(pair.server);
            IoRegistration registration = TestTimeouts.result(group.register(receiver));
            registration.submit(pair.server.channel.isEdgeTriggered() ?
                    EpollIoOps.EPOLLIN.with(EpollIoOps.EPOLLET) : EpollIoOps.EPOLLIN);
            TestTimeouts.sync(group.submit(receiver::drainAndArm));

            send(pair.client, receiver);
            TestTimeouts.result(receiver.done);
            TestTimeouts.sync(group.submit(registration::cancel));
            assertThat(receiver.wakeUps).as("wake-ups").isPositive();
        } finally {
            TestTimeouts.shutdown(group);
        }
    }

    @Test
    void anArmedQueueRaisesOneEventForTheNextCompletion() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            WorkCompletions batch = new WorkCompletions(4);
            assertThat(pair.server.channel.consumeEvents(8)).isZero();
            assertThat(pair.server.queue.pollOrArm(batch)).isTrue();
            assertThat(batch.size()).isZero();
            pair.server.receive(1, 0, 8);
            pair.client.send(1, 0, 8);
            TestSupport.await("event", () -> pair.server.channel.consumeEvents(8) > 0 ? true : null);
            assertThat(pair.server.queue.pollOrArm(batch)).isFalse();
            assertThat(batch.size()).isEqualTo(1);
        }
    }

    @Test
    void aQueueThatIsNotArmedRaisesNoEvent() throws Exception {
        try (ConnectedPair pair = new ConnectedPair()) {
            pair.server.receive(1, 0, 8);
            pair.client.send(1, 0, 8);
            TestSupport.completion(pair.server.queue, WorkCompletionStatus.SUCCESS);
            assertThat(pair.server.channel.consumeEvents(8)).isZero();
            // The event would come before the one of the next completion.
            assertThat(pair.server.queue.pollOrArm(new WorkCompletions(4))).isTrue();
            pair.server.receive(2, 0, 8);
            pair.client.send(2, 0, 8);
            long events = TestSupport.await("event", () -> {
                long consumed = pair.server.channel.consumeEvents(8);
                return consumed > 0 ? consumed : null;
            });
            assertThat(events + pair.server.channel.consumeEvents(8)).isOne();
        }
    }

    /** The embedded provider knows what the peer has taken. An adapter knows what the peer's adapter has. */
    @Test
    void aPeerIsAwaitedUntilItHasTakenAMessage() throws Exception {
        boolean known = VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED;
        try (ConnectedPair pair = new ConnectedPair()) {
            assertThat(pair.client.queue.peerIsLate()).isFalse();
            // The device takes the message itself if it finds that the peer's thread has not polled lately.
            TestSupport.await("a peer that has not taken a message", () -> {
                for (Endpoint end : new Endpoint[] { pair.client, pair.server }) {
                    end.receive(1, 0, 8);
                }
                pair.server.send(1, 0, 8);
                TestSupport.completions(pair.server.queue, 1);
                TestSupport.completions(pair.client.queue, 1);
                pair.client.send(1, 0, 8);
                boolean awaited = pair.client.queue.peerIsLate();
                TestSupport.completions(pair.server.queue, 1);
                TestSupport.completions(pair.client.queue, 1);
                assertThat(pair.client.queue.peerIsLate()).isFalse();
                return awaited == known ? true : null;
            });
        }
    }

    @Test
    void eventsOfAllQueuesOfAChannelAreTold() throws Exception {
        try (ConnectedPair pair = new ConnectedPair();
             CompletionQueue other = pair.server.id.device().createCompletionQueue(8, pair.server.channel, 2);
             QueuePair failed = pair.server.domain.createQueuePair(new QueuePairInitAttributes(other, other))) {
            WorkCompletions batch = new WorkCompletions(4);
            assertThat(pair.server.queue.pollOrArm(batch)).isTrue();
            assertThat(other.pollOrArm(batch)).isTrue();
            ManualConnection.init(failed);
            failed.toError();
            assertThat(failed.postSend(new SendWorkRequests(1, 0).send(1, 0))).isOne();
            TestSupport.completion(other, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            pair.server.receive(1, 0, 8);
            pair.client.send(1, 0, 8);
            TestSupport.completion(pair.server.queue, WorkCompletionStatus.SUCCESS);
            long[] marks = new long[1];
            TestSupport.await("events of both", () -> (marks[0] |= pair.server.channel.consumeEvents(8)) == 3 ?
                    true : null);
        }
    }

    private static void send(Endpoint client, Receiver receiver) throws Exception {
        Random random = new Random(7);
        WorkCompletions batch = new WorkCompletions(32);
        SendWorkRequests sends = new SendWorkRequests(1, 1);
        int completed = 0;
        for (int sent = 0; sent < MESSAGES; sent++) {
            // Never more than there are receives: a send that finds none costs 0.66 s with the kernel's RDMA CM. Nor
            // more than the send queue holds: a message may be received long before its acknowledgement is here.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestTimeouts.SECONDS);
            // One at a time has nothing behind it that would wake the receiver in its place.
            int window = random.nextInt(4) == 0 ? 1 : RECEIVES;
            while (sent - receiver.expected >= window || sent - completed >= RECEIVES) {
                if (receiver.done.isDone()) {
                    return;
                }
                assertThat(System.nanoTime() < deadline).as("a wake-up after message %s", receiver.expected).isTrue();
                client.queue.poll(batch);
                completed += batch.size();
            }
            client.buffer.putLong(sent % RECEIVES * 8, sent);
            sends.clear();
            sends.send(sent, SendFlags.SIGNALED).addSge(client.at(sent % RECEIVES * 8), 8, client.region.lkey());
            client.post(sends);
            client.queue.poll(batch);
            completed += batch.size();
            // Long enough, often enough, for the receiver to go to sleep and be anywhere on its way there.
            if (random.nextInt(16) == 0) {
                LockSupport.parkNanos(random.nextInt(50_000));
            }
        }
    }

    private static final class Receiver implements EpollIoHandle {
        private final Endpoint server;
        private final WorkCompletions batch = new WorkCompletions(16);
        private final FileDescriptor fd;
        final CompletableFuture<Void> done = new CompletableFuture<>();
        volatile int wakeUps;
        volatile int expected;

        Receiver(Endpoint server) {
            this.server = server;
            fd = new FileDescriptor(server.channel.fd());
        }

        @Override
        public FileDescriptor fd() {
            return fd;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent ioEvent) {
            try {
                wakeUps++;
                server.channel.consumeEvents(8);
                drainAndArm();
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        }

        Void drainAndArm() throws VerbsException {
            while (!server.queue.pollOrArm(batch) || batch.size() > 0) {
                for (int i = 0; i < batch.size(); i++) {
                    assertThat(batch.isSuccess(i)).as(batch.describe(i)).isTrue();
                    int slot = (int) batch.workRequestId(i);
                    assertThat(server.buffer.getLong(slot * 8)).isEqualTo(expected);
                    server.receive(slot, slot * 8, 8);
                    expected++;
                }
            }
            if (expected == MESSAGES) {
                done.complete(null);
            }
            return null;
        }

        @Override
        public void close() {
            // The test owns the descriptor.
        }
    }
}
