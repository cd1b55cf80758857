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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.PlatformDependent;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Memory whose address C gets, and the layout of the C structs that Java reads and writes in it. The garbage collector
 * frees the memory, so the address is valid only while the object is reachable.
 * <p>
 * Fields are accessed by address if Netty has {@code sun.misc.Unsafe}. An access by {@link ByteBuffer} is a dozen
 * calls. A short message has 26 accesses, a sixth of its time until they are compiled. Offsets are checked only by
 * assertions.
 */
final class NativeMemory {
    /** struct ibv_sge */
    static final int SGE_SIZE = 16;
    static final int SGE_ADDR = 0;
    static final int SGE_LENGTH = 8;
    static final int SGE_LKEY = 12;

    /** The offsets of the fields with which struct ibv_send_wr and struct ibv_recv_wr begin. */
    static final int WR_ID = 0;
    static final int WR_NEXT = 8;
    static final int WR_SG_LIST = 16;
    static final int WR_NUM_SGE = 24;

    /** struct ibv_send_wr */
    static final int SEND_WR_SIZE = 128;
    static final int SEND_WR_OPCODE = 28;
    static final int SEND_WR_FLAGS = 32;
    static final int SEND_WR_IMM = 36;
    static final int SEND_WR_REMOTE_ADDR = 40;
    static final int SEND_WR_RKEY = 48;
    static final int SEND_WR_COMPARE_ADD = 48;
    static final int SEND_WR_SWAP = 56;
    static final int SEND_WR_ATOMIC_RKEY = 64;
    static final int SEND_WR_AH = 40;
    static final int SEND_WR_REMOTE_QPN = 48;
    static final int SEND_WR_REMOTE_QKEY = 52;
    static final int SEND_WR_BIND_WINDOW = 80;
    static final int SEND_WR_BIND_KEY = 88;
    static final int SEND_WR_BIND_REGION = 96;
    static final int SEND_WR_BIND_ADDR = 104;
    static final int SEND_WR_BIND_LENGTH = 112;
    static final int SEND_WR_BIND_ACCESS = 120;

    /** struct ibv_recv_wr */
    static final int RECV_WR_SIZE = 32;

    /** struct ibv_wc */
    static final int WC_SIZE = 48;
    static final int WC_WR_ID = 0;
    static final int WC_STATUS = 8;
    static final int WC_OPCODE = 12;
    static final int WC_VENDOR_ERR = 16;
    static final int WC_BYTE_LEN = 20;
    static final int WC_IMM = 24;
    static final int WC_QP_NUM = 28;
    static final int WC_SRC_QP = 32;
    static final int WC_FLAGS = 36;
    static final int WC_SLID = 42;
    static final int WC_SL = 44;

    private static final boolean UNSAFE = PlatformDependent.hasUnsafe();

    private final ByteBuffer buffer;
    private final long address;

    NativeMemory(int bytes) {
        buffer = allocate(bytes);
        address = address(buffer);
    }

    static ByteBuffer allocate(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    long address() {
        return address;
    }

    byte get(int offset) {
        return buffer.get(offset);
    }

    short getShort(int offset) {
        return buffer.getShort(offset);
    }

    int getInt(int offset) {
        assert isInside(offset, Integer.BYTES);
        return UNSAFE ? PlatformDependent.getInt(address + offset) : buffer.getInt(offset);
    }

    long getLong(int offset) {
        assert isInside(offset, Long.BYTES);
        return UNSAFE ? PlatformDependent.getLong(address + offset) : buffer.getLong(offset);
    }

    void putInt(int offset, int value) {
        assert isInside(offset, Integer.BYTES);
        if (UNSAFE) {
            PlatformDependent.putInt(address + offset, value);
        } else {
            buffer.putInt(offset, value);
        }
    }

    void putLong(int offset, long value) {
        assert isInside(offset, Long.BYTES);
        if (UNSAFE) {
            PlatformDependent.putLong(address + offset, value);
        } else {
            buffer.putLong(offset, value);
        }
    }

    void put(int offset, NativeMemory from, int fromOffset, int length) {
        buffer.put(offset, from.buffer, fromOffset, length);
    }

    private boolean isInside(int offset, int length) {
        return offset >= 0 && offset <= buffer.capacity() - length;
    }

    /** Converts a 32-bit value between host order and network order, which verbs.h uses for immediate data. */
    static int networkOrder(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
    }

    /**
     * Refuses a native library whose headers have another layout of the structs, which would corrupt memory.
     *
     * @throws IllegalStateException naming the first difference.
     */
    static void checkLayout() {
        int[] expected = {
                SGE_SIZE, SGE_ADDR, SGE_LENGTH, SGE_LKEY,
                SEND_WR_SIZE, WR_ID, WR_NEXT, WR_SG_LIST, WR_NUM_SGE, SEND_WR_OPCODE,
                SEND_WR_FLAGS, SEND_WR_IMM, SEND_WR_REMOTE_ADDR, SEND_WR_RKEY,
                SEND_WR_REMOTE_ADDR, SEND_WR_COMPARE_ADD, SEND_WR_SWAP, SEND_WR_ATOMIC_RKEY,
                SEND_WR_AH, SEND_WR_REMOTE_QPN, SEND_WR_REMOTE_QKEY, SEND_WR_IMM,
                SEND_WR_BIND_WINDOW, SEND_WR_BIND_KEY, SEND_WR_BIND_REGION, SEND_WR_BIND_ADDR, SEND_WR_BIND_LENGTH,
                SEND_WR_BIND_ACCESS,
                RECV_WR_SIZE, WR_ID, WR_NEXT, WR_SG_LIST, WR_NUM_SGE,
                WC_SIZE, WC_WR_ID, WC_STATUS, WC_OPCODE, WC_VENDOR_ERR, WC_BYTE_LEN, WC_IMM, WC_IMM, WC_QP_NUM,
                WC_FLAGS, WC_SRC_QP, WC_SLID, WC_SL
        };
        int[] actual = layout0();
        if (actual.length != expected.length) {
            throw new IllegalStateException("native library does not match these classes: " + actual.length +
                    " layout entries instead of " + expected.length);
        }
        for (int i = 0; i < expected.length; i++) {
            if (actual[i] != expected[i]) {
                throw new IllegalStateException("native library does not match these classes: layout entry " + i +
                        " is " + actual[i] + " instead of " + expected[i]);
            }
        }
    }

    /**
     * The address of a direct buffer's byte 0.
     *
     * @throws IllegalArgumentException for a heap buffer.
     */
    static long address(ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("buffer has no address: it is not direct");
        }
        return address0(buffer);
    }

    /** The text of {@code strerror(3)}. */
    static String errorText(int errno) {
        return errorText0(errno);
    }

    private static native int[] layout0();

    private static native long address0(ByteBuffer buffer);

    private static native String errorText0(int errno);
}
