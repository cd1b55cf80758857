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

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class SlabTest {
    private static final int ORDER = 14;

    /** Positive numbers allocate a cell of that order, others free an earlier one. */
    @Property(tries = 200)
    void cellsNeverOverlapAndTheWholeComesBack(@ForAll @Size(max = 200) List<@IntRange(min = -3, max =
            6) Integer> steps) {
        Slab slab = new Slab(ORDER);
        BitSet used = new BitSet(1 << ORDER);
        List<int[]> cells = new ArrayList<>();
        for (int step : steps) {
            if (step >= 0) {
                int order = Math.min(ORDER, Slab.MIN_ORDER + step);
                int offset = slab.allocate(order);
                if (offset >= 0) {
                    assertThat(offset % (1 << order)).isZero();
                    assertThat(used.get(offset, offset + (1 << order)).isEmpty()).isTrue();
                    used.set(offset, offset + (1 << order));
                    cells.add(new int[] { offset, order });
                } else {
                    for (int start = 0; start < 1 << ORDER; start += 1 << order) {
                        assertThat(used.get(start, start + (1 << order)).isEmpty()).isFalse();
                    }
                }
            } else if (!cells.isEmpty()) {
                int[] cell = cells.remove(-step % cells.size());
                used.clear(cell[0], cell[0] + (1 << cell[1]));
                slab.free(cell[0], cell[1]);
            }
        }
        for (int[] cell : cells) {
            assertThat(slab.isUnused()).isFalse();
            slab.free(cell[0], cell[1]);
        }
        assertThat(slab.isUnused()).isTrue();
        assertThat(slab.allocate(ORDER)).isZero();
    }

    @Test
    void beginsAtAPage() {
        // Memory of malloc(3) of this size is not aligned.
        Slab slab = new Slab(20);
        assertThat(slab.range.address % DirectMemory.PAGE).isZero();
        assertThat(slab.range.length).isEqualTo(1 << 20);
        assertThat(DirectMemory.address(slab.view(0, 1))).isEqualTo(slab.range.address);
    }

    @Test
    void isFullAfterItsSmallestCells() {
        Slab slab = new Slab(ORDER);
        int count = 1 << ORDER - Slab.MIN_ORDER;
        for (int i = 0; i < count; i++) {
            assertThat(slab.allocate(Slab.MIN_ORDER)).isEqualTo(i << Slab.MIN_ORDER);
        }
        assertThat(slab.allocate(Slab.MIN_ORDER)).isEqualTo(-1);
        slab.free(3 << Slab.MIN_ORDER, Slab.MIN_ORDER);
        assertThat(slab.allocate(Slab.MIN_ORDER + 1)).isEqualTo(-1);
        assertThat(slab.allocate(Slab.MIN_ORDER)).isEqualTo(3 << Slab.MIN_ORDER);
    }
}
