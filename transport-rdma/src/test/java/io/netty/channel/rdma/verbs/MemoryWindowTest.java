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

import static io.netty.channel.rdma.verbs.TestSupport.await;
import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
@ExtendWith(LiveObjectsExtension.class)
class MemoryWindowTest {
    private static final int START = 4096;
    private static final int LENGTH = 1000;
    private static final int REMOTE = AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

    private ConnectedPair pair;
    private Endpoint client;
    private Endpoint server;
    /** Nothing of it is open to the peer but by windows. */
    private MemoryRegion region;
    private MemoryWindow window;

    @BeforeEach
    void connect() throws Exception {
        pair = new ConnectedPair();
        client = pair.client;
        server = pair.server;
        region = server.domain.register(server.buffer, AccessFlags.LOCAL_WRITE | AccessFlags.MEMORY_WINDOW_BIND);
        window = server.domain.allocateMemoryWindow();
    }

    @AfterEach
    void close() {
        window.close();
        region.close();
        pair.close();
    }

    private int bind(int access) throws Exception {
        int key = window.nextKey();
        server.post(new SendWorkRequests(1, 1).bind(1, SendFlags.SIGNALED, window, key, region, server.at(START),
                LENGTH, access));
        Completion completion = completion(server.queue, WorkCompletionStatus.SUCCESS);
        assertThat(completion.opcode()).isEqualTo(WorkCompletionOpcode.BIND_MEMORY_WINDOW);
        window.bound(key);
        return key;
    }

    private void write(int offset, int key) {
        client.post(new SendWorkRequests(1, 1).write(2, SendFlags.SIGNALED, server.at(offset), key)
                .addSge(client.at(0), 8, client.region.lkey()));
    }

    @Test
    void deviceTellsHowManyThereAre() throws Exception {
        DeviceAttributes attributes = server.id.device().attributes();
        assertThat(attributes.maxMemoryWindows()).isPositive();
        assertThat(attributes.supportsSendWithInvalidate()).isTrue();
    }

    @Test
    void windowOpensAPartOfTheRegionUntilItIsInvalidated() throws Exception {
        int key = bind(REMOTE);
        client.fill(3, 8);
        write(START + LENGTH - 8, key);
        completion(client.queue, WorkCompletionStatus.SUCCESS);
        assertThat(server.holds(3, START + LENGTH - 8, 8)).isTrue();
        server.post(new SendWorkRequests(1, 1).invalidate(3, SendFlags.SIGNALED, key));
        assertThat(completion(server.queue, WorkCompletionStatus.SUCCESS).opcode())
                .isEqualTo(WorkCompletionOpcode.LOCAL_INVALIDATE);
        write(START, key);
        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void earlierRequestsInTheSameMemoryLeaveNothingToABind() throws Exception {
        SendWorkRequests requests = new SendWorkRequests(1, 1);
        client.receive(1, 0, 16);
        server.post(requests.sendWithImmediate(1, SendFlags.SIGNALED, -1).addSge(server.at(0), 8,
                server.region.lkey()));
        completion(server.queue, WorkCompletionStatus.SUCCESS);
        requests.clear();
        server.post(requests.bind(2, SendFlags.SIGNALED, window, window.nextKey(), region, server.at(START), LENGTH,
                REMOTE));
        completion(server.queue, WorkCompletionStatus.SUCCESS);
    }

    @Test
    void windowWithoutTheRightRefuses() throws Exception {
        int key = bind(AccessFlags.REMOTE_READ);
        write(START, key);
        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void eachBindingHasAnotherKeyUntilTheLowestByteWrapsAround() throws Exception {
        int first = bind(REMOTE);
        int previous = first;
        for (int i = 0; i < 256; i++) {
            server.post(new SendWorkRequests(1, 1).invalidate(3, SendFlags.SIGNALED, previous));
            completion(server.queue, WorkCompletionStatus.SUCCESS);
            int key = bind(REMOTE);
            assertThat(key).isEqualTo(previous & ~0xFF | previous + 1 & 0xFF);
            previous = key;
        }
        assertThat(previous).isEqualTo(first);
        write(START, previous);
        completion(client.queue, WorkCompletionStatus.SUCCESS);
    }

    @Test
    void sendWithInvalidateClosesTheWindowAndSaysWhich() throws Exception {
        int key = bind(REMOTE);
        server.receive(7, 0, 16);
        client.fill(5, 16);
        client.post(new SendWorkRequests(1, 1).sendWithInvalidate(2, SendFlags.SIGNALED, key)
                .addSge(client.at(0), 16, client.region.lkey()));
        assertThat(completion(client.queue, WorkCompletionStatus.SUCCESS).opcode())
                .isEqualTo(WorkCompletionOpcode.SEND);
        WorkCompletions received = new WorkCompletions(1);
        await("the message", () -> server.queue.poll(received) > 0 ? received : null);
        assertThat(received.isSuccess(0)).isTrue();
        assertThat(received.opcode(0)).isEqualTo(WorkCompletionOpcode.RECEIVE);
        assertThat(received.byteLength(0)).isEqualTo(16);
        assertThat(received.hasImmediate(0)).isFalse();
        assertThat(received.hasInvalidatedKey(0)).isTrue();
        assertThat(received.invalidatedKey(0)).isEqualTo(key);
        assertThat(server.holds(5, 0, 16)).isTrue();
        write(START, key);
        completion(client.queue, WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void otherMessagesInvalidateNothing() throws Exception {
        WorkCompletions received = new WorkCompletions(1);
        server.receive(7, 0, 16);
        client.post(new SendWorkRequests(1, 1).send(2, 0));
        await("the message", () -> server.queue.poll(received) > 0 ? received : null);
        assertThat(received.hasInvalidatedKey(0)).isFalse();
        server.receive(8, 0, 16);
        client.post(new SendWorkRequests(1, 1).sendWithImmediate(3, 0, -1));
        await("the message", () -> server.queue.poll(received) > 0 ? received : null);
        assertThat(received.immediate(0)).isEqualTo(-1);
        assertThat(received.hasInvalidatedKey(0)).isFalse();
    }

    @Test
    void regionWithoutTheRightHasNoWindows() throws Exception {
        server.post(new SendWorkRequests(1, 1).bind(1, SendFlags.SIGNALED, window, window.nextKey(), server.region,
                server.at(START), LENGTH, REMOTE));
        assertThat(completion(server.queue).status()).isNotEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void domainStaysUntilItsWindowsAreClosed() {
        assertThatThrownBy(server.domain::close).isInstanceOf(IllegalStateException.class);
        window.close();
        assertThatThrownBy(window::nextKey).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("memory window is closed");
    }
}
