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
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.MemoryRegion;
import io.netty.channel.rdma.verbs.ProtectionDomain;
import io.netty.channel.rdma.verbs.WorkCompletionStatus;
import io.netty.util.IllegalReferenceCountException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Set;

import static io.netty.channel.rdma.RdmaPermission.LOCAL_WRITE;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_ATOMIC;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_READ;
import static io.netty.channel.rdma.RdmaPermission.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The table of permissions in the description of the package, row by row: what is enough, and what each violation
 * gives.
 */
@Tag("quick")
class RdmaPermissionTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);
    private static final int LENGTH = 4096;

    /** An operation on remote memory, with what it needs. */
    enum Operation {
        WRITE(EnumSet.of(LOCAL_WRITE, REMOTE_WRITE), REMOTE_WRITE) {
            @Override
            RdmaOperation on(RemoteMemory memory, long offset) {
                return new RdmaWrite(Unpooled.copiedBuffer(new byte[100]), memory, offset);
            }
        },
        WRITE_IMM(EnumSet.of(LOCAL_WRITE, REMOTE_WRITE), REMOTE_WRITE) {
            @Override
            RdmaOperation on(RemoteMemory memory, long offset) {
                return new RdmaWriteImm(Unpooled.copiedBuffer(new byte[100]), memory, offset, 1);
            }
        },
        READ(EnumSet.of(REMOTE_READ), REMOTE_READ) {
            @Override
            RdmaOperation on(RemoteMemory memory, long offset) {
                ByteBuf destination = Unpooled.buffer(100, 100);
                RdmaRead read = new RdmaRead(destination, memory, offset);
                destination.release();
                return read;
            }
        },
        COMPARE_AND_SWAP(EnumSet.of(LOCAL_WRITE, REMOTE_ATOMIC), REMOTE_ATOMIC) {
            @Override
            RdmaOperation on(RemoteMemory memory, long offset) {
                return new RdmaCompareAndSwap(memory, offset, 0, 1);
            }
        },
        FETCH_AND_ADD(EnumSet.of(LOCAL_WRITE, REMOTE_ATOMIC), REMOTE_ATOMIC) {
            @Override
            RdmaOperation on(RemoteMemory memory, long offset) {
                return new RdmaFetchAndAdd(memory, offset, 1);
            }
        };

        final Set<RdmaPermission> least;
        final RdmaPermission remote;

        Operation(Set<RdmaPermission> least, RdmaPermission remote) {
            this.least = least;
            this.remote = remote;
        }

        abstract RdmaOperation on(RemoteMemory memory, long offset);
    }

    @ParameterizedTest
    @EnumSource
    void leastPermissionsAreEnough(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(RdmaChannelOption.REMOTE_PERMISSIONS, EnumSet.of(operation.remote)), client -> { });
             RegisteredMemory memory = memory(operation.least)) {
            RemoteMemory remote = pair.server.export(memory);
            assertThat(remote.permissions()).containsExactly(operation.remote);
            MessagePair.write(pair.client, operation.on(remote, 0));
            MessagePair.write(pair.client, operation.on(remote, LENGTH - 104));
        }
    }

    @ParameterizedTest
    @EnumSource
    void withoutTheMemorysPermissionItIsRefusedBeforeItIsPosted(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = memory(without(operation))) {
            RemoteMemory remote = pair.server.export(memory);
            assertRefused(pair, operation.on(remote, 0), operation.remote.name());
            if (operation == Operation.READ) {
                assertRefused(pair, new RdmaSyncEventGet(remote), operation.remote.name());
            }
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EnumSource
    void outOfBoundsIsRefusedBeforeItIsPosted(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory(ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            if (operation != Operation.READ) {
                // A read is as long as what is there.
                assertRefused(pair, operation.on(remote, LENGTH - 7), "offset " + (LENGTH - 7));
            }
            assertRefused(pair, operation.on(remote, LENGTH + 1), "offset " + (LENGTH + 1));
            assertRefused(pair, operation.on(remote, -1), "offset -1");
            assertRefused(pair, operation.on(remote, Long.MAX_VALUE), "offset " + Long.MAX_VALUE);
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EnumSource
    void ownersDeviceRefusesWhatThePeerMakesUp(Operation operation) throws Exception {
        try (RegisteredMemory memory = memory(without(operation))) {
            try (MessagePair pair = new MessagePair(loops.group())) {
                RemoteMemory remote = pair.server.export(memory);
                assertEnds(pair, operation.on(new RemoteMemory(remote.address(), remote.length(), remote.key(),
                        EnumSet.of(operation.remote)), 0), WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            }
        }
        try (RegisteredMemory memory = memory(ALL)) {
            try (MessagePair pair = new MessagePair(loops.group())) {
                // Out of bounds.
                RemoteMemory remote = pair.server.export(memory);
                assertEnds(pair, operation.on(new RemoteMemory(remote.address(), 2 * LENGTH, remote.key(),
                        EnumSet.of(operation.remote)), LENGTH), WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            }
            try (MessagePair pair = new MessagePair(loops.group())) {
                // A wrong key.
                RemoteMemory remote = pair.server.export(memory);
                assertEnds(pair, operation.on(new RemoteMemory(remote.address(), remote.length(),
                        remote.key() ^ 0x7fffff00, remote.permissions()), 0),
                        WorkCompletionStatus.REMOTE_ACCESS_ERROR);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void memoryOfAnotherProtectionDomainIsRefusedByTheOwnersDevice(Operation operation) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocateDirect(LENGTH);
        try (MessagePair pair = new MessagePair(loops.group());
             Device device = Device.open(pair.server.capabilities().deviceName());
             ProtectionDomain domain = device.allocateProtectionDomain();
             MemoryRegion region = domain.register(buffer, RdmaPermission.accessFlags(ALL))) {
            RemoteMemory foreign = new RemoteMemory(region.memoryAddress(), LENGTH, region.rkey(),
                    EnumSet.of(operation.remote));
            assertEnds(pair, operation.on(foreign, 0), WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @EnumSource
    void memoryThatIsNotRegisteredAnyMoreIsRefusedByTheOwnersDevice(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RemoteMemory remote;
            try (RegisteredMemory memory = memory(ALL)) {
                remote = pair.server.export(memory);
                MessagePair.write(pair.client, operation.on(remote, 0));
            }
            assertEnds(pair, operation.on(remote, 0), WorkCompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @ParameterizedTest
    @EnumSource
    void channelThatDoesNotAllowItEndsTheConnection(Operation operation) throws Exception {
        EnumSet<RdmaPermission> others = EnumSet.of(REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC);
        others.remove(operation.remote);
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(RdmaChannelOption.REMOTE_PERMISSIONS, others), client -> { });
             RegisteredMemory memory = memory(ALL)) {
            assertEnds(pair, operation.on(pair.server.export(memory), 0),
                    WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        }
    }

    @Test
    void clientsChannelCanForbidAsWell() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group(), server -> { }, client -> client
                .option(RdmaChannelOption.REMOTE_PERMISSIONS, EnumSet.noneOf(RdmaPermission.class)));
             RegisteredMemory memory = memory(ALL)) {
            MessagePair.write(pair.server, new RdmaSend(Unpooled.copiedBuffer("x", StandardCharsets.US_ASCII)));
            assertThat(pair.clientEvents.text()).isEqualTo("x");
            Throwable cause = MessagePair.failure(pair.server, Operation.WRITE.on(pair.client.export(memory), 0));
            assertThat(((RdmaOperationException) cause).status())
                    .isEqualTo(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
            assertThat(pair.serverEvents.next()).isEqualTo("inactive");
            assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        }
    }

    @ParameterizedTest
    @EnumSource(names = { "WRITE", "WRITE_IMM", "READ" })
    void withoutBytesNoPermissionIsNeeded(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RemoteMemory nothing = new RemoteMemory(0, 1, 0, EnumSet.noneOf(RdmaPermission.class));
            RdmaOperation empty = operation.on(nothing, 1);
            MessagePair.write(pair.client, empty.replace(Unpooled.EMPTY_BUFFER));
            empty.release();
            if (operation == Operation.WRITE_IMM) {
                pair.serverEvents.message().release();
            }
            assertWorks(pair);
        }
    }

    @ParameterizedTest
    @EnumSource(names = { "COMPARE_AND_SWAP", "FETCH_AND_ADD" })
    void atomicsAtOtherThanMultiplesOfEightAreRefusedBeforeTheyArePosted(Operation operation) throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory(ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            Throwable cause = MessagePair.failure(pair.client, operation.on(remote, 4));
            assertThat(((RdmaOperationException) cause).isPosted()).isFalse();
            assertThat(((RdmaOperationException) cause).status())
                    .isEqualTo(WorkCompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
            assertWorks(pair);
        }
    }

    @Test
    void memoryToReadIntoNeedsLocalWrite() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = memory(ALL);
             RegisteredMemory own = memory(EnumSet.noneOf(RdmaPermission.class))) {
            RemoteMemory remote = pair.server.export(memory);
            // To send from it is always allowed.
            MessagePair.write(pair.client, new RdmaWrite(own.buf().retainedDuplicate().setIndex(0, LENGTH), remote, 0));
            MessagePair.write(pair.client, new RdmaWrite(own.slice(0, LENGTH), remote, 0));
            ByteBuf destination = own.buf().duplicate().setIndex(0, 0);
            assertEnds(pair, new RdmaRead(destination, remote, 0), WorkCompletionStatus.LOCAL_PROTECTION_ERROR);
            assertThat(destination.isReadable()).as("nobody knows what is in there").isFalse();
        }
    }

    @Test
    void remoteWriteAndAtomicNeedLocalWrite() {
        for (RdmaPermission permission : EnumSet.of(REMOTE_WRITE, REMOTE_ATOMIC)) {
            assertThatThrownBy(() -> memory(EnumSet.of(permission))).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("LOCAL_WRITE");
        }
    }

    @Test
    void closedMemoryCantBeExported() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RegisteredMemory memory = memory(ALL);
            memory.close();
            assertThat(memory.isOpen()).isFalse();
            assertThatThrownBy(() -> pair.server.export(memory)).isInstanceOf(IllegalReferenceCountException.class);
        }
    }

    @Test
    void memoryIsRegisteredUntilWhatIsInFlightIsDone() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RegisteredMemory memory = memory(ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            for (int i = 0; i < 100; i++) {
                RegisteredMemory own = memory(ALL);
                own.buf().setInt(0, i);
                ByteBuf bytes = own.buf().retainedDuplicate().setIndex(0, LENGTH);
                ChannelFuture write = pair.client.writeAndFlush(new RdmaWrite(bytes, remote, 0));
                own.close();
                assertThat(write.await().cause()).isNull();
            }
            assertWorks(pair);
            assertThat(memory.buf().getInt(0)).isEqualTo(99);
        }
    }

    /** The peer reads nothing at first, so that the last message is in flight as long. */
    @ParameterizedTest(name = "slice: {0}")
    @ValueSource(booleans = { false, true })
    void memoryOfAMessageIsRegisteredUntilThePeerHasTakenIt(boolean slice) throws Exception {
        int depth = 16;
        try (MessagePair pair = new MessagePair(loops.group(), server -> server
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, depth), client -> { })) {
            for (int i = 0; i < depth - 1; i++) {
                MessagePair.write(pair.client, Unpooled.copyInt(i));
            }
            RegisteredMemory own = memory(ALL);
            own.buf().setInt(0, depth);
            ChannelFuture[] sends = new ChannelFuture[2];
            // Both are posted before the first one is seen to be done.
            TestTimeouts.sync(pair.client.eventLoop().submit(() -> {
                sends[0] = pair.client.writeAndFlush(Unpooled.copyInt(depth - 1));
                sends[1] = pair.client.writeAndFlush(slice ? new RdmaSend(own.slice(0, 1000))
                        : own.buf().retainedDuplicate().setIndex(0, 1000));
            }));
            own.close();
            TestTimeouts.sync(sends[0]);
            assertThat(sends[1].isDone()).isFalse();
            assertThat(own.isOpen()).as("registered while the message is in flight").isTrue();
            pair.server.config().setAutoRead(true);
            for (int i = 0; i <= depth; i++) {
                RdmaReceive message = pair.serverEvents.message();
                assertThat(message.content().readInt()).isEqualTo(i);
                message.release();
            }
            TestTimeouts.sync(sends[1]);
            TestTimeouts.awaitTrue(() -> !own.isOpen());
        }
    }

    private static RegisteredMemory memory(Set<RdmaPermission> permissions) throws Exception {
        return RegisteredMemory.of(ByteBuffer.allocateDirect(LENGTH), permissions);
    }

    private static EnumSet<RdmaPermission> without(Operation operation) {
        EnumSet<RdmaPermission> rest = EnumSet.copyOf(ALL);
        rest.remove(operation.remote);
        return rest;
    }

    /** The connection is not touched. */
    private static void assertRefused(MessagePair pair, RdmaOperation operation, String why) throws Exception {
        Throwable cause = MessagePair.failure(pair.client, operation);
        assertThat(cause).isInstanceOf(RdmaOperationException.class).hasMessageContaining(why);
        assertThat(((RdmaOperationException) cause).isPosted()).isFalse();
        assertThat(((RdmaOperationException) cause).status()).isEqualTo(WorkCompletionStatus.REMOTE_ACCESS_ERROR);
    }

    private static void assertWorks(MessagePair pair) throws Exception {
        MessagePair.write(pair.client, Unpooled.copiedBuffer("works", StandardCharsets.US_ASCII));
        assertThat(pair.serverEvents.text()).isEqualTo("works");
    }

    /** The device says so, and both ends of the connection know. */
    private static void assertEnds(MessagePair pair, RdmaOperation operation, int status) throws Exception {
        Throwable cause = MessagePair.failure(pair.client, operation);
        assertThat(cause).isInstanceOf(RdmaOperationException.class);
        assertThat(((RdmaOperationException) cause).isPosted()).isTrue();
        assertThat(WorkCompletionStatus.describe(((RdmaOperationException) cause).status()))
                .isEqualTo(WorkCompletionStatus.describe(status));
        assertThat(pair.clientEvents.next()).isEqualTo("inactive");
        Object end = pair.serverEvents.next();
        if (end instanceof RdmaOperationException) {
            // Soft-RoCE completes the receive that a refused write with immediate was for: docs/providers.md.
            assertThat(operation).isInstanceOf(RdmaWriteImm.class);
            end = pair.serverEvents.next();
        }
        assertThat(end).isEqualTo("inactive");
    }
}
