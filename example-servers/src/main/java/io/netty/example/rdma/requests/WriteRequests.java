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
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

/**
 * Writes blocks into the responder's memory.
 */
final class WriteRequests extends Requests {
    private final int size;
    private final boolean immediate;
    private RemoteMemory remote;

    /** @param immediate whether the responder is to be told of each: then it gets the number of the request. */
    WriteRequests(int size, boolean immediate) {
        this.size = size;
        this.immediate = immediate;
    }

    @Override
    void begin(Introduction peer) {
        remote = peer.memory(0, (long) Blocks.COUNT * size);
    }

    @Override
    RdmaOperation next(ByteBufAllocator allocator, long number) {
        ByteBuf block = allocator.directBuffer(size, size);
        Blocks.write(block, number, size);
        long offset = Blocks.offset(number, size);
        return immediate ? new RdmaWriteImm(block, remote, offset, (int) number) : new RdmaWrite(block, remote, offset);
    }
}
