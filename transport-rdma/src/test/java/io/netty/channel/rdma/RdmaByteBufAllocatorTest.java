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
import io.netty.channel.rdma.memory.RegisteredRanges;
import io.netty.channel.rdma.memory.RequestMemory;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.FastThreadLocalThread;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
@Tag("quick")
class RdmaByteBufAllocatorTest {
    private static final int SLAB_ORDER = 16;
    private static final int SLAB = 1 << SLAB_ORDER;
    private static final int MAX_CELL = SLAB / 4;

    private final RdmaByteBufAllocator allocator = new RdmaByteBufAllocator(4 * SLAB, SLAB_ORDER);

    @ParameterizedTest
    @ValueSource(ints = { 0, 1, 100, 512, 513, 4096, MAX_CELL, MAX_CELL + 1, SLAB * 2 })
    void capacityIsWhatWasAskedFor(int capacity) {
        ByteBuf buf = allocator.directBuffer(capacity, capacity + 10);
        try {
            assertThat(buf.capacity()).isEqualTo(capacity);
            assertThat(buf.maxCapacity()).isEqualTo(capacity + 10);
            assertThat(buf.isDirect()).isTrue();
            assertThat(buf.writableBytes()).isEqualTo(capacity);
            assertThatThrownBy(() -> buf.writeZero(capacity + 11)).isInstanceOf(IndexOutOfBoundsException.class);
            if (capacity > 0) {
                assertThatThrownBy(() -> buf.getByte(capacity)).isInstanceOf(IndexOutOfBoundsException.class);
            }
        } finally {
            buf.release();
        }
    }

    @Test
    void buffersAreDirectUnlessAskedForHeap() {
        ByteBuf any = allocator.buffer();
        ByteBuf heap = allocator.heapBuffer();
        try {
            assertThat(any.isDirect()).isTrue();
            assertThat(heap.hasArray()).isTrue();
        } finally {
            any.release();
            heap.release();
        }
    }

