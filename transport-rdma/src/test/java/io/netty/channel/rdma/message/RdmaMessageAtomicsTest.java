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

import io.netty.channel.ChannelFuture;
import io.netty.channel.rdma.LoopGroupExtension;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.verbs.AtomicCapability;
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
        }
    }

    @Test
    void additionsOfManyChannelsAreAllCounted() throws Exception {
        try (MessagePair one = new MessagePair(loops.group()); MessagePair other = new MessagePair(loops.group());
             RegisteredMemory memory = RegisteredMemory.allocate(8, ALL)) {
            RemoteMemory[] remotes = { one.server.export(memory), other.server.export(memory) };
            RdmaMessageChannel[] channels = { one.client, other.client };
            int count = 2000;
            List<ChannelFuture> futures = new ArrayList<>();
            List<RdmaFetchAndAdd> operations = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                RdmaFetchAndAdd operation = new RdmaFetchAndAdd(remotes[i % 2], 0, 1);
                operations.add(operation);
                futures.add(channels[i % 2].writeAndFlush(operation));
            }
            for (ChannelFuture future : futures) {
                TestTimeouts.sync(future);
            }
            assertThat(value(memory, 0)).isEqualTo(count);
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
                    RdmaWriteImm.class, RdmaRead.class, RdmaCompareAndSwap.class, RdmaFetchAndAdd.class)) {
                assertThat(capabilities.isSupported(operation)).as(operation.getSimpleName()).isTrue();
            }
            assertThat(capabilities.atomicCapability()).isNotEqualTo(AtomicCapability.NONE);
            assertThat(capabilities.maxSendSges()).isPositive();
            assertThat(capabilities.maxReadSges()).isPositive();
            assertThat(capabilities.maxQueueDepth()).isGreaterThanOrEqualTo(256);
            assertThat(capabilities.maxInitiatorDepth()).isPositive();
            assertThat(capabilities.maxResponderResources()).isPositive();
            assertThat(capabilities.maxMessageLength()).isBetween(1L << 20, 1L << 31);
            String name = TestTimeouts.sync(pair.client.info()).getNow().deviceName();
            assertThat(RdmaCapabilities.of(name).toString()).isEqualTo(capabilities.toString()).startsWith(name);
        }
    }

    private static long value(RegisteredMemory memory, int index) {
        return memory.buf().nioBuffer(0, memory.buf().capacity()).order(ByteOrder.nativeOrder()).getLong(index);
    }
}
