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
package io.netty.channel.rdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.memory.CellPool;
import io.netty.channel.rdma.memory.PinnedMemory;
import io.netty.channel.rdma.stream.SendQueue;
import io.netty.channel.rdma.stream.StreamConfig;
import io.netty.channel.rdma.stream.StreamWorkRequest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("quick")
class SendRingTest {
    private SendQueue queue;
    private SendRing ring;

    @Test
    void whatSuccessiveRequestsShareCountsOnce() {
        CellPool pool = new CellPool(ByteBufAllocator.DEFAULT, new PinnedMemory(8 << 20, 0, null), 20);
        create(4);
        ByteBuf a = pool.newBuffer(4096, 4096, true);
        ByteBuf b = pool.newBuffer(8192, 8192, true);
        add(1, a.retain(), false);
        add(1, a.retain(), false);
        assertThat(ring.staged()).isEqualTo(4096);
        add(0, null, false);
        add(1, b.retain(), false);
        assertThat(ring.staged()).isEqualTo(4096 + 8192);
        remove();
        assertThat(ring.staged()).isEqualTo(4096 + 8192);
        remove();
        assertThat(ring.staged()).isEqualTo(8192);
        add(1, b.retain(), false);
        remove();
        remove();
        assertThat(ring.staged()).isEqualTo(8192);
        remove();
        assertThat(ring.staged()).isZero();
        add(1, b, false);
        assertThat(ring.staged()).isEqualTo(8192);
        remove();
        a.release();
        assertThat(ring.staged()).isZero();
    }

    @Test
    void keepsWhatIsInFlightWhenItGrows() {
        create(100);
        ByteBuf[] buffers = new ByteBuf[128];
        long first = 0;
        long incomplete = 0;
        long next = 0;
        long bytes = 0;
        long completed = 0;
        // So that it grows with its oldest request at any place.
        for (int inFlight : new int[] { 3, 1, 5, 2, 7, 11, 30, 29, 100, 3, 128, 0 }) {
            while (next - first < inFlight) {
                int i = (int) next & 127;
                buffers[i] = next % 3 == 0 ? null : ByteBufAllocator.DEFAULT.buffer(16, 16);
                add((int) next + 1, buffers[i], next % 5 == 0);
                next++;
            }
            while (next - first > inFlight) {
                for (incomplete = Math.max(incomplete, first); incomplete < next &&
                        (incomplete == first || incomplete % 5 == 0); incomplete++) {
                    bytes += incomplete + 1;
                }
                completed += ring.complete(first);
                assertThat(completed).isEqualTo(bytes);
                remove();
                ByteBuf buffer = buffers[(int) first & 127];
                assertThat(buffer == null || buffer.refCnt() == 0).isTrue();
                first++;
            }
            long held = 0;
            for (long sequence = first; sequence < next; sequence++) {
                ByteBuf buffer = buffers[(int) sequence & 127];
                assertThat(buffer == null || buffer.refCnt() == 1).isTrue();
                held += buffer == null ? 0 : buffer.capacity();
            }
            assertThat(ring.staged()).isEqualTo(held);
        }
    }

    @Test
    void copiedRequestsAreCompleteBehindThoseThatAreDone() {
        create(8);
        add(1, null, true);
        assertThat(ring.complete(-1)).isEqualTo(1);
        assertThat(ring.complete(-1)).isZero();
        add(2, null, false);
        add(4, null, true);
        add(8, null, true);
        add(16, null, false);
        assertThat(ring.complete(0)).isZero();
        assertThat(ring.complete(1)).isEqualTo(2 + 4 + 8);
        remove();
        remove();
        assertThat(ring.complete(4)).isEqualTo(16);
    }

    private void create(int depth) {
        queue = new SendQueue(new StreamConfig(1, depth, 2, 2, depth - 1));
        ring = new SendRing(queue, depth);
    }

    private void add(int length, ByteBuf staging, boolean isCopied) {
        StreamWorkRequest request = new StreamWorkRequest();
        queue.post(request, false);
        ring.add(request.sequence(), length, staging, isCopied);
    }

    /** Removes the oldest request. */
    private void remove() {
        ring.remove(queue.oldest());
        queue.completed(queue.oldest());
    }
}
