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
package io.netty.channel.rdma.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The private data of the connection request and reply: 40 bytes, big-endian ({@code struct rs_conn_data} of
 * librdmacm).
 *
 * @param retracts whether the sender of this data understands {@link Immediate#RETRACT}: bit 0 of the first of three
 *         bytes that are reserved, which librdmacm writes as zeros and does not read
 * @param bigEndian whether the sender of this data is a big-endian host, which is the byte order of the target SGL
 *         entries in its memory
 * @param credits data messages that may be sent before its first credit update, 1 to 65535
 * @param sglAddress address of its target SGL
 * @param sglKey rkey of its target SGL
 * @param sglEntries number of entries of its target SGL, 2 to 65535; entry 0 stands for the buffer below
 * @param bufferAddress address of its first receive buffer
 * @param bufferKey rkey of its first receive buffer
 * @param bufferLength length in bytes of its first receive buffer, 1 to 2^32 - 1
 */
public record ConnectionData(boolean bigEndian, boolean retracts, int credits, long sglAddress, int sglKey,
                             int sglEntries, long bufferAddress, int bufferKey, long bufferLength) {
    /** Bytes on the wire. */
    public static final int SIZE = 40;
    public static final int VERSION = 1;

    static final boolean HOST_BIG_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;

    private static final int FLAG_BIG_ENDIAN = 1;
    private static final int EXTENSION_RETRACT = 1 << 24;
    private static final int MAX_SGL_ENTRIES = 0xFFFF;

    /**
     * Reads and checks the peer's private data. Bytes after the first {@value #SIZE} are ignored, because connection
     * managers pad private data. Unknown flags, the reserved bytes, and the number of iomap slots are ignored, too.
     *
     * @param privateData between position and limit, not changed; null stands for no private data
     * @throws StreamProtocolException if this is not the greeting of an rsockets version 1 peer, or a value is out of
     *         its range
     */
    public static ConnectionData read(ByteBuffer privateData) throws StreamProtocolException {
        if (privateData == null || privateData.remaining() < SIZE) {
            throw new StreamProtocolException("the peer is not an rsockets peer: it sent " +
                    (privateData == null ? 0 : privateData.remaining()) + " bytes of connection data where " + SIZE +
                    " are needed");
        }
        // duplicate() is always big-endian, which is the order on the wire.
        ByteBuffer in = privateData.duplicate();
        int version = in.get() & 0xFF;
        if (version != VERSION) {
            throw new StreamProtocolException("the peer is not an rsockets peer, or of another version: its " +
                    "connection data says version " + version + ", this side speaks version " + VERSION);
        }
        boolean bigEndian = (in.get() & FLAG_BIG_ENDIAN) != 0;
        int credits = in.getShort() & 0xFFFF;
        boolean retracts = (in.getInt() & EXTENSION_RETRACT) != 0;
        long sglAddress = in.getLong();
        int sglKey = in.getInt();
        long sglEntries = in.getInt() & 0xFFFFFFFFL;
        long bufferAddress = in.getLong();
        int bufferKey = in.getInt();
        long bufferLength = in.getInt() & 0xFFFFFFFFL;

        if (credits == 0) {
            throw new StreamProtocolException("the peer's connection data grants no credits");
        }
        if (sglEntries < 2 || sglEntries > MAX_SGL_ENTRIES) {
            throw new StreamProtocolException("the peer's connection data offers a target SGL of " + sglEntries +
                    " entries (expected: 2 to " + MAX_SGL_ENTRIES + ')');
        }
        if (wraps(sglAddress, sglEntries * TargetSgl.ENTRY_SIZE)) {
            throw new StreamProtocolException("the peer's target SGL goes past the end of the address space: " +
                    sglEntries + " entries at 0x" + Long.toHexString(sglAddress));
        }
        checkBuffer(bufferAddress, bufferLength);
        return new ConnectionData(bigEndian, retracts, credits, sglAddress, sglKey, (int) sglEntries, bufferAddress,
                bufferKey, bufferLength);
    }

    /**
     * Writes the {@value #SIZE} bytes, with zeros in the reserved bytes and in the number of iomap slots.
     *
     * @param out its position advances by {@value #SIZE}; its byte order is ignored and restored
     */
    public void write(ByteBuffer out) {
        ByteOrder order = out.order();
        out.order(ByteOrder.BIG_ENDIAN);
        out.put((byte) VERSION).put((byte) (bigEndian ? FLAG_BIG_ENDIAN : 0)).putShort((short) credits);
        out.putInt(retracts ? EXTENSION_RETRACT : 0);
        out.putLong(sglAddress).putInt(sglKey).putInt(sglEntries);
        out.putLong(bufferAddress).putInt(bufferKey).putInt((int) bufferLength);
        out.order(order);
    }

    /** @throws StreamProtocolException if no byte could be written into such a buffer */
    public static void checkBuffer(long address, long length) throws StreamProtocolException {
        if (length == 0) {
            throw new StreamProtocolException("the peer advertised an empty receive buffer");
        }
        if (wraps(address, length)) {
            throw new StreamProtocolException("the peer advertised a receive buffer that goes past the end of the " +
                    "address space: " + length + " bytes at 0x" + Long.toHexString(address));
        }
    }

    /** Returns whether the last of {@code length} (at least 1) bytes has a lower unsigned address than the first. */
    private static boolean wraps(long address, long length) {
        return Long.compareUnsigned(address + (length - 1), address) < 0;
    }
}
