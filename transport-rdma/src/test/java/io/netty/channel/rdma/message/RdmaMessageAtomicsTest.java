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
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.AtomicCapability;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.DeviceAttributes;
import io.netty.channel.rdma.verbs.VerbsApi;
import io.netty.channel.rdma.verbs.VerbsProvider;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Atomic operations and sync events.
 */
@Tag("quick")
class RdmaMessageAtomicsTest {
    @RegisterExtension
    static final LoopGroupExtension loops = new LoopGroupExtension(2);

    private static final EnumSet<RdmaPermission> ALL = EnumSet.allOf(RdmaPermission.class);

    @Test
    void compareAndSwapChangesWhatIsExpectedOnly() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(16, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            RdmaCompareAndSwap first = new RdmaCompareAndSwap(remote, 8, 0, Long.MIN_VALUE + 5);
            assertThatThrownBy(first::oldValue).isInstanceOf(IllegalStateException.class);
            MessagePair.write(pair.client, first);
            assertThat(first.oldValue()).isZero();
            assertThat(value(memory, 8)).isEqualTo(Long.MIN_VALUE + 5);
            RdmaCompareAndSwap second = new RdmaCompareAndSwap(remote, 8, 0, 1);
            MessagePair.write(pair.client, second);
            assertThat(second.oldValue()).isEqualTo(Long.MIN_VALUE + 5);
            assertThat(value(memory, 8)).as("not what was expected").isEqualTo(Long.MIN_VALUE + 5);
            assertThat(value(memory, 0)).as("beside it").isZero();
        }
    }

    @Test
    void fetchAndAddWrapsAround() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            MessagePair.write(pair.client, new RdmaFetchAndAdd(remote, 0, Long.MAX_VALUE));
            RdmaFetchAndAdd second = new RdmaFetchAndAdd(remote, 0, 2);
            MessagePair.write(pair.client, second);
            assertThat(second.oldValue()).isEqualTo(Long.MAX_VALUE);
            assertThat(value(memory, 0)).isEqualTo(Long.MIN_VALUE + 1);
            RdmaFetchAndAdd third = new RdmaFetchAndAdd(remote, 0, -1);
            MessagePair.write(pair.client, third);
            assertThat(third.oldValue()).isEqualTo(Long.MIN_VALUE + 1);
            assertThat(value(memory, 0)).isEqualTo(Long.MIN_VALUE);
        }
    }

    /** Also those of the owner, where the device allows them at the same time. */
    @Test
    void additionsOfManyChannelsAreAllCounted() throws Exception {
        try (MessagePair one = new MessagePair(loops.group()); MessagePair other = new MessagePair(loops.group());
             RdmaSyncEvent event = new RdmaSyncEvent(0)) {
            RemoteMemory[] remotes = { event.export(one.server), event.export(other.server) };
            RdmaMessageChannel[] channels = { one.client, other.client };
            int count = 2000;
            List<ChannelFuture> futures = new ArrayList<>();
            List<RdmaFetchAndAdd> operations = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                RdmaFetchAndAdd operation = new RdmaFetchAndAdd(remotes[i % 2], 0, 1);
                operations.add(operation);
                futures.add(channels[i % 2].writeAndFlush(operation));
            }
            long own = 0;
            if (one.client.capabilities().atomicCapability() == AtomicCapability.GLOBAL) {
                while (own < 10_000_000 && !futures.get(count - 1).isDone()) {
                    event.add(1);
                    own++;
                }
            }
            for (ChannelFuture future : futures) {
                TestTimeouts.sync(future);
            }
            assertThat(event.get()).isEqualTo(count + own);
            assertThat(operations.stream().mapToLong(RdmaFetchAndAdd::oldValue).distinct().count())
                    .as("each saw another value").isEqualTo(count);
        }
    }

    @Test
    void peersUseASyncEventWhileItsOwnerWaits() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RdmaSyncEvent event = new RdmaSyncEvent(7)) {
            RemoteMemory remote = event.export(pair.server);
            RdmaSyncEventGet get = new RdmaSyncEventGet(remote);
            MessagePair.write(pair.client, get);
            assertThat(get.value()).isEqualTo(7);

            Future<Long> waiting = event.waitUntil(10, pair.server.eventLoop());
            MessagePair.write(pair.client, RdmaSyncEvent.set(remote, 8));
            assertThat(waiting.isDone()).isFalse();
            RdmaFetchAndAdd add = RdmaSyncEvent.add(remote, 2);
            MessagePair.write(pair.client, add);
            assertThat(add.oldValue()).isEqualTo(8);
            assertThat(TestTimeouts.sync(waiting).getNow()).isEqualTo(10);
            assertThat(event.get()).isEqualTo(10);
            assertThat(TestTimeouts.sync(event.waitUntil(10, pair.server.eventLoop())).getNow()).isEqualTo(10);

            assertThat(event.add(5)).isEqualTo(10);
            get = new RdmaSyncEventGet(remote);
            MessagePair.write(pair.client, get);
            assertThat(get.value()).as("the owner has added").isEqualTo(15);
        }
    }

    @Test
    void inputsOfAtomicsCanBeReadAndSetForAnotherWrite() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(24, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            RdmaFetchAndAdd add = new RdmaFetchAndAdd(remote, 0, 3);
            assertThat(add.addend()).isEqualTo(3);
            MessagePair.write(pair.client, add);
            MessagePair.write(pair.client, add.addend(4));
            assertThat(add.addend()).isEqualTo(4);
            assertThat(add.oldValue()).isEqualTo(3);
            MessagePair.write(pair.client, add.offset(16));
            assertThat(add.oldValue()).isZero();
            assertThat(value(memory, 0)).isEqualTo(7);
            assertThat(value(memory, 16)).isEqualTo(4);

            RdmaCompareAndSwap swap = new RdmaCompareAndSwap(remote, 0, 7, 8);
            assertThat(swap.expected()).isEqualTo(7);
            assertThat(swap.desired()).isEqualTo(8);
            MessagePair.write(pair.client, swap);
            MessagePair.write(pair.client, swap.expected(8).desired(9));
            assertThat(swap.oldValue()).isEqualTo(8);
            assertThat(value(memory, 0)).isEqualTo(9);
            assertThat(MessagePair.failure(pair.client, swap.offset(4))).isInstanceOf(RdmaOperationException.class);
            assertThatThrownBy(swap::oldValue).as("it is not that of the write before")
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void resultsOfAtomicsGoToRegisteredMemoryOrToABuffer() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8, ALL);
             RegisteredMemory results = RegisteredMemory.allocate(64, ALL)) {
            RemoteMemory remote = pair.server.export(memory);
            MessagePair.write(pair.client, new RdmaFetchAndAdd(remote, 0, 0x0102030405060708L));
            RdmaFetchAndAdd add = new RdmaFetchAndAdd(results.slice(16, 8), remote, 0, 1);
            MessagePair.write(pair.client, add);
            assertThat(value(results, 16)).isEqualTo(0x0102030405060708L);
            assertThatThrownBy(add::oldValue).isInstanceOf(IllegalStateException.class).hasMessageContaining("slice");
            RdmaCompareAndSwap swap = new RdmaCompareAndSwap(results.slice(40, 8), remote, 0, 0, 1);
            MessagePair.write(pair.client, swap);
            assertThat(value(results, 40)).isEqualTo(0x0102030405060709L);
            assertThat(results.refCnt()).as("nothing is in flight").isEqualTo(1);

            // In place and copied, and in a composite.
            for (ByteBuf buf : new ByteBuf[] { pair.client.alloc().buffer(100), Unpooled.buffer(12),
                    Unpooled.wrappedBuffer(new byte[6], new byte[6]).clear() }) {
                buf.writeInt(5);
                swap = new RdmaCompareAndSwap(buf, remote, 0, 0, 1);
                MessagePair.write(pair.client, swap);
                assertThat(swap.oldValue()).isEqualTo(0x0102030405060709L);
                assertThat(swap.length()).isEqualTo(8);
                assertThat(buf.readInt()).isEqualTo(5);
                assertThat(ValueOperation.number(buf, buf.readerIndex())).isEqualTo(0x0102030405060709L);
                assertThat(buf.readableBytes()).isEqualTo(8);
                assertThat(buf.release()).isTrue();
            }
            ByteBuf tooShort = Unpooled.buffer(7, 7);
            for (RdmaOperation operation : List.of(new RdmaFetchAndAdd(tooShort, remote, 0, 1),
                    new RdmaFetchAndAdd(results.slice(0, 7), remote, 0, 1))) {
                assertThat(MessagePair.failure(pair.client, operation)).isInstanceOf(RdmaOperationException.class)
                        .hasMessageContaining("8 bytes");
            }
            assertThat(tooShort.release()).isTrue();
            assertThat(value(memory, 0)).isEqualTo(0x0102030405060709L);
        }
    }

    @Test
    void syncEventIsGotIntoAndSetFromMemory() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RdmaSyncEvent event = new RdmaSyncEvent(7);
             RegisteredMemory own = RegisteredMemory.allocate(64, ALL)) {
            RemoteMemory remote = event.export(pair.server);
            RdmaSyncEventGet get = new RdmaSyncEventGet(List.of(own.slice(0, 3), own.slice(3, 20)), remote);
            MessagePair.write(pair.client, get);
            assertThat(get.length()).isEqualTo(8);
            assertThat(value(own, 0)).isEqualTo(7);
            ByteBuf buf = pair.client.alloc().buffer(100);
            get = new RdmaSyncEventGet(buf, remote);
            MessagePair.write(pair.client, get);
            assertThat(get.value()).isEqualTo(7);
            assertThat(buf.readableBytes()).isEqualTo(8);
            assertThat(ValueOperation.number(buf, 0)).isEqualTo(7);
            // No more than there is room for, which is no value.
            ByteBuf half = Unpooled.buffer(4, 4);
            get = new RdmaSyncEventGet(half, remote);
            MessagePair.write(pair.client, get);
            assertThat(get.length()).isEqualTo(4);
            assertThat(half).isEqualTo(buf.slice(0, 4));
            assertThatThrownBy(get::value).isInstanceOf(IllegalStateException.class);
            assertThat(half.release()).isTrue();
            get = new RdmaSyncEventGet(remote);
            MessagePair.write(pair.client, get.length(4));
            assertThat(get.length()).isEqualTo(4);
            assertThatThrownBy(get::value).isInstanceOf(IllegalStateException.class);

            // From a buffer, with more than 8 bytes, and with fewer.
            MessagePair.write(pair.client, RdmaSyncEvent.set(buf.retain().writeLong(1), remote));
            assertThat(event.get()).isEqualTo(7);
            event.set(-1);
            own.buf().setLong(32, 0);
            MessagePair.write(pair.client, RdmaSyncEvent.set(List.of(own.slice(32, 2), own.slice(34, 2)), remote));
            assertThat(Long.bitCount(event.get())).as("4 of the bytes are 0").isEqualTo(32);
            MessagePair.write(pair.client, RdmaSyncEvent.set(List.of(own.slice(0, 64)), remote));
            assertThat(event.get()).isEqualTo(7);
            MessagePair.write(pair.client, RdmaSyncEvent.add(own.slice(48, 8), remote, 5));
            assertThat(value(own, 48)).isEqualTo(7);
            buf.clear();
            RdmaFetchAndAdd add = RdmaSyncEvent.add(buf, remote, 5);
            MessagePair.write(pair.client, add);
            assertThat(add.oldValue()).isEqualTo(12);
            assertThat(ValueOperation.number(buf, 0)).isEqualTo(12);
            assertThat(event.get()).isEqualTo(17);
            assertThat(buf.release()).isTrue();
        }
    }

    @Test
    void ownerWaitsForAValueThatIsEqualOrDifferent() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group()); RdmaSyncEvent event = new RdmaSyncEvent(7)) {
            RemoteMemory remote = event.export(pair.server);
            Future<Long> equal = event.waitUntil(value -> value == 3, pair.server.eventLoop());
            Future<Long> different = event.waitUntil(value -> value != 7, pair.server.eventLoop());
            Future<Long> thrown = event.waitUntil(value -> {
                throw new IllegalArgumentException("no");
            }, pair.server.eventLoop());
            assertThat(TestTimeouts.await(thrown).cause()).isInstanceOf(IllegalArgumentException.class);
            MessagePair.write(pair.client, RdmaSyncEvent.set(remote, 9));
            assertThat(TestTimeouts.sync(different).getNow()).isEqualTo(9);
            assertThat(equal.isDone()).isFalse();
            MessagePair.write(pair.client, RdmaSyncEvent.set(remote, 3));
            assertThat(TestTimeouts.sync(equal).getNow()).isEqualTo(3);
        }
    }

    @Test
    void waitEndsWithTheEventOrWhenItIsCancelled() throws Exception {
        RdmaSyncEvent event = new RdmaSyncEvent(0);
        Future<Long> cancelled = event.waitUntil(1, loops.group().next());
        assertThat(cancelled.cancel(false)).isTrue();
        Future<Long> waiting = event.waitUntil(1, loops.group().next());
        event.close();
        assertThat(TestTimeouts.await(waiting).cause()).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(event::get).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> event.set(1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void capabilitiesAreTheDevices() throws Exception {
        try (MessagePair pair = new MessagePair(loops.group())) {
            RdmaCapabilities capabilities = pair.client.capabilities();
            for (Class<? extends RdmaOperation> operation : List.of(RdmaSend.class, RdmaSendImm.class, RdmaWrite.class,
                    RdmaWriteImm.class, RdmaRead.class, RdmaCompareAndSwap.class, RdmaFetchAndAdd.class,
                    RdmaSyncEventGet.class)) {
                assertThat(capabilities.isSupported(operation)).as(operation.getSimpleName()).isTrue();
            }
            assertThat(capabilities.atomicCapability()).isNotEqualTo(AtomicCapability.NONE);
            String name = TestTimeouts.sync(pair.client.info()).getNow().deviceName();
            DeviceAttributes attributes = Device.shared(name).attributes();
            assertThat(capabilities.isSupported(RdmaSendInv.class)).isEqualTo(attributes.supportsSendWithInvalidate());
            assertThat(capabilities.maxMessageLength()).isEqualTo(Math.min(Integer.MAX_VALUE,
                    Integer.toUnsignedLong(Device.shared(name).portAttributes(1).maxMessageSize())));
            assertThat(capabilities.supportsSharedReceives()).isTrue();
            assertThat(capabilities.maxSharedReceives()).isEqualTo(attributes.maxSharedReceiveRequests());
            assertThat(capabilities.supportsDmabuf()).isEqualTo(capabilities.maxInlineReceive() > 0)
                    .as("both with the embedded provider only")
                    .isEqualTo(VerbsApi.preferred().provider() == VerbsProvider.EMBEDDED);
            assertThat(capabilities.atomicCapability()).isEqualTo(attributes.atomicCapability());
            assertThat(capabilities.maxSendSges()).isPositive().isEqualTo(attributes.maxSges());
            assertThat(capabilities.maxReceiveSges()).isEqualTo(attributes.maxSges());
            assertThat(capabilities.maxReadSges()).isPositive().isEqualTo(attributes.maxReadSges());
            assertThat(capabilities.maxQueueDepth()).isGreaterThanOrEqualTo(256)
                    .isEqualTo(attributes.maxWorkRequests());
            assertThat(capabilities.maxInitiatorDepth()).isPositive().isEqualTo(attributes.maxInitiatorDepth());
            assertThat(capabilities.maxResponderResources()).isPositive()
                    .isEqualTo(attributes.maxResponderResources());
            assertThat(RdmaCapabilities.of(name).toString()).isEqualTo(capabilities.toString()).startsWith(name);
        }
    }

    private static long value(RegisteredMemory memory, int index) {
        return memory.buf().nioBuffer(0, memory.buf().capacity()).order(ByteOrder.nativeOrder()).getLong(index);
    }
}
