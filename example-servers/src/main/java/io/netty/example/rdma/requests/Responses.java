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
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/**
 * The responder's part of an operation.
 */
abstract class Responses implements AutoCloseable {
    /** Permissions of the requester on the connection: no more than it needs. */
    Set<RdmaPermission> permissions() {
        return Set.of();
    }

    /** Exports the memory that the requester needs, if any. */
    List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of();
    }

    /** Prepares the memory for {@code count} requests from {@code first} on. The requests before are done. */
    void prepare(long first, int count) {
        // There may be nothing to be prepared.
    }

    /** Returns whether each request arrives as a message. */
    boolean areMessages() {
        return false;
    }

    /** Returns whether the program posts its own receives, for messages in pieces: see {@link ListReceiver}. */
    boolean areInLists() {
        return false;
    }

    /** Returns whether the message of a request is right. */
    boolean isRight(long number, RdmaReceive message) {
        throw new IllegalStateException("not expected: " + message);
    }

    /** Number of these requests, all of which are done, that have left wrong data in the memory. */
    int wrong(long first, int count) {
        return 0;
    }

    @Override
    public void close() {
        // There may be no memory.
    }

    /** Has blocks that the requester reads: other ones in each round. */
    static class ReadResponses extends Responses {
        private static final Set<RdmaPermission> PERMISSIONS = Set.of(RdmaPermission.REMOTE_READ);

        private final int size;
        Blocks blocks;

        ReadResponses(int size) {
            this.size = size;
        }

        @Override
        final Set<RdmaPermission> permissions() {
            return PERMISSIONS;
        }

        @Override
        final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            blocks = new Blocks(size, PERMISSIONS);
            return blocks.export(channel);
        }

        @Override
        void prepare(long first, int count) {
            for (int i = 0; i < count; i++) {
                blocks.fill(first + i);
            }
        }

        @Override
        public final void close() {
            if (blocks != null) {
                blocks.close();
            }
        }
    }

    /**
     * Has memory for blocks that the requester writes. It checks them when it is told to: by the message after a round,
     * or by the immediate data of each write.
     */
    static class WriteResponses extends Responses {
        private final int size;
        private final boolean immediate;
        Blocks blocks;

        WriteResponses(int size, boolean immediate) {
            this.size = size;
            this.immediate = immediate;
        }

        @Override
        final Set<RdmaPermission> permissions() {
            return Set.of(RdmaPermission.REMOTE_WRITE);
        }

        @Override
        final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            blocks = new Blocks(size, EnumSet.of(RdmaPermission.REMOTE_WRITE, RdmaPermission.LOCAL_WRITE));
            return blocks.export(channel);
        }

        @Override
        final boolean areMessages() {
            return immediate;
        }

        @Override
        boolean isRight(long number, RdmaReceive message) {
            return message.hasImmediate() && message.immediate() == (int) number && message.length() == size
                    && blocks.matches(number);
        }

        @Override
        int wrong(long first, int count) {
            int wrong = 0;
            for (int i = 0; i < count; i++) {
                if (!blocks.matches(first + i)) {
                    wrong++;
                }
            }
            return wrong;
        }

        @Override
        public final void close() {
            if (blocks != null) {
                blocks.close();
            }
        }
    }

    /** Receives blocks as messages. */
    static final class SendResponses extends Responses {
        private final int size;
        private final boolean immediate;
        private final boolean inLists;

        SendResponses(int size, boolean immediate, boolean inLists) {
            this.size = size;
            this.immediate = immediate;
            this.inLists = inLists;
        }

        @Override
        boolean areMessages() {
            return true;
        }

        @Override
        boolean areInLists() {
            return inLists;
        }

        @Override
        boolean isRight(long number, RdmaReceive message) {
            return message.hasImmediate() == immediate && (!immediate || message.immediate() == (int) number)
                    && Blocks.matches(message.content(), number, size);
        }
    }

    /** Has a number of 8 bytes, in the byte order of the host. */
    static class AtomicResponses extends Responses {
        private final LongUnaryOperator expected;
        private RegisteredMemory memory;

        /** @param expected returns the value of the number after a number of requests */
        AtomicResponses(LongUnaryOperator expected) {
            this.expected = expected;
        }

        @Override
        final Set<RdmaPermission> permissions() {
            return Set.of(RdmaPermission.REMOTE_ATOMIC);
        }

        @Override
        final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            memory = RegisteredMemory.allocate(Long.BYTES,
                    EnumSet.of(RdmaPermission.REMOTE_ATOMIC, RdmaPermission.LOCAL_WRITE));
            return List.of(channel.export(memory));
        }

        ByteBuf buf() {
            return memory.buf();
        }

        @Override
        final int wrong(long first, int count) {
            long value = buf().nioBuffer(0, Long.BYTES).order(ByteOrder.nativeOrder()).getLong(0);
            return value == expected.applyAsLong(first + count) ? 0 : 1;
        }

        @Override
        public final void close() {
            if (memory != null) {
                memory.close();
            }
        }
    }
}
