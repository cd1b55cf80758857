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

import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.zip.CRC32C;

/**
 * Format of a published record: a number of 8 bytes, which grows by one with each edition, and the content. A copy of
 * an edition that is being replaced has bytes of the old and of the new one, in any mixture: the copy is torn. {@link
 * Check} defines how a reader recognises a torn copy.
 *
 * @param check how a torn copy is recognised
 * @param size  size of the content, in bytes
 */
public record Edition(Check check, int size) {
    /** Result in place of a number: the copy is torn. */
    static final long TORN = -1;

    /** Ways to recognise a torn copy. */
    public enum Check {
        /** The last 4 bytes are the CRC-32C of all bytes before them. */
        CRC,
        /**
         * The record is there twice, and a copy is good if both halves are the same. The first half is replaced first,
         * and copied last. Then two halves that are the same are no mixture, unless the record was replaced twice
         * meanwhile. So this check is for short records.
         */
        TWICE;

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private int single() {
        return Long.BYTES + size;
    }

    /** Length of an edition, in bytes. */
    int length() {
        return check == Check.CRC ? single() + Integer.BYTES : 2 * single();
    }

    /** Length of the part that is replaced first, and copied last: the first half, or the whole record with a CRC. */
    int firstPart() {
        return check == Check.CRC ? length() : single();
    }

    /** Writes an edition over all bytes of a buffer. */
    void write(ByteBuf to, long number) {
        writeOnce(to.clear(), number);
        if (check == Check.CRC) {
            to.writeInt(crc(to, single()));
        } else {
            VarHandle.releaseFence();
            writeOnce(to, number);
        }
    }

    private void writeOnce(ByteBuf to, long number) {
        to.writeLong(number);
        Pattern.write(to, number, size);
    }

    /** Copies an edition that may be replaced meanwhile. The part that is replaced last is copied first. */
    void copy(ByteBuf from, ByteBuf to) {
        int first = firstPart();
        from.getBytes(first, to, first, length() - first);
        VarHandle.acquireFence();
        from.getBytes(0, to, 0, first);
    }

    /** Number of the edition of which a buffer has a copy, or {@link #TORN}. */
    long number(ByteBuf copy) {
        boolean whole = check == Check.CRC ? crc(copy, single()) == copy.getInt(single())
                : copy.slice(0, single()).equals(copy.slice(single(), single()));
        return whole ? copy.getLong(0) : TORN;
    }

    /** Returns whether a copy that is not torn has the content that belongs to its number. */
    boolean isRight(ByteBuf copy) {
        return Pattern.matches(copy.slice(Long.BYTES, size), copy.getLong(0));
    }

    static int crc(ByteBuf bytes, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.nioBuffer(0, length));
        return (int) crc.getValue();
    }

    @Override
    public String toString() {
        return size + " bytes" + (check == Check.CRC ? "" : ", " + check);
    }
}
