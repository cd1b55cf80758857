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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class PageMemoryTest {
    private static final int PAGE = PageMemory.pageSize0();
    private static final int PAGES = 2048;

    @Test
    void takesNoMemoryBeforeItIsWritten() throws IOException {
        try (PageMemory memory = PageMemory.map(PAGES * PAGE)) {
            ByteBuffer buffer = memory.buffer();
            assertThat(buffer.isDirect()).isTrue();
            assertThat(buffer.capacity()).isEqualTo(PAGES * PAGE);
            assertThat(memory.address() % PAGE).isZero();
            assertThat(DirectMemory.address(buffer)).isEqualTo(memory.address());
            assertThat(presentPages(memory.address())).isEmpty();
            // Not a huge page, and nothing is read: where the kernel has no page of zeroes, that takes memory, too.
            buffer.put(5 * PAGE, (byte) 1);
            assertThat(presentPages(memory.address())).containsExactly(5);
        }
    }

    @Test
    void isZeroAgainForTheNextOwner() {
        for (int round = 0; round < 3; round++) {
            try (PageMemory memory = PageMemory.map(3 * PAGE + 8)) {
                for (int i = 0; i < 3 * PAGE + 8; i++) {
                    assertThat(memory.buffer().get(i)).isZero();
                    memory.buffer().put(i, (byte) -1);
                }
            }
        }
    }

    /** Pages from this address on that are in memory or swapped out: see proc_pid_pagemap(5). */
    private static List<Integer> presentPages(long address) throws IOException {
        ByteBuffer entries = ByteBuffer.allocate(PAGES * Long.BYTES).order(ByteOrder.nativeOrder());
        try (FileChannel pagemap = FileChannel.open(Paths.get("/proc/self/pagemap"))) {
            assertThat(pagemap.read(entries, address / PAGE * Long.BYTES)).isEqualTo(entries.capacity());
        }
        return IntStream.range(0, PAGES).filter(i -> entries.getLong(i * Long.BYTES) >>> 62 != 0).boxed()
                .collect(Collectors.toList());
    }
}
