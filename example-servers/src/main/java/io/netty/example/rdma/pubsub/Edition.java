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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.example.rdma.util.Pattern;

import java.util.zip.CRC32C;

/**
 * A published record, as bytes: a number of 8 bytes, which grows by one with each edition, the content, and 4 bytes
 * with the CRC-32C of all before. A copy of an edition that is being replaced has some bytes of the old one and some of
 * the new one, in any mixture: it is torn. The CRC tells.
 */
final class Edition {
    /** Instead of a number: the copy is torn. */
    static final long TORN = -1;

    private Edition() {
    }

    /** Length of an edition with so much content, in bytes. */
    static int length(int size) {
        return Long.BYTES + size + Integer.BYTES;
    }

    /** Replaces all bytes of a buffer. */
    static void write(ByteBuf to, long number) {
        int size = to.capacity() - length(0);
        to.clear().writeLong(number);
        Pattern.write(to, number, size);
        to.writeInt(crc(to, Long.BYTES + size));
    }

    /** The number of the edition of which a buffer holds a copy, or {@link #TORN}. */
    static long number(ByteBuf copy) {
        int end = copy.capacity() - Integer.BYTES;
        return crc(copy, end) == copy.getInt(end) ? copy.getLong(0) : TORN;
    }

    /** Returns whether a copy that is not torn has the content that belongs to its number. */
    static boolean isRight(ByteBuf copy) {
        return Pattern.matches(copy.slice(Long.BYTES, copy.capacity() - length(0)), copy.getLong(0));
    }

    static int crc(ByteBuf bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.nioBuffer(0, length));
        return (int) crc.getValue();
    }
}
