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
package io.netty.channel.rdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.memory.CellPool;
import io.netty.channel.rdma.memory.Shortage;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static io.netty.channel.rdma.TestTimeouts.awaitTrue;
import static io.netty.channel.rdma.TestTimeouts.sync;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Memory can't be registered, as at the limit of locked memory: connections go on with what they have, and copy.
 */
class RegistrationShortageTest {
    private static final int LENGTH = 100_000;
    private static final byte[] BYTES = ConnectedPair.random(LENGTH, 1);

    @RegisterExtension
    static final LoopGroupExtension LOOPS = new LoopGroupExtension(2);

    private final RdmaByteBufAllocator allocator = new RdmaByteBufAllocator(CellPool.SLAB_SIZE);

    @AfterEach
    void endShortage() {
        Shortage.end();
    }

    @Test
    void aSlabThatCannotBeRegisteredIsNotHandedOut() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            Shortage.begin();
            ByteBuf buf = allocator.directBuffer(LENGTH);
            assertThat(allocator.fallbackAllocations()).isEqualTo(1);
            assertThat(allocator.pinnedMemory()).isZero();
            echo(pair, buf);
            assertThat(pair.client.metrics().bytesSentInPlace()).isZero();

            endShortage();
            awaitTrue(() -> {
                allocator.directBuffer(LENGTH).release();
                return allocator.pinnedMemory() > 0;
            });
            echo(pair, allocator.directBuffer(LENGTH));
            assertThat(pair.client.metrics().bytesSentInPlace()).isEqualTo(LENGTH);
        }
    }

    @Test
    void whatIsInASlabThatCannotBeRegisteredIsCopied() throws Exception {
        try (ConnectedPair pair = new ConnectedPair(LOOPS.group())) {
            // There was a slab before there was the device.
            assertThat(allocator.reserve()).isTrue();
            Shortage.begin();
            for (int i = 0; i < 3; i++) {
                echo(pair, allocator.directBuffer(LENGTH));
            }
            assertThat(allocator.fallbackAllocations()).isZero();
            assertThat(pair.client.metrics().bytesSentInPlace()).isZero();

            endShortage();
            awaitTrue(() -> {
                try {
                    echo(pair, allocator.directBuffer(LENGTH));
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                return pair.client.metrics().bytesSentInPlace() > 0;
            });
        }
    }

    private static void echo(ConnectedPair pair, ByteBuf buf) throws Exception {
        sync(pair.client.writeAndFlush(buf.writeBytes(BYTES)));
        assertThat(pair.serverEvents.read(LENGTH)).isEqualTo(BYTES);
    }
}
