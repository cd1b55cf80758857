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

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongUnaryOperator;

/**
 * Has a number of 8 bytes, in the byte order of the host.
 */
class AtomicResponses extends Responses {
    private final LongUnaryOperator expected;
    private RegisteredMemory memory;

    /** @param expected what the number is after that many requests. */
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
