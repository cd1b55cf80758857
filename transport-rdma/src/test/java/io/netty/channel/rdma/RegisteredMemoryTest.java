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
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.memory.DirectMemory;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class RegisteredMemoryTest {
    /** The longest is more than slabs have in one piece. */
    @ParameterizedTest
    @ValueSource(ints = { 1, 100, 65_536, 5_000_001 })
    void beginsAtACacheLineAndIsAsLongAsAskedFor(int length) throws Exception {
        try (RegisteredMemory memory = RegisteredMemory.allocate(length, EnumSet.allOf(RdmaPermission.class))) {
            assertThat(memory.address() % DirectMemory.CACHE_LINE).isZero();
            assertThat(memory.length()).isEqualTo(length);
            assertThat(memory.buf().memoryAddress()).isEqualTo(memory.address());
            assertThat(memory.buf().getByte(length - 1)).isZero();
        }
    }

    /** Ranges that begin together, enclose each other, and overlap, in any order, some of them closed again. */
    @Test
    void memoryThatOverlapsOtherIsFound() throws Exception {
        ByteBuf whole = Unpooled.directBuffer(1 << 12);
        SplittableRandom random = new SplittableRandom(1);
        for (int round = 0; round < 300; round++) {
            List<RegisteredMemory> open = new ArrayList<>();
            try {
                for (int count = random.nextInt(1, 12); count > 0; count--) {
                    int from = random.nextInt(8) << 6;
                    int length = random.nextInt(1, 16) << 6;
                    open.add(RegisteredMemory.of(whole.slice(from, length), random.nextBoolean() ?
                            EnumSet.of(RdmaPermission.LOCAL_WRITE) : EnumSet.of(RdmaPermission.REMOTE_READ)));
                    if (random.nextInt(3) == 0) {
                        open.remove(random.nextInt(open.size())).close();
                    }
                }
                for (int i = 0; i < 20; i++) {
                    assertFound(open, whole.memoryAddress() + random.nextInt(2 << 10), random.nextInt(1, 1 << 9),
                            random.nextBoolean() ? RdmaPermission.LOCAL_WRITE : null);
                }
            } finally {
                open.forEach(RegisteredMemory::close);
            }
            assertThat(ForeignMemory.retainedFind(whole.memoryAddress(), 1, null)).isNull();
        }
        whole.release();
    }

    /** Memory with the permission is found if there is any, and else any that contains the bytes. */
    private static void assertFound(List<RegisteredMemory> open, long address, int length, RdmaPermission permission) {
        List<RegisteredMemory> containing = open.stream()
                .filter(memory -> memory.range().contains(address, length)).toList();
        List<RegisteredMemory> permitted = containing.stream()
                .filter(memory -> permission == null || memory.permissions().contains(permission)).toList();
        RegisteredMemory found = ForeignMemory.retainedFind(address, length, permission);
        if (containing.isEmpty()) {
            assertThat(found).isNull();
        } else {
            assertThat(found).isIn(permitted.isEmpty() ? containing : permitted);
            found.release();
        }
    }
}
