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
import io.netty.channel.rdma.message.RdmaCompareAndSwap;
import io.netty.channel.rdma.message.RdmaFetchAndAdd;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaSendImm;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The requester's part of an operation.
 */
abstract class Requests implements AutoCloseable {
    /**
     * Begins with the memory to which the responder gives access, if any.
     *
     * @throws IllegalArgumentException if the operation needs other memory
     */
    void begin(Introduction peer) throws IOException {
        // Some operations need no memory of the peer.
    }

    /** Returns the next request. Requests are numbered from 0. */
    abstract RdmaOperation next(ByteBufAllocator allocator, long number);

    /** Returns whether the result of a request is right. Called once for each request, when it is done. */
    boolean isRight(long number) {
        return true;
    }

    /**
     * Returns whether requests bring data back. A message that is sent after such a request may overtake it (InfiniBand
     * Architecture Specification, volume 1, 10.8.3.3, table "Work Request Operation Ordering").
     */
    boolean areReads() {
        return false;
    }

    @Override
    public void close() {
        // Most hold nothing.
    }

    /** Reads the responder's blocks. */
    static final class ReadRequests extends Requests {
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

    /** Writes blocks into the responder's memory. */
    static final class WriteRequests extends Requests {
        private final int size;
        private final boolean immediate;
        private RemoteMemory remote;

        /**
         * @param immediate whether each request has its number as immediate data, which tells the responder of the
         *                  write
         */
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
            return immediate ? new RdmaWriteImm(block, remote, offset, (int) number)
                    : new RdmaWrite(block, remote, offset);
        }
    }

    /** Sends blocks as messages. */
    static class SendRequests extends Requests {
        private final int size;
        private final boolean immediate;

        /** @param immediate whether each message has the number of the request as immediate data */
        SendRequests(int size, boolean immediate) {
            this.size = size;
            this.immediate = immediate;
        }

        ByteBuf block(ByteBufAllocator allocator, long number) {
            ByteBuf block = allocator.directBuffer(size, size);
            Blocks.write(block, number, size);
            return block;
        }

        @Override
        final RdmaOperation next(ByteBufAllocator allocator, long number) {
            ByteBuf block = block(allocator, number);
            return immediate ? new RdmaSendImm(block, (int) number) : new RdmaSend(block);
        }
    }

    /** Sends blocks that lie in two pieces in memory, the second one before the first. The device gathers them. */
    static final class ListRequests extends Requests {
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

        /** Returns the two pieces of a message in a part of the memory: its first half lies behind its second half. */
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

    /**
     * Atomic operations on a number of the responder. The responder computes the number before each request by them,
     * too. All numbers have 8 bytes.
     */
    abstract static class AtomicRequests extends Requests {
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

        /** Value of the number before this request, and after all requests before it. */
        abstract long before(long number);

        /** Adds another number each time. */
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

        /** Swaps, and then tries the same comparison once more, which must not change the number. */
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
}
