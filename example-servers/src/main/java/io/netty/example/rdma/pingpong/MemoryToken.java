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
package io.netty.example.rdma.pingpong;

import io.netty.channel.rdma.RegisteredMemory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The last 8 bytes of memory that somebody else writes to, a device or another process.
 */
final class MemoryToken {
    private static final VarHandle VIEW =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final ByteBuffer memory;
    private final int index;

    /** @param memory of a length that is a multiple of 8, and longer living than this */
    MemoryToken(RegisteredMemory memory) {
        this.memory = memory.buf().nioBuffer(0, memory.buf().capacity());
        index = memory.buf().capacity() - Long.BYTES;
    }

    /**
     * Looks at it. The compiler can't assume that it is as it was before, and what is read after this is at least as
     * new: a plain read promises neither.
     */
    long get() {
        return (long) VIEW.getAcquire(memory, index);
    }
}
