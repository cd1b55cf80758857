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
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Pattern;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The blocks of a round in registered memory, one for each request. The number of its request determines the bytes of a
 * block. So a block of an earlier round, or in the place of another one, does not match.
 */
final class Blocks implements AutoCloseable {
    /** Number of blocks: a round has no more requests. */
    static final int COUNT = 16;

    /** Distance of two blocks in the pattern: a prime, so that beginnings do not repeat soon. */
    private static final long STEP = 4099;

    private final int size;
    private final RegisteredMemory memory;

    /**
     * @param size        size of each block, in bytes
     * @param permissions permissions of the peer, besides those that the process needs itself
     */
    Blocks(int size, Set<RdmaPermission> permissions) throws IOException {
        this.size = size;
        memory = RegisteredMemory.allocate(COUNT * size, permissions);
    }

    /** Writes the bytes of a block. */
    static void write(ByteBuf to, long number, int size) {
        Pattern.write(to, number * STEP, size);
    }

    /** Returns whether all readable bytes are those of a block of that size. */
    static boolean matches(ByteBuf data, long number, int size) {
        return data.readableBytes() == size && Pattern.matches(data, number * STEP);
    }

    /** Offset of a block in the memory, in bytes. */
    static long offset(long number, int size) {
        return number % COUNT * size;
    }

    private ByteBuf block(long number) {
        return memory.buf().slice((int) offset(number, size), size);
    }

    void fill(long number) {
        write(block(number).clear(), number, size);
    }

    boolean matches(long number) {
        return matches(block(number), number, size);
    }

    List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of(channel.export(memory));
    }

    /** The memory itself. */
    ByteBuf buf() {
        return memory.buf();
    }

    @Override
    public void close() {
        memory.close();
    }
}
