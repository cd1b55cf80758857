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

import java.net.SocketAddress;

/**
 * The address of a {@link RdmaMessageChannel}'s queue pair, for connecting without the connection manager. Export it on
 * each side, send it to the other side as a blob in any secure way, and {@code connect} to it there. Immutable.
 *
 * <p>The blob, in network order:
 * <pre>
 *  offset  size
 *       0     4   magic, 0x52444d45
 *       4     1   version, 1
 *       5     1   link layer: 0 InfiniBand, 1 Ethernet
 *       6     1   path MTU: 1 = 256 bytes to 5 = 4096
 *       7     1   reserved, 0
 *       8     4   queue pair number, 24 bits
 *      12     4   first packet sequence number, 24 bits
 *      16     2   LID, 0 on Ethernet
 *      18     1   RDMA reads and atomics that are taken at a time
 *      19     1   RDMA reads and atomics that are under way at a time
 *      20    16   GID
 * </pre>
 */
public final class RdmaEndpoint extends SocketAddress {
    /** The length of a blob in bytes. */
    public static final int BLOB_LENGTH = 36;

    private static final long serialVersionUID = -2735550237421128317L;

    private static final int MAGIC = 0x52444d45;
    private static final int VERSION = 1;
    private static final int GID_LENGTH = 16;

    final boolean ethernet;
    final int mtuCode;
    final int queuePairNumber;
    final int packetSequence;
    final int lid;
    final int responderResources;
    final int initiatorDepth;
    final byte[] gid;

    RdmaEndpoint(boolean ethernet, int mtuCode, int queuePairNumber, int packetSequence, int lid,
                 int responderResources, int initiatorDepth, byte[] gid) {
        this.ethernet = ethernet;
        this.mtuCode = mtuCode;
        this.queuePairNumber = queuePairNumber;
        this.packetSequence = packetSequence;
        this.lid = lid;
        this.responderResources = responderResources;
        this.initiatorDepth = initiatorDepth;
        this.gid = gid;
    }

    /**
     * Reads a blob, and checks all fields, because the source may not be trusted.
     *
     * @param blob {@value #BLOB_LENGTH} bytes are read.
     * @throws IllegalArgumentException that names what is wrong with it.
     */
    public static RdmaEndpoint read(ByteBuf blob) {
        if (blob.readableBytes() < BLOB_LENGTH) {
            throw new IllegalArgumentException("blob of an endpoint: " + blob.readableBytes() + " bytes (expected: " +
                    BLOB_LENGTH + ')');
        }
        int magic = blob.readInt();
        if (magic != MAGIC) {
            throw new IllegalArgumentException("not a blob of an endpoint: it begins with 0x" +
                    Integer.toHexString(magic));
        }
        check("version", blob.readUnsignedByte(), VERSION, VERSION);
        int linkLayer = check("link layer", blob.readUnsignedByte(), 0, 1);
        int mtuCode = check("path MTU", blob.readUnsignedByte(), 1, 5);
        check("reserved", blob.readUnsignedByte(), 0, 0);
        // 0 and 1 are for management, 0xFFFFFF for multicast (IBA vol. 1, 3.5.10).
        int number = check("queue pair number", blob.readInt(), 2, 0xFFFFFE);
        int sequence = check("packet sequence number", blob.readInt(), 0, 0xFFFFFF);
        int lid = blob.readUnsignedShort();
        int responderResources = blob.readUnsignedByte();
        int initiatorDepth = blob.readUnsignedByte();
        byte[] gid = new byte[GID_LENGTH];
        blob.readBytes(gid);
        return new RdmaEndpoint(linkLayer == 1, mtuCode, number, sequence, lid, responderResources, initiatorDepth,
                gid);
    }

    private static int check(String field, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException("blob of an endpoint: " + field + ' ' + value + " (expected: " + min +
                    (min == max ? "" : " to " + max) + ')');
        }
        return value;
    }

    /** Writes the blob, {@value #BLOB_LENGTH} bytes. */
    public void write(ByteBuf out) {
        out.writeInt(MAGIC).writeByte(VERSION).writeByte(ethernet ? 1 : 0).writeByte(mtuCode).writeByte(0)
                .writeInt(queuePairNumber).writeInt(packetSequence).writeShort(lid).writeByte(responderResources)
                .writeByte(initiatorDepth).writeBytes(gid);
    }

    @Override
    public String toString() {
        return "queue pair " + queuePairNumber + (ethernet ? "" : " at LID " + lid);
    }
}
