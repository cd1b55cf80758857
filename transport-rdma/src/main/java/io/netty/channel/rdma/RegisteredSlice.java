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

import static io.netty.util.internal.ObjectUtil.checkNotNull;

/**
 * A part of {@link RegisteredMemory} as the local side of an operation. The operation gives the device its address and
 * key, so the CPU need not be able to access the memory. Immutable. The slice has no reference to the memory. An
 * operation takes one when it is posted, and fails if the memory was closed before.
 */
public final class RegisteredSlice {
    private final RegisteredMemory memory;
    private final long offset;
    private final int length;

    RegisteredSlice(RegisteredMemory memory, long offset, int length) {
        this.memory = checkNotNull(memory, "memory");
        if (offset < 0 || length < 0 || offset > memory.length() - length) {
            throw new IndexOutOfBoundsException("offset: " + offset + ", length: " + length + " of the " + memory);
        }
        this.offset = offset;
        this.length = length;
    }

    public RegisteredMemory memory() {
        return memory;
    }

    /** The offset in bytes from the beginning of the memory. */
    public long offset() {
        return offset;
    }

    /** The length in bytes, 0 or more. */
    public int length() {
        return length;
    }

    /** The address of the first byte, as the device names it. */
    public long address() {
        return memory.address() + offset;
    }

    @Override
    public String toString() {
        return length + " bytes at offset " + offset + " of the " + memory;
    }
}
