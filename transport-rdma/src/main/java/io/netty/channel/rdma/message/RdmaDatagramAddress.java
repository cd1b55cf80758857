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

import io.netty.channel.rdma.verbs.AddressVector;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.SendWorkRequests;
import io.netty.util.NetUtil;
import io.netty.util.internal.ObjectUtil;

import java.net.InetAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * The address of a queue pair that receives datagrams, or of a group. It has the port's global identifier (GID), or
 * with InfiniBand also its local one (LID), the number of the queue pair, and its queue key. The sender of a {@link
 * RdmaDatagram} has such an address, which can be the recipient of another datagram. Immutable.
 */
public final class RdmaDatagramAddress extends SocketAddress {
    /**
     * The key of all queue pairs that the connection manager makes for datagrams ({@code RDMA_UDP_QKEY} of rdma_cma.h).
     */
    public static final int DEFAULT_QUEUE_KEY = 0x01234567;

    private static final long serialVersionUID = -4310928845702961157L;
    private static final int GID_LENGTH = 16;
    private static final int QUEUE_PAIR_MASK = 0xFFFFFF;

    private final boolean global;
    private final long gidHigh;
    private final long gidLow;
    private final int lid;
    private final int serviceLevel;
    private final int queuePairNumber;
    private final int queueKey;
    /** The path that the connection manager has found, and its device. */
    private final transient AddressVector vector;
    private final transient Device device;

    private RdmaDatagramAddress(byte[] gid, int lid, int serviceLevel, int queuePairNumber, int queueKey,
                                AddressVector vector, Device device) {
        global = gid != null;
        ByteBuffer bytes = global ? ByteBuffer.wrap(gid) : null;
        gidHigh = global ? bytes.getLong(0) : 0;
        gidLow = global ? bytes.getLong(Long.BYTES) : 0;
        this.lid = lid;
        this.serviceLevel = serviceLevel;
        this.queuePairNumber = queuePairNumber;
        this.queueKey = queueKey;
        this.vector = vector;
        this.device = device;
    }

    /**
     * Creates an address that is known in another way: a peer's {@link RdmaDatagramChannel#datagramAddress()}, or the
     * output of a program such as {@code ibv_ud_pingpong}.
     *
     * @param gid of the port, 16 bytes in network order, or {@code null} for a port of the own InfiniBand subnet.
     * @param lid of the port with InfiniBand, 0 to 0xFFFF; else 0.
     * @param queuePairNumber 0 to 0xFFFFFF.
     */
    public RdmaDatagramAddress(byte[] gid, int lid, int queuePairNumber, int queueKey) {
        this(checkGid(gid), ObjectUtil.checkInRange(lid, 0, 0xFFFF, "lid"), 0,
                ObjectUtil.checkInRange(queuePairNumber, 0, 0xFFFFFF, "queuePairNumber"), queueKey, null, null);
        if (gid == null && lid == 0) {
            throw new IllegalArgumentException("neither a gid nor a lid");
        }
    }

    private static byte[] checkGid(byte[] gid) {
        if (gid != null && gid.length != GID_LENGTH) {
            throw new IllegalArgumentException("gid: " + gid.length + " bytes (expected: " + GID_LENGTH + ')');
        }
        return gid;
    }

    /** The address as the connection manager has found it for a device. */
    static RdmaDatagramAddress resolved(AddressVector vector, Device device, int queuePairNumber, int queueKey) {
        return new RdmaDatagramAddress(vector.isGlobal() ? vector.destinationGid() : null, vector.destinationLid(), 0,
                queuePairNumber, queueKey, vector, device);
    }

    /** The address of a datagram's sender, which has used this end's queue key. */
    static RdmaDatagramAddress sender(byte[] gid, int lid, int serviceLevel, int queuePairNumber) {
        return new RdmaDatagramAddress(gid, lid, serviceLevel, queuePairNumber & QUEUE_PAIR_MASK, DEFAULT_QUEUE_KEY,
                null, null);
    }

    /**
     * The path to this address from a port.
     *
     * @param trafficClass 0 for the one of the connection manager's path, which the administrator may have set
     *         (default_roce_tos).
     */
    AddressVector vector(Device from, DevicePort port, int trafficClass) {
        AddressVector way = vector;
        if (way == null || device != from || way.localPort() != port.number) {
            way = global ? AddressVector.global(port.number, port.gidIndex(), gid(), DevicePort.HOP_LIMIT, lid)
                    : AddressVector.local(port.number, lid, serviceLevel);
        }
        return trafficClass == 0 ? way : way.withTrafficClass(trafficClass);
    }

    /**
     * Returns whether the other address may be of the same queue pair. In an InfiniBand subnet a queue pair that has
     * both identifiers may send with only one of them.
     */
    boolean isSamePeer(RdmaDatagramAddress other) {
        return queuePairNumber == other.queuePairNumber && (global && other.global ?
                gidHigh == other.gidHigh && gidLow == other.gidLow : lid == other.lid);
    }

    /** The global identifier of the port, 16 bytes in network order; {@code null} if it is not known. */
    public byte[] gid() {
        return global ? ByteBuffer.allocate(GID_LENGTH).putLong(gidHigh).putLong(gidLow).array() : null;
    }

    /** The local identifier of the port with InfiniBand; 0 with RoCE. */
    public int lid() {
        return lid;
    }

    public int queuePairNumber() {
        return queuePairNumber;
    }

    public int queueKey() {
        return queueKey;
    }

    /** Returns whether this is the address of a group. */
    public boolean isGroup() {
        return queuePairNumber == SendWorkRequests.MULTICAST_QUEUE_PAIR;
    }

    /**
     * The IP address that the global identifier stands for with RoCE; with InfiniBand an IPv6 address that no interface
     * has. {@code null} if there is no identifier.
     */
    public InetAddress address() {
        try {
            return global ? InetAddress.getByAddress(gid()) : null;
        } catch (UnknownHostException e) {
            // Only thrown for a wrong number of bytes.
            throw new AssertionError(e);
        }
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof RdmaDatagramAddress other && global == other.global && gidHigh == other.gidHigh &&
                gidLow == other.gidLow && lid == other.lid && queuePairNumber == other.queuePairNumber &&
                queueKey == other.queueKey;
    }

    @Override
    public int hashCode() {
        return Objects.hash(gidHigh, gidLow, lid, queuePairNumber);
    }

    /** A text such as {@code 10.0.0.1 queue pair 17}. */
    @Override
    public String toString() {
        return (global ? NetUtil.toAddressString(address()) + (lid == 0 ? "" : " ") : "") +
                (lid == 0 ? "" : "lid " + lid) + (isGroup() ? "" : " queue pair " + queuePairNumber) +
                (queueKey == DEFAULT_QUEUE_KEY ? "" : " queue key 0x" + Integer.toHexString(queueKey));
    }
}
