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
package io.netty.example.rdma.requests;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.example.rdma.verbs.Introduction;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Sends blocks that are in two pieces in memory, the second one before the first: the device gathers them.
 */
final class ListRequests extends Requests {
    private final int size;
    private RegisteredMemory memory;

    ListRequests(int size) {
        this.size = size;
    }

    @Override
    void begin(Introduction peer) throws IOException {
        memory = RegisteredMemory.allocate(Blocks.COUNT * size, Set.of());
    }

    @Override
    RdmaOperation next(ByteBufAllocator allocator, long number) {
        List<RegisteredSlice> pieces = pieces(memory, Blocks.offset(number, size), size);
        ByteBuf block = allocator.buffer(size, size);
        Blocks.write(block, number, size);
        for (RegisteredSlice piece : pieces) {
            memory.buf().setBytes((int) piece.offset(), block, piece.length());
        }
        block.release();
        return new RdmaSend(pieces);
    }

    /** The two pieces of a message in this part of the memory: its first half is behind the second one. */
    static List<RegisteredSlice> pieces(RegisteredMemory memory, long offset, int size) {
        int first = size / 2;
        int second = size - first;
        return List.of(memory.slice(offset + second, first), memory.slice(offset, second));
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
        }
    }
}
