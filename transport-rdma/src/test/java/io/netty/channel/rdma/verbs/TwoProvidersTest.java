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

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

/**
 * One process that uses both providers: see {@link ChildJvm#withBothProviders}.
 */
@Tag("quick")
@Tag("rxe-quick")
class TwoProvidersTest {
    private static String run(Class<?> main, String... properties) throws Exception {
        try (ChildJvm child = ChildJvm.withBothProviders(main, List.of(properties))) {
            return child.output();
        }
    }

    @Test
    void connectionsOfBothWorkSideBySide() throws Exception {
        assertThat(run(SideBySide.class, "io.netty.rdma.provider=auto")).endsWith("done\n");
    }

    @Test
    void objectsOfOneAreRefusedByTheOther() throws Exception {
        assertThat(run(Mixed.class, "io.netty.rdma.provider=auto")).endsWith("done\n");
    }

    @Test
    void theOneThatIsNotPreferredCanBeAskedFor() throws Exception {
        String output = run(Names.class, "io.netty.rdma.provider=embedded");
        assertThat(output).contains("preferred embedded", "other ibverbs ");
    }

    @Test
    void whatIsMissingIsTold() {
        assumeFalse(VerbsApi.preferred().provider() == VerbsProvider.IBVERBS ||
                Files.exists(Path.of("/dev/infiniband")),
                "nothing is missing");
        assertThatThrownBy(() -> VerbsApi.of(VerbsProvider.IBVERBS)).isInstanceOf(UnsatisfiedLinkError.class)
                .hasMessageStartingWith("verbs provider ibverbs: ");
        assertThat(VerbsApi.of(VerbsProvider.EMBEDDED)).isSameAs(VerbsApi.preferred());
    }

    static final class Names {
        private Names() { }

        public static void main(String[] arguments) throws Exception {
            VerbsApi other = VerbsApi.of(VerbsProvider.IBVERBS);
            System.out.println("preferred " + VerbsApi.preferred());
            System.out.println("other " + other + ' ' + Device.names(other));
        }
    }

    static final class SideBySide {
        private SideBySide() { }

        public static void main(String[] arguments) throws Exception {
            try (ConnectedPair ibverbs = new ConnectedPair(VerbsApi.of(VerbsProvider.IBVERBS));
                 ConnectedPair embedded = new ConnectedPair(VerbsApi.of(VerbsProvider.EMBEDDED))) {
                assertThat(ibverbs.client.queuePair.verbs().provider()).isEqualTo(VerbsProvider.IBVERBS);
                assertThat(embedded.server.id.device().verbs().provider()).isEqualTo(VerbsProvider.EMBEDDED);
                for (int round = 1; round <= 20; round++) {
                    start(ibverbs, round);
                    start(embedded, round + 100);
                    finish(embedded, round + 100);
                    finish(ibverbs, round);
                }
            }
            System.out.println("done");
        }

        private static final int LENGTH = 10_000;

        private static void start(ConnectedPair pair, int seed) {
            pair.server.receive(seed, 0, LENGTH);
            pair.client.fill(seed, LENGTH);
            pair.client.send(seed, 0, LENGTH);
        }

        private static void finish(ConnectedPair pair, int seed) throws Exception {
            assertThat(TestSupport.completion(pair.client.queue, WorkCompletionStatus.SUCCESS).id()).isEqualTo(seed);
            assertThat(TestSupport.completion(pair.server.queue, WorkCompletionStatus.SUCCESS).byteLength())
                    .isEqualTo(LENGTH);
            assertThat(pair.server.holds(seed, 0, LENGTH)).isTrue();
        }
    }

    static final class Mixed {
        private Mixed() { }

        private static void refused(String what, String otherwise, ThrowingCallable call) {
            assertThatThrownBy(call).as("%s and %s", what, otherwise).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(what).hasMessageContaining(otherwise).hasMessageContaining("provider ibverbs")
                    .hasMessageContaining("provider embedded");
        }

        public static void main(String[] arguments) throws Exception {
            try (ConnectedPair ibverbs = new ConnectedPair(VerbsApi.of(VerbsProvider.IBVERBS));
                 ConnectedPair embedded = new ConnectedPair(VerbsApi.of(VerbsProvider.EMBEDDED));
                 ConnectionId id = ConnectedPair.resolved(embedded.clientEvents, embedded.listener)) {
                Endpoint one = ibverbs.client;
                Endpoint other = embedded.client;
                Device device = other.id.device();
                refused("completion channel", "RDMA device", () -> device.createCompletionQueue(10, one.channel));
                refused("completion queue", "protection domain", () -> other.domain.createQueuePair(
                        new QueuePairInitAttributes(other.queue, one.queue)));
                try (SharedReceiveQueue shared = one.domain.createSharedReceiveQueue(1, 1)) {
                    refused("shared receive queue", "protection domain", () -> other.domain.createQueuePair(
                            new QueuePairInitAttributes(other.queue, other.queue).sharedReceiveQueue(shared)));
                }
                refused("protection domain", "connection id", () -> id.createQueuePair(one.domain,
                        new QueuePairInitAttributes(one.queue, one.queue)));
                refused("event channel", "connection id", () -> id.migrate(ibverbs.clientEvents));
                try (AddressHandle handle = one.domain.createAddressHandle(own(one.id.device()))) {
                    SendWorkRequests requests = new SendWorkRequests(1, 0).send(1, 0).to(handle, 1, 1);
                    refused("address handle", "queue pair", () -> other.queuePair.postSend(requests));
                    requests.clear();
                    // The refused chain is forgotten, and nothing of it was posted.
                    other.post(requests.write(2, SendFlags.SIGNALED, embedded.server.at(0),
                            embedded.server.region.rkey()));
                    assertThat(TestSupport.completion(other.queue, WorkCompletionStatus.SUCCESS).id()).isEqualTo(2);
                }
                try (AddressHandle handle = other.domain.createAddressHandle(own(device))) {
                    refused("address handle", "address handle", () -> {
                        try (AddressHandle second = one.domain.createAddressHandle(own(one.id.device()))) {
                            new SendWorkRequests(2, 0).send(1, 0).to(handle, 1, 1).send(2, 0).to(second, 1, 1);
                        }
                    });
                }
                if (device.attributes().maxMemoryWindows() > 0) {
                    try (MemoryWindow window = other.domain.allocateMemoryWindow()) {
                        refused("memory region", "memory window", () -> new SendWorkRequests(1, 0).bind(1, 0, window,
                                window.nextKey(), one.region, one.at(0), 8, AccessFlags.REMOTE_READ));
                    }
                }
            }
            System.out.println("done");
        }

        /** Address vector of the device's first port to itself. */
        private static AddressVector own(Device device) throws VerbsException {
            GidEntry gid = device.gids(1).get(0);
            return AddressVector.global(1, gid.index(), gid.bytes(), 1, 0);
        }
    }
}
