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

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;

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
}
