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
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.completions;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class AtomicsTest {
    /** Where the target is in the server's buffer, and the result in the client's. */
    private static final int TARGET = 64;
    private static final int RESULT = 128;

    private ConnectedPair pair;
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void connect() throws Exception {
        pair = new ConnectedPair();
        client = pair.client;
        server = pair.server;
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private static SendWorkRequests one() {
        return new SendWorkRequests(1, 2);
    }

    private SendWorkRequests withResult(SendWorkRequests request) {
        return request.addSge(client.at(RESULT), Long.BYTES, client.region.lkey());
    }

    private Completion fetchAndAdd(long addend) throws Exception {
        client.post(withResult(one().fetchAndAdd(7, SendFlags.SIGNALED, server.at(TARGET), server.region.rkey(),
                addend)));
        return completion(client.queue, WorkCompletionStatus.SUCCESS);
    }

    private Completion compareAndSwap(long expected, long desired) throws Exception {
        client.post(withResult(one().compareAndSwap(8, SendFlags.SIGNALED, server.at(TARGET), server.region.rkey(),
                expected, desired)));
        return completion(client.queue, WorkCompletionStatus.SUCCESS);
    }

    private long target() {
        return server.buffer.getLong(TARGET);
    }

    private long result() {
        return client.buffer.getLong(RESULT);
    }

    @Test
    void theDeviceSaysWhatItsAtomicsAreGoodFor() throws Exception {
        DeviceAttributes attributes = server.id.device().attributes();
        assertThat(attributes.supportsAtomics()).isTrue();
        assertThat(attributes.atomicCapability()).isEqualTo(server.isSoftRoce() ? AtomicCapability.DEVICE :
                AtomicCapability.GLOBAL);
    }

    @Test
    void fetchAndAddAddsAndReturnsWhatWasThere() throws Exception {
        server.buffer.putLong(TARGET, 41);
        Completion completion = fetchAndAdd(1);
        assertThat(completion.id()).isEqualTo(7);
        assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.FETCH_AND_ADD);
        assertThat(result()).isEqualTo(41);
        assertThat(target()).isEqualTo(42);
    }

    @Test
    void additionsWrapAround() throws Exception {
        server.buffer.putLong(TARGET, Long.MAX_VALUE);
        fetchAndAdd(2);
        assertThat(result()).isEqualTo(Long.MAX_VALUE);
        assertThat(target()).isEqualTo(Long.MIN_VALUE + 1);
        fetchAndAdd(-3);
        assertThat(target()).isEqualTo(Long.MAX_VALUE - 1);
    }

    @Test
    void compareAndSwapChangesOnlyWhatWasExpected() throws Exception {
        server.buffer.putLong(TARGET, 0x0102030405060708L);
        Completion completion = compareAndSwap(0x0102030405060708L, -5);
        assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.COMPARE_AND_SWAP);
        assertThat(result()).isEqualTo(0x0102030405060708L);
        assertThat(target()).isEqualTo(-5);
        compareAndSwap(0, 1);
        assertThat(result()).isEqualTo(-5);
        assertThat(target()).isEqualTo(-5);
    }

    @Test
    void theNeighboursOfTheTargetStayAsTheyAre() throws Exception {
        server.fill(1, TARGET + 16);
        client.fill(2, RESULT + 16);
        server.buffer.putLong(TARGET, 1);
        fetchAndAdd(1);
        assertThat(server.holds(1, 0, TARGET)).isTrue();
        assertThat(client.holds(2, 0, RESULT)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = { 1, 4, 7 })
    void aTargetThatIsNotAlignedIsAnInvalidRequest(int offset) throws Exception {
        SendWorkRequests request = withResult(one().fetchAndAdd(9, SendFlags.SIGNALED, server.at(TARGET + offset),
                server.region.rkey(), 1));
        if (client.isSoftRoce()) {
            // soft-RoCE's library checks the address.
            assertThat(client.queuePair.postSend(request)).isZero();
            assertThat(client.queuePair.postErrno()).isEqualTo(Errno.EINVAL);
            return;
        }
        client.post(request);
        completion(client.queue, WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void aRegionWithoutTheRightRefuses() throws Exception {
        try (MemoryRegion region = server.domain.register(server.at(0), 4096, AccessFlags.LOCAL_WRITE |
                AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ)) {
            client.post(withResult(one().compareAndSwap(9, SendFlags.SIGNALED, server.at(TARGET), region.rkey(), 0,
                    1)));
            completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
        assertThat(target()).isZero();
    }

    @Test
    void aTargetBeyondTheRegionIsRefused() throws Exception {
        client.post(withResult(one().fetchAndAdd(9, SendFlags.SIGNALED, server.at(Endpoint.BUFFER_SIZE),
                server.region.rkey(), 1)));
        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void theWrongKeyIsRefused() throws Exception {
        client.post(withResult(one().fetchAndAdd(9, SendFlags.SIGNALED, server.at(TARGET),
                server.region.rkey() ^ 0x5A5A00, 1)));
        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(target()).isZero();
    }

    /** Adding through several queue pairs at once loses nothing. */
    @Test
    void queuePairsCountTogether() throws Exception {
        int pairs = 3;
        int each = 500;
        int window = 8;
        ByteBuffer buffer = NativeMemory.allocate(4096);
        // Aligned, wherever the buffer is.
        int start = (int) (-NativeMemory.address(buffer) & 7);
        try (Device device = Device.open(client.id.device().name());
             ProtectionDomain domain = device.allocateProtectionDomain();
             CompletionQueue queue = device.createCompletionQueue(pairs * window, null);
             MemoryRegion region = domain.register(buffer, AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_ATOMIC)) {
            QueuePair[] queuePairs = new QueuePair[2 * pairs];
            try {
                QueuePairInitAttributes attributes = new QueuePairInitAttributes(queue, queue).signalAll(true)
                        .maxSendRequests(window);
                for (int i = 0; i < pairs; i++) {
                    queuePairs[i] = domain.createQueuePair(attributes);
                    queuePairs[pairs + i] = domain.createQueuePair(attributes);
                    ManualConnection.connect(device, queuePairs[i], queuePairs[pairs + i]);
                }
                for (int done = 0; done < each; done += window) {
                    int count = Math.min(window, each - done);
                    SendWorkRequests requests = new SendWorkRequests(count, count);
                    for (int i = 0; i < count; i++) {
                        requests.fetchAndAdd(i, 0, region.memoryAddress() + start, region.rkey(), 1)
                                .addSge(region.memoryAddress() + start + 8 + 8 * i, Long.BYTES, region.lkey());
                    }
                    for (int i = 0; i < pairs; i++) {
                        assertThat(queuePairs[i].postSend(requests)).isEqualTo(count);
                    }
                    completions(queue, pairs * count).forEach(
                            c -> assertThat(c.status()).isEqualTo(WorkCompletionStatus.SUCCESS));
                }
            } finally {
                for (QueuePair queuePair : queuePairs) {
                    if (queuePair != null) {
                        queuePair.close();
                    }
                }
            }
            assertThat(buffer.getLong(start)).isEqualTo((long) pairs * each);
        }
    }
}
