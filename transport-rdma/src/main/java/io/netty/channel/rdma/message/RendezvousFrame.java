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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static io.netty.channel.rdma.RdmaPermission.REMOTE_READ;

/**
 * A message of {@link RdmaRendezvousHandler} on the wire: docs/rendezvous.md. This class checks all fields of the peer
 * that can be checked without earlier messages. Immutable.
 */
final class RendezvousFrame {
    static final int HEADER_LENGTH = 16;
    static final int PIECE_LENGTH = 24;
    static final int MAX_PIECES = 16;
    /** The longest frame other than a message. */
    static final int MAX_ANNOUNCEMENT = HEADER_LENGTH + MAX_PIECES * PIECE_LENGTH;

    static final int MESSAGE = 1;
    static final int ANNOUNCEMENT = 2;
    static final int ANSWER = 3;
    static final int CANCELLATION = 4;

    /** Answers: the receiver has read the bytes, does not want them, or knows that the sender has withdrawn them. */
    static final int READ = 0;
    static final int REFUSED = 1;
    static final int CANCELLED = 2;

    private static final int VERSION = 1;

    final int type;
    final int id;
    /** The length of the message, or the answer. */
    final long value;
    /** The message's memory, of an announcement. */
    final List<RemoteMemory> pieces;

    private RendezvousFrame(int type, int id, long value, List<RemoteMemory> pieces) {
        this.type = type;
        this.id = id;
        this.value = value;
        this.pieces = pieces;
    }

    static void writeHeader(ByteBuf out, int type, int id, long value) {
        writeHeader(out, type, 0, id, value);
    }

    private static void writeHeader(ByteBuf out, int type, int count, int id, long value) {
        out.writeByte(VERSION).writeByte(type).writeShort(count).writeInt(id).writeLong(value);
    }

    /** Returns a frame of a header alone. */
    static RdmaSend control(ByteBufAllocator alloc, int type, int id, long value) {
        ByteBuf frame = alloc.buffer(HEADER_LENGTH);
        try {
            writeHeader(frame, type, id, value);
            return new RdmaSend(frame);
        } catch (OutOfMemoryError e) {
            frame.release();
            throw e;
        }
    }

    /** @param pieces at least one, and at most {@link #MAX_PIECES}. */
    static void writeAnnouncement(ByteBuf out, int id, List<RemoteMemory> pieces) {
        long length = 0;
        for (RemoteMemory piece : pieces) {
            length += piece.length();
        }
        writeHeader(out, ANNOUNCEMENT, pieces.size(), id, length);
        for (RemoteMemory piece : pieces) {
            out.writeLong(piece.address()).writeLong(piece.length()).writeInt(piece.key()).writeInt(0);
        }
    }

    /**
     * Reads a frame up to the bytes of a message.
     *
     * @throws IllegalArgumentException that says what is wrong with it.
     */
    static RendezvousFrame read(ByteBuf in) {
        if (in.readableBytes() < HEADER_LENGTH) {
            throw new IllegalArgumentException(in.readableBytes() + " bytes (expected: a header of " + HEADER_LENGTH +
                    ')');
        }
        int version = in.readUnsignedByte();
        int type = in.readUnsignedByte();
        int count = in.readUnsignedShort();
        int id = in.readInt();
        long value = in.readLong();
        if (version != VERSION) {
            throw new IllegalArgumentException("version " + version + " (expected: " + VERSION + ')');
        }
        boolean announcement = type == ANNOUNCEMENT;
        if (announcement ? count < 1 || count > MAX_PIECES : count != 0) {
            throw new IllegalArgumentException(count + " pieces in a frame of type " + type);
        }
        if (type != MESSAGE && in.readableBytes() != count * PIECE_LENGTH) {
            throw new IllegalArgumentException(in.readableBytes() + " bytes in a frame of type " + type + " with " +
                    count + " pieces");
        }
        switch (type) {
        case MESSAGE:
            if (id != 0 || value != in.readableBytes()) {
                throw new IllegalArgumentException("a message of " + in.readableBytes() + " bytes as number " + id +
                        " of " + value);
            }
            break;
        case ANNOUNCEMENT:
            return new RendezvousFrame(type, id, value, pieces(in, count, value));
        case ANSWER:
            if (value < READ || value > CANCELLED) {
                throw new IllegalArgumentException("answer " + value);
            }
            break;
        case CANCELLATION:
            if (value != 0) {
                throw new IllegalArgumentException("a cancellation with " + value);
            }
            break;
        default:
            throw new IllegalArgumentException("type " + type);
        }
        return new RendezvousFrame(type, id, value, List.of());
    }

    private static List<RemoteMemory> pieces(ByteBuf in, int count, long length) {
        List<RemoteMemory> pieces = new ArrayList<>(count);
        long left = length;
        for (int i = 0; i < count; i++) {
            RemoteMemory piece = new RemoteMemory(in.readLong(), in.readLong(), in.readInt(), EnumSet.of(REMOTE_READ));
            if (in.readInt() != 0) {
                throw new IllegalArgumentException("reserved bits of piece " + i);
            }
            // Each is positive, so this can't overflow.
            left = piece.length() > left ? -1 : left - piece.length();
            if (left < 0) {
                break;
            }
            pieces.add(piece);
        }
        if (left != 0) {
            throw new IllegalArgumentException("pieces that are not of " + length + " bytes");
        }
        return pieces;
    }
}
