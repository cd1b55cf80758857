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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class PagePoolTest {
    private static final int BYTES = 70_000;
    private static final int COUNT = 1000;

    private final PagePool pool = new PagePool();

    private List<PageMemory> take(int count) {
        List<PageMemory> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.add(pool.take(BYTES));
        }
        return taken;
    }

    private static void fill(PageMemory memory, byte value) {
        for (int i = 0; i < memory.buffer().capacity(); i++) {
            memory.buffer().put(i, value);
        }
    }

    private static void assertFilled(PageMemory memory, byte value) {
        for (int i = 0; i < memory.buffer().capacity(); i++) {
            if (memory.buffer().get(i) != value) {
                assertThat(memory.buffer().get(i)).as("byte %d", i).isEqualTo(value);
            }
        }
    }

    @Test
    void partsOfAMappingDoNotOverlapAndAreZero() {
        Random random = new Random(7);
        List<PageMemory> taken = take(100);
        for (int round = 0; round < 300; round++) {
            int i = random.nextInt(taken.size());
            taken.remove(i).close();
            PageMemory memory = pool.take(BYTES);
            assertThat(memory.buffer().capacity()).isEqualTo(BYTES);
            assertThat(DirectMemory.address(memory.buffer())).isEqualTo(memory.address());
            assertFilled(memory, (byte) 0);
            fill(memory, (byte) -1);
            taken.add(memory);
        }
        for (int i = 0; i < taken.size(); i++) {
            fill(taken.get(i), (byte) i);
        }
        for (int i = 0; i < taken.size(); i++) {
            assertFilled(taken.get(i), (byte) i);
            taken.get(i).close();
        }
    }

    @Test
    void mappingsWithoutUsersAreGivenBackButOne() {
        List<PageMemory> taken = take(COUNT);
        assertThat(pool.mappedBytes()).isBetween((long) BYTES * COUNT, 2L * BYTES * COUNT);
        Collections.shuffle(taken, new Random(1));
        taken.forEach(PageMemory::close);
        assertThat(pool.mappedBytes()).isBetween((long) BYTES, 2L * BYTES * PagePool.MAX_RUNS);
        PageMemory other = pool.take(3 * BYTES / 2);
        other.close();
        assertThat(pool.mappedBytes()).isLessThanOrEqualTo(2L * BYTES * PagePool.MAX_RUNS);
    }

    @Test
    void connectionsThatComeAndGoUseTheSameMapping() {
        PageMemory first = pool.take(BYTES);
        long mapped = pool.mappedBytes();
        first.close();
        for (int i = 0; i < COUNT; i++) {
            pool.take(BYTES).close();
            assertThat(pool.mappedBytes()).isEqualTo(mapped);
        }
    }
}
