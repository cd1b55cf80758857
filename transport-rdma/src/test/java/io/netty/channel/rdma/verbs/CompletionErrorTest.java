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

import io.netty.channel.rdma.verbs.TestSupport.Completion;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.completions;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

@Tag("aarch64")
@Tag("quick")
@Tag("rxe-quick")
@ExtendWith(LiveObjectsExtension.class)
class CompletionErrorTest {
    private ConnectedPair pair;
    private Endpoint client;
    private Endpoint server;

    private void connect() throws Exception {
        connect(ConnectedPair.DEFAULTS);
    }

    private void connect(ConnectionParameters parameters) throws Exception {
        pair = new ConnectedPair(parameters, parameters);
        client = pair.client;
        server = pair.server;
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    /** Soft-RoCE completes the work request first. */
    private static void awaitErrorState(Endpoint end) throws Exception {
        TestSupport.await("error state", () -> end.queuePair.state() == QueuePairState.ERROR ? true : null);
    }

    /** Soft-RoCE of Linux 6.1 reports some errors by other numbers than devices do. */
    private int status(int device, int softRoce) {
        return client.isSoftRoce() ? softRoce : device;
    }

    @Test
    void aMessageLongerThanTheReceiveFailsOnBothSides() throws Exception {
        connect();
        server.receive(1, 0, 99);
        client.send(2, 0, 100);

        assertThat(completion(server.queue, status(WorkCompletionStatus.LOCAL_LENGTH_ERROR,
                WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR)).id()).isEqualTo(1);
        assertThat(completion(client.queue, status(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR,
                WorkCompletionStatus.REMOTE_OPERATION_ERROR)).id()).isEqualTo(2);
        awaitErrorState(client);
        awaitErrorState(server);
    }

    @Test
    void aSendFromMemoryOfNoRegionFails() throws Exception {
        connect();
        server.receive(1, 0, 1000);
        client.post(new SendWorkRequests(1, 1).send(2, SendFlags.SIGNALED)
                .addSge(client.at(0), 1000, client.region.lkey() ^ 0x5A5A00));

        assertThat(completion(client.queue, status(WorkCompletionStatus.LOCAL_PROTECTION_ERROR,
                WorkCompletionStatus.LOCAL_QP_OPERATION_ERROR)).id()).isEqualTo(2);
    }

    @Test
    void aSendBeyondTheEndOfItsRegionFailsThoughUnsignalled() throws Exception {
        connect();
        server.receive(1, 0, 1000);
        client.post(new SendWorkRequests(1, 1).send(2, 0)
                .addSge(client.at(Endpoint.BUFFER_SIZE - 999), 1000, client.region.lkey()));

        assertThat(completion(client.queue, WorkCompletionStatus.LOCAL_PROTECTION_ERROR).id()).isEqualTo(2);
    }

    @Test
    void aWriteWithTheWrongKeyIsRefused() throws Exception {
        connect();
        client.post(new SendWorkRequests(1, 1)
                .write(2, SendFlags.SIGNALED, server.at(0), server.region.rkey() ^ 0x5A5A00)
                .addSge(client.at(0), 100, client.region.lkey()));

        assertThat(completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR).id()).isEqualTo(2);
    }

    @Test
    void aWriteBeyondTheRegionIsRefusedAndWritesNothing() throws Exception {
        connect();
        client.fill(1, 100);
        client.post(new SendWorkRequests(1, 1)
                .write(2, SendFlags.SIGNALED, server.at(Endpoint.BUFFER_SIZE - 99), server.region.rkey())
                .addSge(client.at(0), 100, client.region.lkey()));

        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        for (int i = Endpoint.BUFFER_SIZE - 99; i < Endpoint.BUFFER_SIZE; i++) {
            assertThat(server.buffer.get(i)).isZero();
        }
    }