    @Test
    void growsInPlaceUpToTheCellAndKeepsContentBeyond() {
        ByteBuf buf = allocator.directBuffer(1000);
        try {
            long address = buf.memoryAddress();
            for (int i = 0; i < 1000; i++) {
                buf.writeByte(i);
            }
            buf.capacity(1024);
            assertThat(buf.memoryAddress()).isEqualTo(address);
            buf.capacity(5000);
            assertThat(buf.memoryAddress()).isNotEqualTo(address);
            assertThat(buf.capacity()).isEqualTo(5000);
            assertRegistered(buf, true);
            buf.capacity(SLAB * 2);
            assertRegistered(buf, false);
            buf.capacity(900);
            assertThat(buf.writerIndex()).isEqualTo(900);
            for (int i = 0; i < 900; i++) {
                assertThat(buf.getByte(i)).isEqualTo((byte) i);
            }
        } finally {
            buf.release();
        }
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    @Test
    void writesThatGrowTheBufferWork() {
        ByteBuf buf = allocator.directBuffer(16);
        ByteBuf copy = Unpooled.buffer();
        SplittableRandom random = new SplittableRandom(1);
        try {
            while (buf.readableBytes() < 3 * SLAB) {
                byte[] bytes = new byte[random.nextInt(3000)];
                random.nextBytes(bytes);
                buf.writeBytes(bytes);
                copy.writeBytes(bytes);
                assertThat(buf.writerIndex()).isEqualTo(copy.writerIndex());
            }
            assertThat(buf).isEqualTo(copy);
        } finally {
            buf.release();
            copy.release();
        }
    }

    @Test
    void neverPinsMoreThanTheBoundAndGoesOnWithOrdinaryMemory() {
        List<ByteBuf> bufs = new ArrayList<>();
        for (int i = 0; i < 4 * 4; i++) {
            ByteBuf buf = allocator.directBuffer(MAX_CELL);
            assertRegistered(buf, true);
            bufs.add(buf);
        }
        assertThat(allocator.pinnedMemory()).isEqualTo(4 * SLAB);
        assertThat(allocator.fallbackAllocations()).isZero();

        ByteBuf more = allocator.directBuffer(100);
        assertRegistered(more, false);
        assertThat(allocator.fallbackAllocations()).isEqualTo(1);
        assertThat(allocator.pinnedMemory()).isEqualTo(allocator.maxPinnedMemory());
        more.release();

        bufs.remove(0).release();
        ByteBuf again = allocator.directBuffer(100);
        assertRegistered(again, true);
        bufs.add(again);
        bufs.forEach(ByteBuf::release);
        assertThat(allocator.metric().usedDirectMemory()).isZero();
        assertThat(allocator.pinnedMemory()).isEqualTo(4 * SLAB);
    }

    @Test
    void derivedBuffersAreFoundToBeRegistered() {
        ByteBuf buf = allocator.directBuffer(2000).writeZero(2000);
        CompositeByteBuf composite = allocator.compositeDirectBuffer();
        try {
            assertRegistered(buf.slice(100, 200), true);
            assertRegistered(buf.duplicate(), true);
            assertRegistered(buf.slice(100, 200).slice(10, 20).asReadOnly(), true);
            ByteBuf wrapped = Unpooled.wrappedBuffer(buf.nioBuffer(10, 100));
            assertRegistered(wrapped, wrapped.hasMemoryAddress());
            composite.addComponent(true, buf.retainedSlice(0, 500));
            assertRegistered(composite.component(0), true);
            ByteBuf foreign = Unpooled.directBuffer(100);
            assertRegistered(foreign, false);
            foreign.release();
        } finally {
            composite.release();
            buf.release();
        }
    }

    @Test
    void releasedBufferCannotBeUsed() {
        ByteBuf buf = allocator.directBuffer(100);
        buf.release();
        assertThatThrownBy(() -> buf.writeByte(1)).isInstanceOf(IllegalReferenceCountException.class);
        assertThatThrownBy(buf::release).isInstanceOf(IllegalReferenceCountException.class);
    }

    @Test
    void threadsCacheReusesBuffersAndGivesThemBackWhenTheThreadEnds() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread thread = new FastThreadLocalThread(() -> {
            try {
                ByteBuf first = allocator.directBuffer(100);
                long address = first.memoryAddress();
                first.markReaderIndex().writeLong(1).markWriterIndex().readLong();
                first.release();
                ByteBuf second = allocator.directBuffer(200, 300);
                assertThat(second.memoryAddress()).isEqualTo(address);
                assertThat(second.capacity()).isEqualTo(200);
                assertThat(second.maxCapacity()).isEqualTo(300);
                assertThat(second.readerIndex()).isZero();
                assertThat(second.writerIndex()).isZero();
                assertThat(second.resetWriterIndex().writerIndex()).isZero();
                second.release();
                assertThat(allocator.metric().usedDirectMemory()).isPositive();
            } catch (Throwable t) {
                failure.set(t);
            }
        });
        thread.start();
        thread.join(TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
        assertThat(failure.get()).isNull();
        assertThat(thread.isAlive()).isFalse();
        assertThat(allocator.metric().usedDirectMemory()).isZero();
    }

    @Test
    void withoutEventLoopsASlabEndsWithItsLastBuffer() throws Exception {
        FutureTask<List<Long>> pinned = new FutureTask<>(() -> {
            List<Long> bytes = new ArrayList<>();
            allocator.directBuffer(100).release();
            ByteBuf used = allocator.directBuffer(100);
            allocator.keepUnusedSlabs(false);
            bytes.add(allocator.pinnedMemory());
            used.release();
            bytes.add(allocator.pinnedMemory());
            allocator.keepUnusedSlabs(true);
            allocator.directBuffer(100).release();
            bytes.add(allocator.pinnedMemory());
            allocator.keepUnusedSlabs(false);
            bytes.add(allocator.pinnedMemory());
            return bytes;
        });
        // With a cache.
        new FastThreadLocalThread(pinned).start();
        assertThat(TestTimeouts.result(pinned)).containsExactly((long) SLAB, 0L, (long) SLAB, 0L);
    }

    @Test
    void buffersMayTravelBetweenThreads() throws Exception {
        ConcurrentLinkedQueue<ByteBuf> queue = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            int seed = t;
            Thread thread = new FastThreadLocalThread(() -> {
                SplittableRandom random = new SplittableRandom(seed);
                try {
                    for (int i = 0; i < 5_000; i++) {
                        byte[] marks = new byte[8 + random.nextInt(3000)];
                        Arrays.fill(marks, (byte) random.nextInt());
                        queue.add(allocator.directBuffer(marks.length).writeBytes(marks));
                        ByteBuf other = queue.poll();
                        if (other != null) {
                            // Were the memory of two buffers to overlap, one would have the other's mark somewhere.
                            byte first = other.getByte(0);
                            assertThat(other.forEachByte(b -> b == first)).isEqualTo(-1);
                            other.release();
                        }
                    }
                } catch (Throwable e) {
                    failures.add(e);
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join(TimeUnit.SECONDS.toMillis(2 * TestTimeouts.SECONDS));
            assertThat(thread.isAlive()).isFalse();
        }
        queue.forEach(ByteBuf::release);
        assertThat(failures).isEmpty();
        assertThat(allocator.metric().usedDirectMemory()).isZero();
        assertThat(allocator.pinnedMemory()).isLessThanOrEqualTo(allocator.maxPinnedMemory());
    }

    private static void assertRegistered(ByteBuf buf, boolean registered) {
        // Without sun.misc.Unsafe, Netty's own direct buffers have no address and are not even looked up.
        RequestMemory memory = buf.hasMemoryAddress() ? RegisteredRanges.retainedFind(buf, 0, buf.capacity()) : null;
        assertThat(memory != null).isEqualTo(registered);
        if (registered) {
            memory.release();
        }
    }
}
