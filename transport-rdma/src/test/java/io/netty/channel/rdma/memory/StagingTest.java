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
package io.netty.channel.rdma.memory;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.FastThreadLocalThread;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class StagingTest {
    private static final int POOL = 8 << 20;
    /** The largest: a quarter of a slab. */
    private static final int CELL = 256 << 10;

    private final CellPool pool = new CellPool(ByteBufAllocator.DEFAULT, new PinnedMemory(POOL, 0, null), 20);
    private final Staging staging = new Staging(pool);
    private final List<ByteBuf> taken = new ArrayList<>();

    @AfterEach
    void release() {
        taken.forEach(ByteBuf::release);
        staging.close();
    }

    @Test
    void aStoppedPeerHoldsNoMoreThanItsShare() {
        assertThat(takeAll(1 << 20)).isBetween(POOL / 80L, POOL / 64L);
    }

    @Test
    void howeverManyPeersHaveStoppedTheNextConnectionGetsSome() {
        for (int i = 0; i < 400; i++) {
            assertThat(takeAll(1 << 20)).as("connection %d", i).isPositive();
        }
    }

    @Test
    void shortPiecesShareABufferAsLongAsThereIsEnough() {
        ByteBuf first = staging.take(100, 0);
        taken.add(first);
        first.writeZero(100);
        ByteBuf second = staging.take(100, 0);
        taken.add(second);
        assertThat(second).isSameAs(first);
    }

    /** The caches of threads that do something else, or nothing, hold all of it. */
    @Test
    void whatIdleThreadsHaveCachedIsThereForWhoWaits() throws Exception {
        int cells = POOL / CELL;
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        try {
            // One after the other: a thread that finds no memory takes that of all caches.
            for (int i = 0; i < cells; i++) {
                CountDownLatch cached = new CountDownLatch(1);
                Thread thread = new FastThreadLocalThread(() -> {
                    ByteBuf buf = pool.newBuffer(CELL, CELL, true);
                    if (buf != null) {
                        buf.release();
                    }
                    cached.countDown();
                    await(end);
                });
                thread.start();
                threads.add(thread);
                assertThat(cached.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            }
            assertThat(pool.usedBytes()).as("in caches").isGreaterThan(POOL / 2);
            for (int i = 0; i < cells; i++) {
                ByteBuf buf = pool.newBuffer(CELL, CELL, true);
                assertThat(buf).as("buffer %d", i).isNotNull();
                taken.add(buf);
            }
            assertThat(pool.newBuffer(1, 1, true)).isNull();
        } finally {
            end.countDown();
            for (Thread thread : threads) {
                thread.join(TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
            }
        }
    }

    @Test
    void whatIdleThreadsHaveCachedCountsAsAvailable() throws Exception {
        ByteBuf staged = staging.take(1 << 20, 0);
        taken.add(staged);
        CountDownLatch cached = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = new FastThreadLocalThread(() -> {
            List<ByteBuf> all = new ArrayList<>();
            for (int length = CELL; length >= 512; length >>= 1) {
                for (int count = Math.min(256, (1 << 20) / length); count > 0; count--) {
                    ByteBuf buf = pool.newBuffer(length, length, true);
                    if (buf != null) {
                        all.add(buf);
                    }
                }
            }
            all.forEach(ByteBuf::release);
            cached.countDown();
            await(end);
        });
        thread.start();
        try {
            assertThat(cached.await(TestTimeouts.SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(pool.usedBytes()).isGreaterThan(POOL / 2);
            ByteBuf buf = staging.take(1 << 20, 0);
            taken.add(buf);
            assertThat(buf.capacity()).isEqualTo(staged.capacity());
        } finally {
            end.countDown();
            thread.join(TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await(TestTimeouts.SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Bytes that a connection gets that wants more and more, none of which is ever sent. */
    private long takeAll(int length) {
        long held = 0;
        for (ByteBuf buf; (buf = staging.take(length, held)) != null;) {
            taken.add(buf);
            held += buf.capacity();
        }
        return held;
    }
}
