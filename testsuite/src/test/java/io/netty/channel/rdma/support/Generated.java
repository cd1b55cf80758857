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
package io.netty.channel.rdma.support;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;

import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * Bytes that depend on their position in a stream alone, as {@code generate} of {@code src/test/c/stream.c} makes them,
 * and a checksum that both languages have.
 */
public final class Generated {
    private final CRC32 crc = new CRC32();
    private long length;

    public static void fill(byte[] bytes, long position) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) ((int) (position + i) * 0x9E3779B1 >>> 24);
        }
    }

    public static ByteBuf bytes(ByteBufAllocator alloc, long position, int length) {
        byte[] bytes = new byte[length];
        fill(bytes, position);
        return alloc.directBuffer(length).writeBytes(bytes);
    }

    /** Returns whether the readable bytes are those from a position on; the buffer stays as it is. */
    public static boolean matches(ByteBuf buf, long position) {
        byte[] expected = new byte[buf.readableBytes()];
        fill(expected, position);
        // At once, because the leak detector records every access.
        return Arrays.equals(ByteBufUtil.getBytes(buf), expected);
    }

    /** Adds to the checksum what was received; the buffer stays as it is. */
    public void add(ByteBuf buf) {
        // At once, because the leak detector records every access.
        crc.update(ByteBufUtil.getBytes(buf));
        length += buf.readableBytes();
    }

    public long length() {
        return length;
    }

    /** Number of bytes and their checksum, as the C program prints them. */
    @Override
    public String toString() {
        return String.format("%d %08x", length, crc.getValue());
    }

    /** Value of {@link #toString()} for the first so many bytes. */
    public static String sum(long length) {
        Generated sum = new Generated();
        byte[] part = new byte[1 << 16];
        while (sum.length < length) {
            fill(part, sum.length);
            int count = (int) Math.min(part.length, length - sum.length);
            sum.crc.update(part, 0, count);
            sum.length += count;
        }
        return sum.toString();
    }
}
