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
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.memory.MemoryInFlight;
import io.netty.channel.rdma.memory.RegisteredRanges;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Memory that work requests use is not used for anything else.
 */
class MemoryInFlightTest {
    private static final int CELL = 4096;

    private final RdmaByteBufAllocator allocator = new RdmaByteBufAllocator(1 << 20, 20);
    private final MemoryInFlight inFlight = new MemoryInFlight();

    @Test
    void ofABufferThatGrows() {
        ByteBuf buf = allocator.directBuffer(CELL);
        assertHeldWhile(buf.slice(), () -> buf.capacity(CELL + 1));
        assertThat(allocator.metric().usedDirectMemory()).isEqualTo(2 * CELL);
        buf.release();
    }

    @Test
    void ofABufferThatIsReleased() {
        // The cell's owner has lent its memory to another buffer.
        ByteBuf buf = allocator.directBuffer(CELL).writeZero(CELL);
        assertHeldWhile(Unpooled.wrappedBuffer(buf.nioBuffer()), buf::release);
    }

    @Test
    void ofAComponentOfACompositeBufferThatIsConsolidated() {
        CompositeByteBuf composite = allocator.compositeDirectBuffer();
        ByteBuf component = allocator.directBuffer(CELL).writeZero(CELL);
        composite.addComponent(true, component);
        composite.addComponent(true, allocator.directBuffer(CELL).writeZero(CELL));
        assertHeldWhile(composite.decompose(0, CELL).get(0), composite::consolidate);
        composite.release();
    }

    @Test
    void ofRegisteredMemoryWhoseBufferGrows() throws Exception {
        ByteBuf buf = allocator.directBuffer(CELL);
        RegisteredMemory memory = RegisteredMemory.of(buf, EnumSet.allOf(RdmaPermission.class));
        buf.capacity(CELL + 1);
        assertNotUsed(memory.address());
        buf.release();
        memory.close();
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    /** The steps are about what changes the memory of the buffer that was sent. */
    private void assertHeldWhile(ByteBuf sent, Runnable steps) {
        long address = sent.memoryAddress();
        inFlight.add(0, RegisteredRanges.retainedFind(sent, 0, sent.capacity()));
        // A second piece of the same.
        inFlight.add(0, RegisteredRanges.retainedFind(sent, 0, 1));
        inFlight.add(1, RegisteredRanges.retainedFind(sent, 1, 1));
        steps.run();
        assertNotUsed(address);
        inFlight.releaseUntil(0);
        assertNotUsed(address);
        long used = allocator.metric().usedDirectMemory();
        inFlight.releaseUntil(1);
        assertThat(allocator.metric().usedDirectMemory()).isEqualTo(used - CELL);
    }

    private void assertNotUsed(long address) {
        List<ByteBuf> others = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            ByteBuf other = allocator.directBuffer(CELL);
            assertThat(other.memoryAddress()).isNotEqualTo(address);
            others.add(other);
        }
        others.forEach(ByteBuf::release);
    }

    @Test
    void eachWorkRequestGivesBackWhatItHeldAndNoOther() {
        for (long seed = 1; seed <= 200; seed++) {
            run(new SplittableRandom(seed));
        }
    }

    private void run(SplittableRandom random) {
        List<List<ByteBuf>> requests = new ArrayList<>();
        long done = -1;
        int steps = random.nextInt(100);
        for (int i = 0; i < steps; i++) {
            long next = done + 1 + requests.size();
            List<ByteBuf> held = new ArrayList<>();
            for (int pieces = random.nextInt(20); pieces > 0; pieces--) {
                ByteBuf buf = Unpooled.buffer(1);
                held.add(buf);
                inFlight.add(next, buf.retain());
            }
            if (random.nextInt(5) == 0) {
                inFlight.releaseFrom(next);
                assertReferences(held, 1);
            } else {
                requests.add(held);
            }
            for (int completed = random.nextInt(3); completed > 0 && !requests.isEmpty(); completed--) {
                requests.forEach(request -> assertReferences(request, 2));
                inFlight.releaseUntil(++done);
                assertReferences(requests.remove(0), 1);
            }
        }
        inFlight.releaseUntil(Long.MAX_VALUE);
        requests.forEach(request -> assertReferences(request, 1));
    }

    private static void assertReferences(List<ByteBuf> buffers, int count) {
        assertThat(buffers).allMatch(buf -> buf.refCnt() == count);
    }
}
