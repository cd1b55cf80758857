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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import java.util.Collections;
import java.util.List;

import static io.netty.channel.rdma.verbs.TestSupport.completion;
import static io.netty.channel.rdma.verbs.TestSupport.completions;
import static io.netty.channel.rdma.verbs.TestSupport.event;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Connections to another process, and its death. {@link EchoPeer} is what the other process runs.
 */
@ExtendWith(LiveObjectsExtension.class)
class TwoProcessesTest {
    private EventChannel events;

    @BeforeEach
    void createChannel() throws Exception {
        events = EventChannel.create();
    }

    @AfterEach
    void close() {
        events.close();
    }

    @Test
    void messagesAndOneSidedOperationsReachAnotherProcess() throws Exception {
        try (ChildJvm peer = new ChildJvm(EchoPeer.class, Collections.emptyList(), "listen");
             Endpoint client = connect(peer)) {
            exchange(client);
            EchoPeer.Memory memory = EchoPeer.Memory.parse(peer.line("MEMORY"));
            client.fill(3, 10_000);
            client.post(new SendWorkRequests(1, 1).write(1, SendFlags.SIGNALED, memory.address(), memory.rkey())
                    .addSge(client.at(0), 10_000, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.SUCCESS);
            client.post(new SendWorkRequests(1, 1).read(2, SendFlags.SIGNALED, memory.address(), memory.rkey())
                    .addSge(client.at(20_000), 10_000, client.region.lkey()));
            completion(client.queue, WorkCompletionStatus.SUCCESS);
            assertThat(client.holds(3, 20_000, 10_000)).isTrue();
        }
    }

    @Test
    void theDeathOfTheListeningProcessEndsTheConnection() throws Exception {
        try (ChildJvm peer = new ChildJvm(EchoPeer.class, Collections.emptyList(), "listen");
             Endpoint client = connect(peer)) {
            exchange(client);
            client.receive(50, 0, 8);
            client.receive(51, 0, 8);
            peer.kill();
            assertDead(client);
        }
    }

    @Test
    void theDeathOfTheConnectingProcessEndsTheConnection() throws Exception {
        try (ConnectionId listener = ConnectionId.create(events, PortSpace.TCP)) {
            listener.bind(TestSupport.address(0));
            listener.listen(1);
            try (ChildJvm peer = new ChildJvm(EchoPeer.class, Collections.emptyList(), "connect",
                    Integer.toString(listener.localAddress().getPort()));
                 Endpoint server = new Endpoint(event(events, ConnectionEventType.CONNECT_REQUEST).id())) {
                server.id.accept(ConnectedPair.DEFAULTS);
                event(events, ConnectionEventType.ESTABLISHED);
                peer.line("ESTABLISHED");
                exchange(server);
                server.receive(50, 0, 8);
                server.receive(51, 0, 8);
                peer.kill();
                assertDead(server);
            }
            // The listener goes on.
            try (ChildJvm peer = new ChildJvm(EchoPeer.class, Collections.emptyList(), "connect",
                    Integer.toString(listener.localAddress().getPort()));
                 Endpoint server = new Endpoint(event(events, ConnectionEventType.CONNECT_REQUEST).id())) {
                server.id.accept(ConnectedPair.DEFAULTS);
                event(events, ConnectionEventType.ESTABLISHED);
                peer.line("ESTABLISHED");
                exchange(server);
            }
        }
    }

    @Test
    void requestsThatAreUnderWayWhenThePeerDiesFail() throws Exception {
        try (ChildJvm peer = new ChildJvm(EchoPeer.class, Collections.emptyList(), "listen");
             Endpoint client = connect(peer)) {
            exchange(client);
            // More than the peer has receives for: they wait for a receiver, for ever.
            int count = EchoPeer.RECEIVES + 10;
            peer.line("MEMORY");
            peer.line("DEAF");
            for (int i = 0; i < count; i++) {
                client.send(100 + i, 0, 8);
            }
            completions(client.queue, EchoPeer.RECEIVES).forEach(
                    sent -> assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS));
            peer.kill();
            event(events, ConnectionEventType.DISCONNECTED);
            client.id.disconnect();
            List<Completion> failed = completions(client.queue, 10);
            for (int i = 0; i < 10; i++) {
                assertThat(failed.get(i).id()).isEqualTo(100 + EchoPeer.RECEIVES + i);
                assertThat(failed.get(i).status()).isIn(i == 0 ? WorkCompletionStatus.RETRY_EXCEEDED_ERROR :
                        WorkCompletionStatus.WORK_REQUEST_FLUSHED, WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            }
        }
    }

    private Endpoint connect(ChildJvm peer) throws Exception {
        Endpoint client = new Endpoint(ConnectedPair.resolved(events, Integer.parseInt(peer.line("PORT"))));
        client.id.connect(ConnectedPair.DEFAULTS);
        event(events, ConnectionEventType.ESTABLISHED);
        return client;
    }

    private static void exchange(Endpoint end) throws Exception {
        for (int i = 0; i < 100; i++) {
            end.receive(1, 1024, 8);
            end.buffer.putLong(0, i * 7919L);
            end.send(2, 0, 8);
            completions(end.queue, 2).forEach(c -> assertThat(c.status()).isEqualTo(WorkCompletionStatus.SUCCESS));
            assertThat(end.buffer.getLong(1024)).isEqualTo(i * 7919L);
        }
    }

    private void assertDead(Endpoint end) throws Exception {
        assertThat(event(events, ConnectionEventType.DISCONNECTED).id()).isSameAs(end.id);
        end.id.disconnect();
        List<Completion> flushed = completions(end.queue, 2);
        for (int i = 0; i < 2; i++) {
            assertThat(flushed.get(i).id()).isEqualTo(50 + i);
            assertThat(flushed.get(i).status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }
    }
}
