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
package io.netty.channel.rdma;

import java.util.Arrays;

/**
 * The input of a fuzz target, read from the front; behind its end all is zero. A target is a class with a method
 * {@code fuzzerTestOneInput(byte[])}, which fails for what must not be by throwing anything.
 */
public final class FuzzInput {
    private final byte[] data;
    private int index;

    public FuzzInput(byte[] data) {
        this.data = data;
    }

    public boolean hasMore() {
        return index < data.length;
    }

    /** 0 to 255. */
    public int u8() {
        return hasMore() ? data[index++] & 0xFF : 0;
    }

    public int u16() {
        return u8() | u8() << 8;
    }

    public int i32() {
        return u16() | u16() << 16;
    }

    public long i64() {
        return i32() & 0xFFFFFFFFL | (long) i32() << 32;
    }

    public boolean bit() {
        return (u8() & 1) != 0;
    }

    /** 0 to {@code limit - 1}, which is below 65,536. */
    public int below(int limit) {
        return limit <= 256 ? u8() % limit : u16() % limit;
    }

    public byte[] rest() {
        byte[] rest = Arrays.copyOfRange(data, Math.min(index, data.length), data.length);
        index = data.length;
        return rest;
    }

    /** Overwrites bytes: a count, and for each of so many an index and a value. */
    public void patch(byte[] bytes) {
        for (int i = u8() % 8; i > 0; i--) {
            int at = below(bytes.length);
            bytes[at] = (byte) u8();
        }
    }

    public static void check(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException(what);
        }
    }
}
