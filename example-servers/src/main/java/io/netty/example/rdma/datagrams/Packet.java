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
package io.netty.example.rdma.datagrams;

import io.netty.buffer.ByteBuf;

import java.util.zip.CRC32C;

/**
 * A datagram of these programs. In network order:
 * <pre>
 *  offset  size
 *       0     4   magic, 0x4d435053
 *       4     1   version, 1
 *       5     1   {@link Type}
 *       6     2   0
 *       8     8   run: a random number of the publisher, or of the client
 *      16     8   number
 *      24     4   CRC-32C of all but these 4 bytes
 *      28         data
 * </pre>
 *
 * @param number number of the data, from 0; in END, how many there were; in REPORT and LEFT, how many have arrived
 * @param data   a part of the datagram that was read
 */
record Packet(Type type, long run, long number, ByteBuf data) {
    static final int HEADER_LENGTH = 28;
    private static final int MAGIC = 0x4d435053;
    private static final int VERSION = 1;
    private static final int CHECKSUM = 24;

    enum Type {
        /** To the group: asks subscribers to answer, until enough have answered. */
        CALL,
        /** To the publisher: a subscriber's answer. */
        HERE,
        /** To the group. */
        DATA,
        /** To the group or the server: no more data, until all have reported. Also to a subscriber that has left. */
        END,
        /** To the publisher or the client: how many data have arrived. */
        REPORT,
        /** To the publisher: how many had arrived when the subscriber left the group. Repeated until an END comes. */
        LEFT,
        /** To the server. */
        PING,
        /** To the client, with the data of the ping. */
        PONG
    }

    void write(ByteBuf to) {
        int start = to.writerIndex();
        to.writeInt(MAGIC).writeByte(VERSION).writeByte(type.ordinal()).writeShort(0).writeLong(run).writeLong(number)
                .writeInt(0).writeBytes(data, data.readerIndex(), data.readableBytes());
        to.setInt(start + CHECKSUM, checksum(to, start, to.writerIndex() - start));
    }

    /**
     * Reads a datagram, and checks all its bytes.
     *
     * @throws IllegalArgumentException if the datagram is wrong; the message says why
     */
    static Packet read(ByteBuf from) {
        int start = from.readerIndex();
        int length = from.readableBytes();
        check(length >= HEADER_LENGTH, "length", length);
        check(from.getInt(start) == MAGIC, "magic", from.getInt(start));
        check(from.getByte(start + 4) == VERSION, "version", from.getByte(start + 4));
        int type = from.getUnsignedByte(start + 5);
        check(type < Type.values().length, "type", type);
        int checksum = from.getInt(start + CHECKSUM);
        check(checksum == checksum(from, start, length), "checksum", checksum);
        long number = from.getLong(start + 16);
        check(number >= 0, "number", number);
        return new Packet(Type.values()[type], from.getLong(start + 8), number,
                from.slice(start + HEADER_LENGTH, length - HEADER_LENGTH));
    }

    private static void check(boolean right, String what, long value) {
        if (!right) {
            throw new IllegalArgumentException("not a datagram of these programs, or a damaged one: " + what + ' ' +
                    value);
        }
    }

    private static int checksum(ByteBuf buf, int start, int length) {
        CRC32C crc = new CRC32C();
        crc.update(buf.nioBuffer(start, CHECKSUM));
        crc.update(buf.nioBuffer(start + HEADER_LENGTH, length - HEADER_LENGTH));
        return (int) crc.getValue();
    }
}
