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
import io.netty.channel.ChannelFuture;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.VerbsResource;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static io.netty.channel.rdma.RdmaPermission.LOCAL_WRITE;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_ATOMIC;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_READ;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_WRITE;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("quick")
class RdmaMemoryWindowTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> READ_WRITE = EnumSet.of(REMOTE_READ, REMOTE_WRITE);
    private static final int LENGTH = 4096;
    private static final int START = 1000;
    private static final int PART = 100;

    /** Where what the peer sends arrives. */
    enum Receives {
        OWN, SHARED, MANUAL
    }

    /** Memory of which nothing is open but by windows. */
    private static RegisteredMemory memory() throws Exception {
        return RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE));
    }

    private static RdmaMemoryWindow bind(RdmaMessageChannel channel, RegisteredMemory memory,
                                         EnumSet<RdmaPermission> permissions) throws Exception {
        return TestTimeouts.result(channel.bindWindow(memory, START, PART, permissions));
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, US_ASCII);
    }

    private static RemoteMemory handedOver(RdmaMemoryWindow window) {
        ByteBuf blob = Unpooled.buffer();
        window.remoteMemory().write(blob);
        return RemoteMemory.read(blob);
    }

    private static void assertRefusedByTheDevice(MessagePair pair, RdmaOperation operation) throws Exception {
        Throwable cause = MessagePair.failure(pair.client, operation);
        assertThat(cause).isInstanceOf(RdmaOperationException.class);
        assertThat(((RdmaOperationException) cause).isPosted()).isTrue();
        assertThat(((RdmaOperationException) cause).status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        assertThat(pair.serverEvents.next()).isEqualTo("inactive");
    }

    @Test
    void peerUsesThePartThatAWindowOpens() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            RdmaMemoryWindow window = bind(pair.server, memory, EnumSet.of(REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC));
            assertThat(window.isOpen()).isTrue();
            RemoteMemory remote = handedOver(window);
            assertThat(remote.address()).isEqualTo(memory.address() + START);
            assertThat(remote.length()).isEqualTo(PART);
            assertThat(remote.permissions()).containsExactly(REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC);
            MessagePair.write(pair.client, new RdmaWrite(bytes("hello"), remote, 1));
            assertThat(memory.buf().toString(START + 1, 5, US_ASCII)).isEqualTo("hello");
            ByteBuf read = Unpooled.buffer(PART, PART);
            MessagePair.write(pair.client, new RdmaRead(read.retain(), remote, 0));
            assertThat(read.toString(1, 5, US_ASCII)).isEqualTo("hello");
            read.release();
            MessagePair.write(pair.client, new RdmaFetchAndAdd(remote, 8, 1));
            assertThat(pair.server.metrics().windowOperations()).isOne();
        }
    }

    @Test
    void memoryItselfStaysClosed() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            bind(pair.server, memory, READ_WRITE);
            RemoteMemory whole = pair.server.export(memory);
            assertThat(whole.permissions()).isEmpty();
            assertRefusedByTheDevice(pair, new RdmaWrite(bytes("hello"), new RemoteMemory(whole.address(),
                    whole.length(), whole.key(), READ_WRITE), 0));
        }
    }

    @Test
    void whatTheWindowDoesNotAllowIsRefused() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            RemoteMemory remote = bind(pair.server, memory, EnumSet.of(REMOTE_READ)).remoteMemory();
            assertRefusedByTheDevice(pair, new RdmaWrite(bytes("hello"), new RemoteMemory(remote.address(),
                    remote.length(), remote.key(), READ_WRITE), 0));
        }
    }

    @Test
    void anotherChannelHasNoUseForAWindow() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); MessagePair other = new MessagePair(loops.group());
             RegisteredMemory memory = memory()) {
            RdmaMemoryWindow window = bind(pair.server, memory, READ_WRITE);
            assertRefusedByTheDevice(other, new RdmaWrite(bytes("hello"), window.remoteMemory(), 0));
            MessagePair.write(pair.client, new RdmaWrite(bytes("hello"), window.remoteMemory(), 0));
        }
    }

    @Test
    void revokedWindowIsRefusedAndTheMemoryIsTheOwnersAgain() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RegisteredMemory memory = memory();
            RdmaMemoryWindow window = bind(pair.server, memory, READ_WRITE);
            memory.close();
            assertThat(memory.isOpen()).as("retained by the window").isTrue();
            TestTimeouts.await(window.revoke());
            assertThat(window.isOpen()).isFalse();
            assertThat(memory.isOpen()).isFalse();
            assertThat(window.revoke()).isSameAs(window.revokedFuture());
            assertThat(pair.server.metrics().windowOperations()).isEqualTo(2);
            assertRefusedByTheDevice(pair, new RdmaWrite(bytes("hello"), window.remoteMemory(), 0));
        }
    }

    @ParameterizedTest
    @EnumSource
    void peerGivesAWindowBackWithItsMessage(Receives receives) throws Exception {
        try (RegisteredMemory landing = RegisteredMemory.allocate(LENGTH, EnumSet.of(LOCAL_WRITE));
             MessagePair pair = new MessagePair(loops.group(), server -> {
                 server.childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, receives == Receives.SHARED);
                 server.childOption(RdmaChannelOption.MANUAL_RECEIVES, receives == Receives.MANUAL);
             }, client -> { });
             RegisteredMemory memory = memory()) {
            if (receives == Receives.MANUAL) {
                TestTimeouts.sync(pair.server.postReceive(landing.slice(0, LENGTH)));
            }
            RdmaMemoryWindow window = bind(pair.server, memory, READ_WRITE);
            RemoteMemory remote = handedOver(window);
            pair.client.write(new RdmaWrite(bytes("answer"), remote, 0).unsignalled());
            MessagePair.write(pair.client, new RdmaSendInv(bytes("done"), remote));
            RdmaReceive message = pair.serverEvents.message();
            assertThat(message.length()).isEqualTo(4);
            assertThat(message.hasImmediate()).isFalse();
            message.release();
            assertThat(window.isOpen()).as("when the message is read").isFalse();
            TestTimeouts.await(window.revokedFuture());
            assertThat(memory.refCnt()).isOne();
            assertThat(memory.buf().toString(START, 6, US_ASCII)).isEqualTo("answer");
            assertRefusedByTheDevice(pair, new RdmaWrite(bytes("late"), remote, 0));
        }
    }

    @Test
    void sendWithInvalidateTakesRegisteredSlices() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory();
             RegisteredMemory own = RegisteredMemory.allocate(LENGTH, EnumSet.noneOf(RdmaPermission.class))) {
            own.buf().setCharSequence(0, "hello", US_ASCII);
            RdmaMemoryWindow window = bind(pair.server, memory, READ_WRITE);
            MessagePair.write(pair.client, new RdmaSendInv(List.of(own.slice(0, 2), own.slice(2, 3)),
                    window.remoteMemory()));
            assertThat(pair.serverEvents.text()).isEqualTo("hello");
            TestTimeouts.await(window.revokedFuture());
        }
    }

    /** As a protocol that lends memory with each request does; more often than there are keys. */
    @Test
    void windowIsBoundAgainForEachRequest() throws Exception {
        int windowsBefore = VerbsResource.MEMORY_WINDOW.live();
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            for (int i = 0; i < 300; i++) {
                RdmaMemoryWindow window = bind(pair.server, memory, READ_WRITE);
                pair.client.write(new RdmaWrite(Unpooled.copyInt(i), window.remoteMemory(), 0).unsignalled());
                if (i % 2 == 0) {
                    MessagePair.write(pair.client, new RdmaSendInv(bytes("done"), window.remoteMemory()));
                } else {
                    MessagePair.write(pair.client, bytes("done"));
                }
                assertThat(pair.serverEvents.text()).isEqualTo("done");
                assertThat(memory.buf().getInt(START)).isEqualTo(i);
                TestTimeouts.await(i % 2 == 0 ? window.revokedFuture() : window.revoke());
            }
            assertThat(VerbsResource.MEMORY_WINDOW.live() - windowsBefore).isOne();
        }
        assertThat(VerbsResource.MEMORY_WINDOW.live()).isEqualTo(windowsBefore);
    }

    @Test
    void manyWindowsAreOpenAtATime() throws Exception {
        int count = 500;
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            List<Future<RdmaMemoryWindow>> bindings = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                bindings.add(pair.server.bindWindow(memory, i * 8, 8, READ_WRITE));
            }
            List<RdmaMemoryWindow> windows = new ArrayList<>();
            for (Future<RdmaMemoryWindow> binding : bindings) {
                windows.add(TestTimeouts.result(binding));
            }
            for (int i = 0; i < count; i++) {
                pair.client.write(new RdmaWrite(Unpooled.copyLong(i), windows.get(i).remoteMemory(), 0));
            }
            MessagePair.write(pair.client, bytes("done"));
            assertThat(pair.serverEvents.text()).isEqualTo("done");
            for (int i = 0; i < count; i++) {
                assertThat(memory.buf().getLong(i * 8)).isEqualTo(i);
                windows.get(i).revoke();
            }
            for (RdmaMemoryWindow window : windows) {
                TestTimeouts.await(window.revokedFuture());
            }
            assertThat(memory.refCnt()).isOne();
        }
    }

    @ParameterizedTest
    @EnumSource(names = { "OWN", "SHARED" })
    void endOfTheConnectionRevokesAll(Receives receives) throws Exception {
        try (RegisteredMemory memory = memory()) {
            RdmaMemoryWindow first;
            RdmaMemoryWindow second;
            try (MessagePair pair = new MessagePair(loops.group(), server -> server
                    .childOption(RdmaChannelOption.SHARED_RECEIVE_QUEUE, receives == Receives.SHARED), client -> { })) {
                first = bind(pair.server, memory, READ_WRITE);
                second = bind(pair.server, memory, READ_WRITE);
                assertThat(second.remoteMemory().key()).isNotEqualTo(first.remoteMemory().key());
                // The peer goes.
                TestTimeouts.sync(pair.client.close());
                TestTimeouts.await(first.revokedFuture());
                TestTimeouts.await(second.revoke());
                assertThat(first.isOpen()).isFalse();
            }
            assertThat(memory.refCnt()).isOne();
            TestTimeouts.await(first.revoke());
        }
    }

    @Test
    void bindingThatWasCancelledIsTakenBack() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            CountDownLatch blocked = new CountDownLatch(1);
            pair.server.eventLoop().execute(() -> {
                try {
                    blocked.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            Future<RdmaMemoryWindow> binding = pair.server.bindWindow(memory, 0, 1, READ_WRITE);
            assertThat(binding.cancel(false)).isTrue();
            blocked.countDown();
            RdmaMemoryWindow next = bind(pair.server, memory, READ_WRITE);
            TestTimeouts.await(next.revoke());
            assertThat(memory.refCnt()).isOne();
        }
    }

    @Test
    void whatCantBeBoundIsRefusedWithoutHarm() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory();
             RegisteredMemory readOnly = RegisteredMemory.allocate(LENGTH, EnumSet.noneOf(RdmaPermission.class))) {
            RdmaMessageChannel server = pair.server;
            for (long[] part : new long[][] { { -1, 1 }, { 0, 0 }, { 0, LENGTH + 1 }, { LENGTH, 1 },
                    { 1, Long.MAX_VALUE }, { Long.MAX_VALUE, 1 } }) {
                assertThatThrownBy(() -> server.bindWindow(memory, part[0], part[1], READ_WRITE))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatThrownBy(() -> server.bindWindow(memory, 0, 1, EnumSet.noneOf(RdmaPermission.class)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("at least one");
            assertThatThrownBy(() -> server.bindWindow(memory, 0, 1, EnumSet.of(LOCAL_WRITE, REMOTE_READ)))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("remote ones");
            assertThatThrownBy(() -> server.bindWindow(readOnly, 0, 1, READ_WRITE))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("LOCAL_WRITE of the memory");
            RdmaMemoryWindow window = bind(server, readOnly, EnumSet.of(REMOTE_READ));
            assertThat(window.isOpen()).isTrue();
            RegisteredMemory closed = memory();
            closed.close();
            assertThat(TestTimeouts.await(server.bindWindow(closed, 0, 1, READ_WRITE)).cause())
                    .isInstanceOf(IllegalReferenceCountException.class);
            MessagePair.write(pair.client, bytes("x"));
            assertThat(pair.serverEvents.text()).isEqualTo("x");
        }
    }

    @Test
    void onlyAConnectedChannelHasWindows() throws Exception {
        try (RegisteredMemory memory = memory()) {
            MessagePair pair = new MessagePair(loops.group());
            pair.close();
            assertThat(TestTimeouts.await(pair.server.bindWindow(memory, 0, 1, READ_WRITE)).cause())
                    .isInstanceOf(ClosedChannelException.class);
            RdmaMessageChannel unconnected = MessagePair.bound(loops.group(), new MessagePair.Recorder(), o -> { });
            assertThat(TestTimeouts.await(unconnected.bindWindow(memory, 0, 1, READ_WRITE)).cause())
                    .isInstanceOf(NotYetConnectedException.class);
            TestTimeouts.sync(unconnected.close());
            assertThat(memory.refCnt()).isOne();
        }
    }

    @Test
    void windowThatThePeerMakesUpEndsTheConnection() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory()) {
            RemoteMemory remote = bind(pair.server, memory, READ_WRITE).remoteMemory();
            RemoteMemory other = new RemoteMemory(remote.address(), remote.length(), remote.key() ^ 0x7FFFFF00,
                    remote.permissions());
            boolean softRoce = pair.server.capabilities().deviceName().startsWith("rxe");
            ChannelFuture send = TestTimeouts.await(pair.client.writeAndFlush(new RdmaSendInv(bytes("x"), other)));
            if (!softRoce) {
                // soft-RoCE completes the send with success.
                assertThat(send.cause()).isInstanceOf(RdmaOperationException.class);
            }
            assertThat(pair.serverEvents.next()).isInstanceOf(RdmaOperationException.class);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @Test
    void capabilitiesTellOfWindows() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            assertThat(pair.server.capabilities().supportsMemoryWindows()).isTrue();
            assertThat(pair.server.capabilities().isSupported(RdmaSendInv.class)).isTrue();
        }
    }
}