    @Test
    void aReadFromBeforeTheRegionIsRefused() throws Exception {
        connect();
        client.post(new SendWorkRequests(1, 1).read(2, SendFlags.SIGNALED, server.at(-1), server.region.rkey())
                .addSge(client.at(0), 100, client.region.lkey()));

        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void aWriteToARegionWithoutRemoteWriteIsRefusedAndTheOwnerHearsOfIt() throws Exception {
        connect();
        try (MemoryRegion readOnly = server.domain.register(server.at(0), 4096, AccessFlags.LOCAL_WRITE |
                AccessFlags.REMOTE_READ)) {
            client.post(new SendWorkRequests(1, 1).write(2, SendFlags.SIGNALED, server.at(0), readOnly.rkey())
                    .addSge(client.at(0), 100, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
        awaitErrorState(server);
        if (client.isSoftRoce()) {
            // soft-RoCE fails the queue pair without an event.
            AsyncEvent none = server.id.device().nextAsyncEvent();
            assertThat(none == null || !none.concerns(server.queuePair)).isTrue();
            return;
        }
        AsyncEvent event = TestSupport.await("asynchronous event", () -> {
            AsyncEvent next = server.id.device().nextAsyncEvent();
            return next != null && next.concerns(server.queuePair) ? next : null;
        });
        assertThat(event.queuePairNumber()).isEqualTo(server.queuePair.number());
        assertThat(event.toString()).contains("access rights");
    }

    @Test
    void aSendWithoutReceiveFailsAfterItsRetries() throws Exception {
        connect(new ConnectionParameters().rnrRetryCount(1));
        client.send(2, 0, 100);

        assertThat(completion(client.queue, WorkCompletionStatus.RNR_RETRY_EXCEEDED_ERROR).id()).isEqualTo(2);
    }

    @Test
    void aSendWithoutReceiveWaitsForOneWhereRetriesAreUnlimited() throws Exception {
        connect();
        client.fill(5, 100);
        client.send(2, 0, 100);
        server.receive(1, 0, 100);

        completion(client.queue, WorkCompletionStatus.SUCCESS);
        completion(server.queue, WorkCompletionStatus.SUCCESS);
        assertThat(server.holds(5, 0, 100)).isTrue();
    }

    @Test
    void theErrorStateFlushesReceivesInOrder() throws Exception {
        connect();
        for (int i = 0; i < 5; i++) {
            client.receive(i, 0, 100);
        }
        client.queuePair.toError();
        int next = 0;
        for (Completion flushed : completions(client.queue, 5)) {
            assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(flushed.id()).isEqualTo(next++);
        }
    }

    @Test
    void theErrorStateFlushesWhatIsPostedLater() throws Exception {
        connect();
        client.queuePair.toError();
        // Flushed requests complete even where they are not signalled.
        client.post(new SendWorkRequests(1, 1).send(11, 0).addSge(client.at(0), 1, client.region.lkey()));
        assertThat(completion(client.queue, WorkCompletionStatus.WORK_REQUEST_FLUSHED).id()).isEqualTo(11);
        client.receive(10, 0, 100);
        if (client.isSoftRoce()) {
            // soft-RoCE keeps such a receive: posted without a system call, and nothing looks at the queue any more.
            assertThat(client.queue.poll(new WorkCompletions(1))).isZero();
            return;
        }
        assertThat(completion(client.queue, WorkCompletionStatus.WORK_REQUEST_FLUSHED).id()).isEqualTo(10);
    }

    @Test
    void theRequestsAfterAFailedOneAreFlushedInOrder() throws Exception {
        connect();
        server.receive(1, 0, 1000);
        SendWorkRequests sends = new SendWorkRequests(4, 4);
        sends.send(1, SendFlags.SIGNALED).addSge(client.at(0), 10, client.region.lkey());
        sends.write(2, 0, server.at(0), 0x123456).addSge(client.at(0), 10, client.region.lkey());
        sends.send(3, 0).addSge(client.at(0), 10, client.region.lkey());
        sends.send(4, SendFlags.SIGNALED).addSge(client.at(0), 10, client.region.lkey());
        client.post(sends);

        int[] status = {
                WorkCompletionStatus.SUCCESS, WorkCompletionStatus.REMOTE_ACCESS_ERROR,
                WorkCompletionStatus.WORK_REQUEST_FLUSHED, WorkCompletionStatus.WORK_REQUEST_FLUSHED
        };
        int i = 0;
        for (Completion completion : completions(client.queue, 4)) {
            assertThat(completion.id()).isEqualTo(i + 1);
            assertThat(completion.status()).isEqualTo(status[i++]);
        }
    }

    @Test
    void disconnectingFlushesTheReceivesOfBothSides() throws Exception {
        connect();
        client.receive(1, 0, 100);
        server.receive(2, 0, 100);
        client.id.disconnect();
        completion(client.queue, WorkCompletionStatus.WORK_REQUEST_FLUSHED);

        TestSupport.event(pair.serverEvents, ConnectionEventType.DISCONNECTED);
        // With the kernel the passive side flushes, and answers its peer, when it disconnects too.
        server.id.disconnect();
        completion(server.queue, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        TestSupport.event(pair.clientEvents, ConnectionEventType.DISCONNECTED);
    }

    @Test
    void aFullSendQueueTellsHowManyWerePosted() throws Exception {
        connect();
        int room = client.queuePair.maxSendRequests();
        int tooMany = 4 * room;
        SendWorkRequests sends = new SendWorkRequests(tooMany, tooMany);
        for (int i = 0; i < tooMany; i++) {
            // No receive is posted, so none of them completes.
            sends.send(i, 0).addSge(client.at(0), 8, client.region.lkey());
        }
        // Some devices have more room than they say.
        assertThat(client.queuePair.postSend(sends)).isBetween(room, tooMany - 1);
        assertThat(client.queuePair.postErrno()).isEqualTo(Errno.ENOMEM);
        assertThat(client.queuePair.postException()).hasMessageContaining("errno 12");
    }

    @Test
    void aFullReceiveQueueTellsHowManyWerePosted() throws Exception {
        connect();
        int room = server.queuePair.maxReceiveRequests();
        assertThat(server.queuePair.postEmptyReceives(1, 4 * room)).isBetween(room, 4 * room - 1);
        assertThat(server.queuePair.postErrno()).isEqualTo(Errno.ENOMEM);
        ReceiveWorkRequests one = new ReceiveWorkRequests(1, 0).receive(2);
        assertThat(server.queuePair.postReceive(one)).isZero();
    }

    @Test
    void aMalformedRequestIsRefusedAndTheOnesBeforeItArePosted() throws Exception {
        connect();
        int inline = client.queuePair.maxInlineData();
        server.receive(1, 0, 100);
        SendWorkRequests sends = new SendWorkRequests(3, 3);
        sends.send(1, SendFlags.SIGNALED).addSge(client.at(0), 8, client.region.lkey());
        sends.send(2, SendFlags.SIGNALED | SendFlags.INLINE).addSge(client.at(0), inline + 1, 0);
        sends.send(3, SendFlags.SIGNALED).addSge(client.at(0), 8, client.region.lkey());
        assertThat(client.queuePair.postSend(sends)).isEqualTo(1);
        assertThat(client.queuePair.postErrno()).isNotZero();
        assertThat(completion(client.queue, WorkCompletionStatus.SUCCESS).id()).isEqualTo(1);
        completion(server.queue, WorkCompletionStatus.SUCCESS);
    }

    /** Where a device would have kept the pages. */
    @Test
    void aWriteToAFileThatWasTruncatedFails(@TempDir Path directory) throws Exception {
        assumeTrue(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED, "the process is the device");
        connect();
        try (FileChannel file = FileChannel.open(directory.resolve("mapped"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192);
            try (MemoryRegion region = server.domain.register(mapped,
                    AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE)) {
                file.truncate(0);
                client.post(new SendWorkRequests(1, 1)
                        .write(2, SendFlags.SIGNALED, region.memoryAddress() + 4096, region.rkey())
                        .addSge(client.at(0), 100, client.region.lkey()));

                completion(client.queue, WorkCompletionStatus.REMOTE_OPERATION_ERROR);
                awaitErrorState(server);
            }
        }
    }
}
