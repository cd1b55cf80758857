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

import java.util.List;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.completions;
import static io.netty.channel.rdma.verbs.WorkCompletionStatus.SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

@Tag("aarch64")
@Tag("platforms")
@Tag("quick")
@Tag("rxe-quick")
@ExtendWith(LiveObjectsExtension.class)
class DataTransferTest {
    /** Where in a region the peer's memory is. */
    private static final int OFFSET = 8;

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

    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 64, 4097, 65536, 1 << 20 })
    void sendArrivesInTheReceive(int length) throws Exception {
        client.fill(1, length);
        server.receive(7, 0, length);
        client.send(8, 0, length);

        Completion received = completion(server.queue, SUCCESS);
        assertThat(received.id()).isEqualTo(7);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
        assertThat(received.byteLength()).isEqualTo(length);
        assertThat(received.hasImmediate()).isFalse();
        assertThat(received.queuePairNumber()).isEqualTo(server.queuePair.number());
        assertThat(server.holds(1, 0, length)).isTrue();
        Completion sent = completion(client.queue, SUCCESS);
        assertThat(sent.id()).isEqualTo(8);
        assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        assertThat(sent.queuePairNumber()).isEqualTo(client.queuePair.number());
    }

    /** In a request they are in network order, which programs in C expect (ibv_post_send(3)). */
    @ParameterizedTest
    @ValueSource(booleans = { false, true })
    void immediateDataKeepsItsByteOrder(boolean write) throws Exception {
        server.receive(1, 0, 64);
        SendWorkRequests requests = new SendWorkRequests(1, 1);
        if (write) {
            requests.writeWithImmediate(2, SendFlags.SIGNALED, server.at(0), server.region.rkey(), 0xC1020304);
        } else {
            requests.sendWithImmediate(2, SendFlags.SIGNALED, 0xC1020304);
        }
        client.post(requests.addSge(client.at(0), 10, client.region.lkey()));
        for (int i = 0; i < 4; i++) {
            assertThat(requests.memory.get(NativeMemory.SEND_WR_IMM + i)).isEqualTo((byte) (0xC1020304 >>> 24 - 8 * i));
        }

        Completion received = completion(server.queue, SUCCESS);
        assertThat(received.hasImmediate()).isTrue();
        assertThat(received.immediate()).isEqualTo(0xC1020304);
        assertThat(received.byteLength()).isEqualTo(10);
        completion(client.queue, SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = { 1, 64, 65536, (1 << 20) - OFFSET })
    void writeGoesToThePeersMemoryWithoutCompletionThere(int length) throws Exception {
        client.fill(3, length);
        server.receive(9, 0, 1);
        client.post(new SendWorkRequests(1, 1).write(5, SendFlags.SIGNALED, server.at(OFFSET), server.region.rkey())
                .addSge(client.at(0), length, client.region.lkey()));

        Completion written = completion(client.queue, SUCCESS);
        assertThat(written.id()).isEqualTo(5);
        assertThat(written.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(server.holds(3, OFFSET, length)).isTrue();
        assertThat(server.buffer.get(OFFSET - 1)).isZero();
        // The receive is for the message behind it.
        client.send(6, 0, 1);
        assertThat(completion(server.queue, SUCCESS).opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
        assertThat(server.queue.poll(new WorkCompletions(1))).isZero();
        completion(client.queue, SUCCESS);
    }

    @Test
    void writeWithImmediateConsumesAnEmptyReceive() throws Exception {
        client.fill(4, 5000);
        assertThat(server.queuePair.postEmptyReceives(77, 1)).isEqualTo(1);
        client.post(new SendWorkRequests(1, 1)
                .writeWithImmediate(6, SendFlags.SIGNALED, server.at(100), server.region.rkey(), 0x20000001)
                .addSge(client.at(0), 5000, client.region.lkey()));

        Completion received = completion(server.queue, SUCCESS);
        assertThat(received.id()).isEqualTo(77);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
        assertThat(received.byteLength()).isEqualTo(5000);
        assertThat(received.immediate()).isEqualTo(0x20000001);
        assertThat(server.holds(4, 100, 5000)).isTrue();
        completion(client.queue, SUCCESS);
    }

    @Test
    void writeWithImmediateOfNothingIsASignal() throws Exception {
        assertThat(server.queuePair.postEmptyReceives(1, 1)).isEqualTo(1);
        client.post(new SendWorkRequests(1, 0).writeWithImmediate(2, SendFlags.SIGNALED, 0, 0, 42));

        Completion received = completion(server.queue, SUCCESS);
        assertThat(received.immediate()).isEqualTo(42);
        assertThat(received.byteLength()).isZero();
        completion(client.queue, SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = { 1, 4096, (1 << 20) - OFFSET })
    void readFetchesThePeersMemory(int length) throws Exception {
        server.fill(9, OFFSET + length);
        client.post(new SendWorkRequests(1, 1).read(5, SendFlags.SIGNALED, server.at(OFFSET), server.region.rkey())
                .addSge(client.at(OFFSET), length, client.region.lkey()));

        Completion read = completion(client.queue, SUCCESS);
        assertThat(read.opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(read.byteLength()).isEqualTo(length);
        // The bytes before it are no part of it.
        assertThat(client.buffer.get(OFFSET - 1)).isZero();
        server.buffer.position(OFFSET).limit(OFFSET + length);
        client.buffer.position(OFFSET).limit(OFFSET + length);
        assertThat(client.buffer.equals(server.buffer)).isTrue();
    }

    @Test
    void inlineDataIsTakenDuringThePost() throws Exception {
        server.receive(1, 0, 64);
        client.fill(2, Endpoint.INLINE);
        client.post(new SendWorkRequests(1, 1).send(3, SendFlags.SIGNALED | SendFlags.INLINE)
                .addSge(client.at(0), Endpoint.INLINE, 0xDEAD));
        client.fill(99, Endpoint.INLINE);

        completion(server.queue, SUCCESS);
        assertThat(server.holds(2, 0, Endpoint.INLINE)).isTrue();
        completion(client.queue, SUCCESS);
    }

    @Test
    void elementsAreGatheredAndScattered() throws Exception {
        client.fill(6, 300);
        server.post(new ReceiveWorkRequests(1, 2).receive(1).addSge(server.at(0), 50, server.region.lkey())
                .addSge(server.at(1000), 300, server.region.lkey()));
        client.post(new SendWorkRequests(1, 2).send(2, SendFlags.SIGNALED)
                .addSge(client.at(0), 100, client.region.lkey())
                .addSge(client.at(100), 200, client.region.lkey()));

        assertThat(completion(server.queue, SUCCESS).byteLength()).isEqualTo(300);
        assertThat(server.holds(6, 0, 50)).isTrue();
        for (int i = 50; i < 300; i++) {
            assertThat(server.buffer.get(950 + i)).isEqualTo(client.buffer.get(i));
        }
        completion(client.queue, SUCCESS);
    }

    @Test
    void aChainIsExecutedInOrderAndCompletesWithItsSignalledRequests() throws Exception {
        int count = 20;
        client.fill(7, count * 16);
        ReceiveWorkRequests receives = new ReceiveWorkRequests(count, count);
        SendWorkRequests sends = new SendWorkRequests(count, count);
        for (int i = 0; i < count; i++) {
            receives.receive(i).addSge(server.at(i * 16), 16, server.region.lkey());
            sends.send(100 + i, 0).addSge(client.at(i * 16), 16, client.region.lkey());
        }
        sends.addFlags(SendFlags.SIGNALED);
        server.post(receives);
        client.post(sends);

        List<Completion> received = completions(server.queue, count);
        for (int i = 0; i < count; i++) {
            assertThat(received.get(i).id()).isEqualTo(i);
            assertThat(received.get(i).status()).isEqualTo(SUCCESS);
        }
        assertThat(server.holds(7, 0, count * 16)).isTrue();
        // Exactly one: the unsignalled requests before it give none.
        assertThat(completion(client.queue, SUCCESS).id()).isEqualTo(100 + count - 1);
        assertThat(client.queue.poll(new WorkCompletions(1))).isZero();
    }

    @Test
    void aChainObjectCanBeReusedAtOnce() throws Exception {
        SendWorkRequests sends = new SendWorkRequests(1, 1);
        for (int i = 0; i < Endpoint.REQUESTS; i++) {
            server.receive(i, i * 8, 8);
        }
        for (int i = 0; i < Endpoint.REQUESTS; i++) {
            client.buffer.putLong(i * 8, i * 1000003L);
            sends.clear();
            sends.send(i, SendFlags.SIGNALED).addSge(client.at(i * 8), 8, client.region.lkey());
            client.post(sends);
        }
        completions(server.queue, Endpoint.REQUESTS);
        for (int i = 0; i < Endpoint.REQUESTS; i++) {
            assertThat(server.buffer.getLong(i * 8)).isEqualTo(i * 1000003L);
        }
        completions(client.queue, Endpoint.REQUESTS);
    }

    @Test
    void bothSidesSendAtOnce() throws Exception {
        int count = 1000;
        int window = 16;
        for (int i = 0; i < window; i++) {
            client.receive(i, 4096 + i * 8, 8);
            server.receive(i, 4096 + i * 8, 8);
        }
        long[] expected = new long[2];
        int[] sent = new int[2];
        int[] received = new int[2];
        int[] completed = new int[2];
        Endpoint[] ends = { client, server };
        WorkCompletions batch = new WorkCompletions(32);
        TestSupport.await("messages", () -> {
            for (int side = 0; side < 2; side++) {
                Endpoint end = ends[side];
                // The peer has re-posted the receive of each message that was answered for with the counters.
                if (sent[side] < count && sent[side] - received[1 - side] < window &&
                        sent[side] - completed[side] < window) {
                    end.buffer.putLong(sent[side] % window * 8, sent[side]);
                    end.send(1 << 16 | sent[side], sent[side] % window * 8, 8);
                    sent[side]++;
                }
                end.queue.poll(batch);
                for (int i = 0; i < batch.size(); i++) {
                    assertThat(batch.isSuccess(i)).as(batch.describe(i)).isTrue();
                    int id = (int) batch.workRequestId(i);
                    if (id >= 1 << 16) {
                        completed[side]++;
                        continue;
                    }
                    assertThat(end.buffer.getLong(4096 + id * 8)).isEqualTo(expected[side]++);
                    received[side]++;
                    end.receive(id, 4096 + id * 8, 8);
                }
            }
            return received[0] == count && received[1] == count && completed[0] == count && completed[1] == count ?
                    true : null;
        });
    }
}
