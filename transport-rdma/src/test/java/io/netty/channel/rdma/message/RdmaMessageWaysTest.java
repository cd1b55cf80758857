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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.MessagePair.Recorder;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Operations and violations over connections that were made in each way. The requester is the one that operates.
 */
@Tag("quick")
class RdmaMessageWaysTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);
    private static final EnumSet<RdmaPermission> ALL_REMOTE =
            EnumSet.complementOf(EnumSet.of(RdmaPermission.LOCAL_WRITE));

    private Recorder requesterEvents = new Recorder();
    private Recorder ownerEvents = new Recorder();
    private RdmaMessageChannel requester;
    private RdmaMessageChannel owner;

    enum Way {
        CLIENT_TO_SERVER, SERVER_TO_CLIENT, OUT_OF_BAND, ADOPTED
    }

    static Stream<Arguments> waysAndOperations() {
        return Arrays.stream(Way.values()).flatMap(way ->
                Arrays.stream(RdmaPermissionTest.Operation.values()).map(operation -> Arguments.of(way, operation)));
    }

    private interface Body {
        void run() throws Exception;
    }

    /** Connects, and does it. */
    private void connected(Way way, Set<RdmaPermission> allowed, Body body) throws Exception {
        switch (way) {
        case CLIENT_TO_SERVER:
        case SERVER_TO_CLIENT:
            try (MessagePair pair = new MessagePair(loops.group(),
                    server -> server.childOption(RdmaChannelOption.REMOTE_PERMISSIONS,
                            way == Way.CLIENT_TO_SERVER ? allowed : ALL_REMOTE),
                    client -> client.option(RdmaChannelOption.REMOTE_PERMISSIONS,
                            way == Way.SERVER_TO_CLIENT ? allowed : ALL_REMOTE))) {
                boolean byClient = way == Way.CLIENT_TO_SERVER;
                requester = byClient ? pair.client : pair.server;
                owner = byClient ? pair.server : pair.client;
                requesterEvents = byClient ? pair.clientEvents : pair.serverEvents;
                ownerEvents = byClient ? pair.serverEvents : pair.clientEvents;
                body.run();
            }
            break;
        case OUT_OF_BAND:
            requester = MessagePair.bound(loops.group(), requesterEvents, config -> { });
            owner = MessagePair.bound(loops.group(), ownerEvents,
                    config -> config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, allowed));
            RdmaEndpoint end = TestTimeouts.sync(requester.exportEndpoint()).getNow();
            TestTimeouts.sync(requester.connect(TestTimeouts.sync(owner.exportEndpoint()).getNow()));
            TestTimeouts.sync(owner.connect(end));
            runAndClose(body);
            break;
        default:
            try (AdoptedPair pair = new AdoptedPair(loops.group(), requesterEvents, ownerEvents,
                    config -> config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, allowed))) {
                requester = pair.client();
                owner = pair.server;
                runAndClose(body);
            }
        }
    }

    private void runAndClose(Body body) throws Exception {
        assertThat(requesterEvents.next()).isEqualTo("active");
        assertThat(ownerEvents.next()).isEqualTo("active");
        try {
            body.run();
        } finally {
            TestTimeouts.sync(requester.close());
            TestTimeouts.sync(owner.close());
        }
    }

    @ParameterizedTest
    @EnumSource
    void allOperationsWork(Way way) throws Exception {
        connected(way, ALL_REMOTE, () -> {
            try (RegisteredMemory memory = RegisteredMemory.allocate(64, ALL)) {
                RemoteMemory remote = owner.export(memory);
                MessagePair.write(requester, new RdmaSend(text("sent")));
                assertThat(ownerEvents.text()).isEqualTo("sent");
                MessagePair.write(requester, new RdmaSendImm(text("sent too"), 1));
                RdmaReceive message = ownerEvents.message();
                assertThat(message.immediate()).isEqualTo(1);
                message.release();
                MessagePair.write(requester, new RdmaWrite(text("written"), remote, 0));
                MessagePair.write(requester, new RdmaWriteImm(text("again"), remote, 32, 2));
                message = ownerEvents.message();
                assertThat(message.immediate()).isEqualTo(2);
                message.release();
                assertThat(memory.buf().toString(0, 7, StandardCharsets.US_ASCII)).isEqualTo("written");
                assertThat(memory.buf().toString(32, 5, StandardCharsets.US_ASCII)).isEqualTo("again");
                ByteBuf destination = requester.alloc().buffer(7, 7);
                MessagePair.write(requester, new RdmaRead(destination, remote, 0));
                assertThat(destination.toString(StandardCharsets.US_ASCII)).isEqualTo("written");
                destination.release();
                RdmaFetchAndAdd add = new RdmaFetchAndAdd(remote, 48, 5);
                MessagePair.write(requester, add);
                RdmaCompareAndSwap swap = new RdmaCompareAndSwap(remote, 48, 5, 6);
                MessagePair.write(requester, swap);
                assertThat(add.oldValue()).isZero();
                assertThat(swap.oldValue()).isEqualTo(5);
                MessagePair.write(owner, text("answer"));
                assertThat(requesterEvents.text()).isEqualTo("answer");
            }
        });
    }

    @ParameterizedTest
    @MethodSource("waysAndOperations")
    void ownersChannelForbidsEach(Way way, RdmaPermissionTest.Operation operation) throws Exception {
        EnumSet<RdmaPermission> others = EnumSet.copyOf(ALL_REMOTE);
        others.remove(operation.remote);
        connected(way, others, () -> {
            try (RegisteredMemory memory = RegisteredMemory.allocate(4096, ALL)) {
                // The owner's message proves that both ends are established, so that its permissions count.
                MessagePair.write(owner, text("ready"));
                assertThat(requesterEvents.text()).isEqualTo("ready");
                assertEnds(operation.on(owner.export(memory), 0), WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void memoryThatIsNotRegisteredAnyMoreIsRefused(Way way) throws Exception {
        connected(way, ALL_REMOTE, () -> {
            RemoteMemory remote;
            try (RegisteredMemory memory = RegisteredMemory.allocate(4096, ALL)) {
                remote = owner.export(memory);
            }
            assertEnds(RdmaPermissionTest.Operation.READ.on(remote, 0), WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        });
    }

    private void assertEnds(RdmaOperation operation, int status) throws Exception {
        assertThat(MessagePair.failure(requester, operation)).isInstanceOfSatisfying(RdmaOperationException.class,
                e -> assertThat(WorkCompletionStatus.describe(e.status()))
                        .isEqualTo(WorkCompletionStatus.describe(status)));
        assertThat(requesterEvents.next()).isEqualTo("inactive");
    }

    private static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }
}
