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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.rdma.message.RdmaCompareAndSwap;
import io.netty.channel.rdma.message.RdmaFetchAndAdd;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

/**
 * Atomic operations on a number of the responder, and the responder's part of them: what the number is before and after
 * each request. All numbers are of 8 bytes.
 */
abstract class AtomicRequests extends Requests {
    private final RdmaOperation[] operations = new RdmaOperation[Blocks.COUNT];
    private RemoteMemory remote;

    @Override
    final void begin(Introduction peer) {
        remote = peer.memory(0, Long.BYTES);
    }

    @Override
    final RdmaOperation next(ByteBufAllocator allocator, long number) {
        RdmaOperation operation = operation(remote, number);
        operations[(int) (number % Blocks.COUNT)] = operation;
        return operation;
    }

    @Override
    final boolean isRight(long number) {
        return oldValue(operations[(int) (number % Blocks.COUNT)]) == before(number);
    }

    @Override
    final boolean areReads() {
        return true;
    }

    abstract RdmaOperation operation(RemoteMemory remote, long number);

    abstract long oldValue(RdmaOperation done);

    /** The number before this request, and so after all that come before it. */
    abstract long before(long number);

    /** Adds other numbers each time. */
    static final class FetchAndAdd extends AtomicRequests {
        @Override
        RdmaOperation operation(RemoteMemory remote, long number) {
            return new RdmaFetchAndAdd(remote, 0, number + 1);
        }

        @Override
        long oldValue(RdmaOperation done) {
            return ((RdmaFetchAndAdd) done).oldValue();
        }

        @Override
        long before(long number) {
            return number * (number + 1) / 2;
        }
    }

    /** Swaps, and then tries to once more, which must not change anything. */
    static final class CompareAndSwap extends AtomicRequests {
        private static final long NEVER = -1;

        @Override
        RdmaOperation operation(RemoteMemory remote, long number) {
            long expected = number / 2;
            return new RdmaCompareAndSwap(remote, 0, expected, number % 2 == 0 ? expected + 1 : NEVER);
        }

        @Override
        long oldValue(RdmaOperation done) {
            return ((RdmaCompareAndSwap) done).oldValue();
        }

        @Override
        long before(long number) {
            return (number + 1) / 2;
        }
    }
}
