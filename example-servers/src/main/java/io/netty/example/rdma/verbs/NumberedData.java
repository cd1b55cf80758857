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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.example.rdma.util.Pattern;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.EnumSet;

/**
 * Data for numbered messages. Each message differs from those before it in every few bytes, and no buffer has to be
 * filled for it. The messages are pieces of one block of the {@link Pattern} in registered memory.
 */
public final class NumberedData implements AutoCloseable {
    /** Number of different messages. A prime, so that errors at multiples of powers of two are noticed. */
    private static final int MESSAGES = 61;
    /** Distance of two messages: a cache line, at which copies are fastest. */
    private static final int STEP = 64;

    private final RegisteredMemory memory;
    private final ByteBuf[] messages = new ByteBuf[MESSAGES];

    /** @param size size of each message in bytes */
    public NumberedData(int size) throws IOException {
        int length = Math.addExact(size, (MESSAGES - 1) * STEP);
        memory = RegisteredMemory.allocate(length, EnumSet.noneOf(RdmaPermission.class));
        Pattern.write(memory.buf().clear(), 0, length);
        for (int i = 0; i < MESSAGES; i++) {
            messages[i] = memory.buf().slice(i * STEP, size);
        }
    }

    private static int index(long number) {
        return (int) (number % MESSAGES);
    }

    /** Returns a message. It belongs to this object, and must not be changed, nor must its indexes. */
    public ByteBuf message(long number) {
        return messages[index(number)];
    }

    /** Returns the last 8 bytes of a message, in the host's byte order. Any 61 messages in a row differ. */
    public long end(long number) {
        ByteBuf message = message(number);
        return message.nioBuffer().order(ByteOrder.nativeOrder()).getLong(message.capacity() - Long.BYTES);
    }

    /** Returns whether all readable bytes are those of the message. */
    public static boolean matches(ByteBuf data, long number) {
        return Pattern.matches(data, (long) index(number) * STEP);
    }

    @Override
    public void close() {
        memory.close();
    }
}
