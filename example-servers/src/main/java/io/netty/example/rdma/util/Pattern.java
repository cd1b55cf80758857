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
package io.netty.example.rdma.util;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/**
 * The bytes of large bodies. Both ends have the same sequence, so each piece can be checked where it arrives. Its
 * period is a prime number, so that data that a transport repeats or loses by mistake do not match.
 */
public final class Pattern {
    private static final int PERIOD = 65_521;
    private static final byte[] TWICE = twice();

    private Pattern() {
    }

    private static byte[] twice() {
        byte[] once = new byte[PERIOD];
        new Random(PERIOD).nextBytes(once);
        byte[] twice = Arrays.copyOf(once, 2 * PERIOD);
        System.arraycopy(once, 0, twice, PERIOD, PERIOD);
        return twice;
    }

    /** Appends the {@code length} bytes of the sequence that begin at {@code position}. */
    public static void write(ByteBuf target, long position, int length) {
        for (int done = 0; done < length;) {
            int piece = Math.min(PERIOD, length - done);
            target.writeBytes(TWICE, (int) ((position + done) % PERIOD), piece);
            done += piece;
        }
    }

    /** Writes the first {@code length} bytes of the sequence. */
    public static void write(OutputStream target, long length) throws IOException {
        PatternInput input = new PatternInput(length);
        while (!input.isEndOfInput()) {
            ByteBuf chunk = input.readChunk(ByteBufAllocator.DEFAULT);
            try {
                chunk.readBytes(target, chunk.readableBytes());
            } finally {
                chunk.release();
            }
        }
    }

    /** Returns whether all readable bytes are those that begin at {@code position}. */
    public static boolean matches(ByteBuf data, long position) {
        int length = data.readableBytes();
        for (int done = 0; done < length;) {
            int piece = Math.min(PERIOD, length - done);
            ByteBuffer expected = ByteBuffer.wrap(TWICE, (int) ((position + done) % PERIOD), piece);
            // The JDK compares many bytes at a time.
            if (!data.nioBuffer(data.readerIndex() + done, piece).equals(expected)) {
                return false;
            }
            done += piece;
        }
        return true;
    }
}
