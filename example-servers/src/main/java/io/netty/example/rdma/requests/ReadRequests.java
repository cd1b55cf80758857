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
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

/**
 * Reads the responder's blocks.
 */
final class ReadRequests extends Requests {
    private final int size;
    private final ByteBuf[] destinations = new ByteBuf[Blocks.COUNT];
    private RemoteMemory remote;

    ReadRequests(int size) {
        this.size = size;
    }

    @Override
    void begin(Introduction peer) {
        remote = peer.memory(0, (long) Blocks.COUNT * size);
    }

    @Override
    RdmaOperation next(ByteBufAllocator allocator, long number) {
        ByteBuf destination = allocator.directBuffer(size, size);
        destinations[(int) (number % Blocks.COUNT)] = destination;
        return new RdmaRead(destination, remote, Blocks.offset(number, size));
    }

    @Override
    boolean isRight(long number) {
        int index = (int) (number % Blocks.COUNT);
        boolean right = Blocks.matches(destinations[index], number, size);
        release(index);
        return right;
    }

    @Override
    boolean areReads() {
        return true;
    }

    private void release(int index) {
        destinations[index].release();
        destinations[index] = null;
    }

    @Override
    public void close() {
        for (int i = 0; i < destinations.length; i++) {
            if (destinations[i] != null) {
                release(i);
            }
        }
    }
}
