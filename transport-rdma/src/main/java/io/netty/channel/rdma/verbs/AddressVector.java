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

import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.UnstableApi;

import java.util.Arrays;

/**
 * The route to a port or multicast group ({@code struct ibv_ah_attr}), from which {@link AddressHandle}s are made.
 * {@link ConnectionEvent#addressVector()} returns the one that the connection manager has found. Immutable.
 */
@UnstableApi
public final class AddressVector {
    static final int COUNT = 10;
    static final int GID_LENGTH = 16;

    // Indexes of values[], in the order in which jni/address_handle.c and jni/event_channel.c have them.
    private static final int LID = 0;
    private static final int PORT = 1;
    private static final int SERVICE_LEVEL = 2;
    private static final int PATH_BITS = 3;
    private static final int STATIC_RATE = 4;
    private static final int GLOBAL = 5;
    private static final int GID_INDEX = 6;
    private static final int HOP_LIMIT = 7;
    private static final int TRAFFIC_CLASS = 8;
    private static final int FLOW_LABEL = 9;

    final int[] values;
    final byte[] gid;

    /** Creates a vector of the values and the GID as {@code event_channel.c} fills them. The arrays are kept. */
    AddressVector(int[] values, byte[] gid) {
        this.values = values;
        this.gid = gid;
    }

    /**
     * A port of the own InfiniBand subnet.
     *
     * @param localPort      the port that we send from, from 1.
     * @param destinationLid 0 to 0xFFFF.
     * @param serviceLevel   0 to 15.
     */
    public static AddressVector local(int localPort, int destinationLid, int serviceLevel) {
        int[] values = new int[COUNT];
        values[LID] = ObjectUtil.checkInRange(destinationLid, 0, 0xFFFF, "destinationLid");
        values[PORT] = ObjectUtil.checkInRange(localPort, 1, 255, "localPort");
        values[SERVICE_LEVEL] = ObjectUtil.checkInRange(serviceLevel, 0, 15, "serviceLevel");
        return new AddressVector(values, new byte[GID_LENGTH]);
    }

    /**
     * A port or group by its global identifier: always with RoCE, and with InfiniBand across subnets and for groups.
     *
     * @param localPort      the port that we send from, from 1.
     * @param localGidIndex  which of its {@link GidEntry}s is the source.
     * @param destinationGid 16 bytes in network order.
     * @param hopLimit       0 to 255; with 0 and 1 the datagram stays in the subnet.
     * @param destinationLid with InfiniBand that of the port, of the group or of the first router; else 0.
     */
    public static AddressVector global(int localPort, int localGidIndex, byte[] destinationGid, int hopLimit,
                                       int destinationLid) {
        if (destinationGid.length != GID_LENGTH) {
            throw new IllegalArgumentException("destinationGid: " + destinationGid.length + " bytes (expected: " +
                    GID_LENGTH + ')');
        }
        AddressVector vector = local(localPort, destinationLid, 0);
        vector.values[GLOBAL] = 1;
        vector.values[GID_INDEX] = ObjectUtil.checkInRange(localGidIndex, 0, 255, "localGidIndex");
        vector.values[HOP_LIMIT] = ObjectUtil.checkInRange(hopLimit, 0, 255, "hopLimit");
        System.arraycopy(destinationGid, 0, vector.gid, 0, GID_LENGTH);
        return vector;
    }

    /**
     * Returns the same vector with another traffic class, 0 to 255: on RoCE v2 the IP type of service. Only {@link
     * #isGlobal()} vectors have a traffic class.
     */
    public AddressVector withTrafficClass(int trafficClass) {
        int[] copy = values.clone();
        copy[TRAFFIC_CLASS] = ObjectUtil.checkInRange(trafficClass, 0, 255, "trafficClass");
        return isGlobal() ? new AddressVector(copy, gid) : this;
    }

    /** The LID of the destination; 0 with RoCE. */
    public int destinationLid() {
        return values[LID];
    }

    /** The port that datagrams are sent from. */
    public int localPort() {
        return values[PORT];
    }

    public boolean isGlobal() {
        return values[GLOBAL] != 0;
    }

    /** A copy of the global identifier of the destination; zeros if it is not {@link #isGlobal()}. */
    public byte[] destinationGid() {
        return gid.clone();
    }

    /** Returns whether the destination is a multicast group. */
    public boolean isMulticast() {
        return isGlobal() && gid[0] == (byte) 0xFF;
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof AddressVector && Arrays.equals(values, ((AddressVector) o).values) &&
                Arrays.equals(gid, ((AddressVector) o).gid);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(values) + Arrays.hashCode(gid);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("port ").append(localPort());
        if (destinationLid() != 0) {
            text.append(", lid ").append(destinationLid());
        }
        if (isGlobal()) {
            text.append(", gid ").append(new GidEntry(0, GidEntry.Type.UNKNOWN, 0, gid).addressText()).append(" from ")
                    .append(values[GID_INDEX]).append(", hop limit ").append(values[HOP_LIMIT]);
        }
        if (values[TRAFFIC_CLASS] != 0) {
            text.append(", traffic class ").append(values[TRAFFIC_CLASS]);
        }
        return text.toString();
    }
}
