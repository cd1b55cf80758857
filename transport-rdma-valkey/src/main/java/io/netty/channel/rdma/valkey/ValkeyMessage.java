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
package io.netty.channel.rdma.valkey;

import java.nio.ByteBuffer;

/**
 * Control messages of the protocol: {@value #SIZE} bytes each, big-endian, reserved bytes zero.
 */
final class ValkeyMessage {
    /** Bytes of each message. */
    static final int SIZE = 32;

    /** A client asks for the features that the server offers; the server answers with the same number. */
    static final int GET_FEATURES = 0;
    /** A client enables some of these features. */
    static final int SET_FEATURES = 1;
    /** A sign of life. */
    static final int KEEP_ALIVE = 2;
    /** The new memory to which the receiver of the message writes. */
    static final int REGISTER_MEMORY = 3;

    private static final int OPCODE = 0;
    private static final int SELECT = 2;
    private static final int FEATURES = 24;
    private static final int ADDRESS = 16;
    private static final int LENGTH = 24;
    private static final int KEY = 28;

    private final byte[] bytes = new byte[SIZE];
    /** A wrapped buffer is big-endian, as the protocol is. */
    private final ByteBuffer fields = ByteBuffer.wrap(bytes);

    /** Copies a message that has arrived, because the peer can write to the receive memory at any time. */
    ValkeyMessage read(ByteBuffer from, int index) {
        from.get(index, bytes);
        return this;
    }

    ValkeyMessage keepAlive() {
        return begin(KEEP_ALIVE);
    }

    /** {@link #GET_FEATURES} or {@link #SET_FEATURES}. */
    ValkeyMessage features(int opcode, int select, long features) {
        begin(opcode).fields.putShort(SELECT, (short) select).putLong(FEATURES, features);
        return this;
    }

    ValkeyMessage registerMemory(long address, int length, int key) {
        begin(REGISTER_MEMORY).fields.putLong(ADDRESS, address).putInt(LENGTH, length).putInt(KEY, key);
        return this;
    }

    private ValkeyMessage begin(int opcode) {
        fields.putLong(0, 0).putLong(8, 0).putLong(16, 0).putLong(24, 0).putShort(OPCODE, (short) opcode);
        return this;
    }

    byte[] bytes() {
        return bytes;
    }

    /** 0 to 65535. */
    int opcode() {
        return fields.getShort(OPCODE) & 0xFFFF;
    }

    /** 0 to 65535. */
    int select() {
        return fields.getShort(SELECT) & 0xFFFF;
    }

    long features() {
        return fields.getLong(FEATURES);
    }

    long address() {
        return fields.getLong(ADDRESS);
    }

    /** 0 to 2^32 - 1. */
    long length() {
        return fields.getInt(LENGTH) & 0xFFFFFFFFL;
    }

    int key() {
        return fields.getInt(KEY);
    }
}
