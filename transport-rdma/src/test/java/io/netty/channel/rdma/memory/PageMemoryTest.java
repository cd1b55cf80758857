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

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;

import static org.assertj.core.api.Assertions.assertThat;

class PageMemoryTest {
    private static final int BYTES = 8 << 20;
    private static final int PAGE = 4096;

    @Test
    void takesNoMemoryBeforeItIsWritten() throws IOException {
        try (PageMemory memory = PageMemory.map(BYTES)) {
            ByteBuffer buffer = memory.buffer();
            assertThat(buffer.isDirect()).isTrue();
            assertThat(buffer.capacity()).isEqualTo(BYTES);
            assertThat(memory.address() % PAGE).isZero();
            assertThat(DirectMemory.address(buffer)).isEqualTo(memory.address());
            long before = resident(memory.address());
            for (int i = 0; i < BYTES; i += PAGE) {
                assertThat(buffer.get(i)).isZero();
            }
            assertThat(resident(memory.address()) - before).as("after reading").isZero();
            buffer.put(5 * PAGE, (byte) 1);
            assertThat(resident(memory.address()) - before).as("a page was written").isBetween(1L, (long) PAGE);
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

    /** Bytes of memory in the mapping that an address is in. */
    private static long resident(long address) throws IOException {
        boolean inside = false;
        for (String line : Files.readAllLines(Paths.get("/proc/self/smaps"))) {
            String[] words = line.trim().split("\\s+");
            if (words[0].matches("[0-9a-f]+-[0-9a-f]+")) {
                String[] range = words[0].split("-");
                inside = Long.parseUnsignedLong(range[0], 16) <= address &&
                        address < Long.parseUnsignedLong(range[1], 16);
            } else if (inside && "Rss:".equals(words[0])) {
                return Long.parseLong(words[1]) << 10;
            }
        }
        throw new AssertionError("no mapping has the address 0x" + Long.toHexString(address));
    }
}
