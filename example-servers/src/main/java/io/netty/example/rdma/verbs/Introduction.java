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
import io.netty.channel.rdma.message.RemoteMemory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * First message of an end: the program that it runs, and the memory that the peer may access.
 *
 * <p>In network order:
 * <pre>
 *  offset  size
 *       0     4   magic, 0x52444d49
 *       4     1   version, 1
 *       5     1   number of pieces of memory
 *       6     2   length n of the text
 *       8     n   text of the program, ASCII
 *     8+n  28 each blobs of {@link RemoteMemory}
 * </pre>
 *
 * @param program the program and its settings, the same text at both ends, also for users
 * @param memory  memory of this end, in the order on which the program has agreed
 */
public record Introduction(String program, List<RemoteMemory> memory) {
    /** Maximum length. The receive buffer of the first message must be as long. */
    public static final int MAX_LENGTH = 512;

    private static final int MAGIC = 0x52444d49;
    private static final int VERSION = 1;
    private static final int HEADER_LENGTH = 8;

    /** @throws IllegalArgumentException if the message is longer than {@link #MAX_LENGTH} */
    public Introduction {
        memory = List.copyOf(memory);
        int length = HEADER_LENGTH + program.length() + memory.size() * RemoteMemory.BLOB_LENGTH;
        if (length > MAX_LENGTH) {
            throw new IllegalArgumentException("introduction of " + length + " bytes (expected: at most " + MAX_LENGTH
                    + ')');
        }
    }

    /**
     * Reads an introduction, and checks all of its fields: it may come from any sender.
     *
     * @param from all of its readable bytes are read
     * @throws IllegalArgumentException if the introduction is wrong; the message says why
     */
    public static Introduction read(ByteBuf from) {
        if (from.readableBytes() < HEADER_LENGTH || from.readInt() != MAGIC) {
            throw new IllegalArgumentException("the peer does not introduce itself: it is no program of this package");
        }
        int version = from.readUnsignedByte();
        if (version != VERSION) {
            throw new IllegalArgumentException("the peer's introduction is of version " + version + " (expected: "
                    + VERSION + "): use the same release at both ends");
        }
        int count = from.readUnsignedByte();
        int textLength = from.readUnsignedShort();
        if (from.readableBytes() != textLength + count * RemoteMemory.BLOB_LENGTH) {
            throw new IllegalArgumentException("the peer's introduction has " + from.readableBytes()
                    + " bytes after its header (expected: " + textLength + " of text and " + count
                    + " pieces of memory)");
        }
        String text = from.readCharSequence(textLength, StandardCharsets.US_ASCII).toString();
        return new Introduction(text, readMemory(from));
    }

    /**
     * Reads blobs of memory to the end of a buffer.
     *
     * @throws IllegalArgumentException if a blob is wrong; the message says why
     */
    static List<RemoteMemory> readMemory(ByteBuf from) {
        List<RemoteMemory> memory = new ArrayList<>();
        while (from.isReadable()) {
            memory.add(RemoteMemory.read(from));
        }
        return memory;
    }

    void writeMemory(ByteBuf to) {
        memory.forEach(piece -> piece.write(to));
    }

    /** Returns the same introduction with other memory. */
    Introduction with(List<RemoteMemory> other) {
        return new Introduction(program, other);
    }

    /** Returns the same introduction with each piece of memory replaced. */
    public Introduction map(UnaryOperator<RemoteMemory> replacement) {
        return with(memory.stream().map(replacement).toList());
    }

    /** Writes at most {@link #MAX_LENGTH} bytes. */
    public void write(ByteBuf to) {
        to.writeInt(MAGIC).writeByte(VERSION).writeByte(memory.size()).writeShort(program.length());
        to.writeCharSequence(program, StandardCharsets.US_ASCII);
        writeMemory(to);
    }

    /**
     * Returns a piece of the memory of that end.
     *
     * @param least minimum length in bytes
     * @throws IllegalArgumentException if there is none with that index, or it is too short
     */
    public RemoteMemory memory(int index, long least) {
        if (index >= memory.size() || memory.get(index).length() < least) {
            throw new IllegalArgumentException("the peer gives access to " + memory + " (expected: at least " + least
                    + " bytes at index " + index + ')');
        }
        return memory.get(index);
    }

    /**
     * Checks that the other end runs the same program with the same settings.
     *
     * @throws IllegalArgumentException if not
     */
    void checkPeer(Introduction peer) {
        if (!peer.program.equals(program)) {
            throw new IllegalArgumentException("the peer was started for \"" + printable(peer.program)
                    + "\", this end for \"" + program + "\": give both the same options");
        }
    }

    private static String printable(String text) {
        return text.replaceAll("[^ -~]", "?");
    }
}
