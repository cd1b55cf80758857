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

import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.connection.DeviceOptions;
import io.netty.channel.rdma.verbs.ConnectionId;
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.GidEntry;
import io.netty.channel.rdma.verbs.PortAttributes;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;

/**
 * The port of a device that a queue pair uses, and its entries in the tables of global identifiers and of partition
 * keys. A local address or the options choose them. Immutable.
 */
final class DevicePort {
    /** The hop limit of global headers, which routers may forward. */
    static final int HOP_LIMIT = 64;
    /** The number in a partition key; the bit before is set for full members. */
    private static final int PARTITION = 0x7FFF;

    final int number;
    final PortAttributes attributes;
    private final GidEntry gid;
    final int partitionKeyIndex;
    private final boolean globalHeader;

    private DevicePort(Device device, ConnectionId bound, int number, DeviceOptions options) throws IOException {
        this.number = number;
        attributes = device.portAttributes(number);
        if (!attributes.isActive()) {
            throw new IOException("port " + number + " of " + device + " is not active: " + attributes);
        }
        int chosen = options.gidIndex();
        gid = chosen != DeviceOptions.BY_ADDRESS ? chosen(device, chosen) : attributes.isEthernet() ?
                ofRoce(device, bound) : ofInfiniBand(device, bound);
        partitionKeyIndex = attributes.isEthernet() || bound == null ? 0 : partition(device, bound.partitionKey());
        // In an InfiniBand subnet the LID is enough, but an application that chooses a GID wants to use it.
        globalHeader = attributes.isEthernet() || chosen != DeviceOptions.BY_ADDRESS;
    }

    /**
     * Finds the port.
     *
     * @param bound an id that is bound to an address of the device; or {@code null} if only the options choose.
     */
    static DevicePort find(ChannelQueuePair queuePair, ConnectionId bound, DeviceOptions options) throws IOException {
        Device device = queuePair.device();
        int number = bound != null ? bound.port() : options.port();
        int last = queuePair.context().attributes.portCount();
        if (number > last) {
            throw new IllegalArgumentException("DEVICE_PORT: " + number + " (expected: up to " + last + ", as " +
                    device + " has)");
        }
        for (int candidate = 1; number == 0 && candidate <= last; candidate++) {
            number = device.portAttributes(candidate).isActive() ? candidate : 0;
        }
        if (number == 0) {
            throw new IOException(device + " has no active port");
        }
        return new DevicePort(device, bound, number, options);
    }

    private GidEntry chosen(Device device, int index) throws IOException {
        List<GidEntry> gids = device.gids(number);
        for (GidEntry entry : gids) {
            if (entry.index() == index) {
                return entry;
            }
        }
        throw new IllegalArgumentException("GID_INDEX: " + index + " (port " + number + " of " + device + " has " +
                gids + ')');
    }

    /** The GID of the address; without an address, preferably a GID that is not link-local. */
    private GidEntry ofRoce(Device device, ConnectionId bound) throws IOException {
        InetAddress address = bound == null ? null : bound.localAddress().getAddress();
        GidEntry best = null;
        for (GidEntry entry : device.gids(number)) {
            if ((address == null || entry.address().equals(address)) && (best == null || rank(entry) > rank(best))) {
                best = entry;
            }
        }
        if (best == null) {
            throw new IOException("port " + number + " of " + device + " has no GID" +
                    (address == null ? "" : " for the address " + address));
        }
        return best;
    }

    private static int rank(GidEntry entry) {
        return (entry.type() == GidEntry.Type.ROCE_V2 ? 1 : 0) + (entry.address().isLinkLocalAddress() ? 0 : 2);
    }

    /** The GID of the address, which the connection manager knows, since GIDs of InfiniBand have no IP addresses. */
    private GidEntry ofInfiniBand(Device device, ConnectionId bound) throws IOException {
        List<GidEntry> gids = device.gids(number);
        for (GidEntry entry : gids) {
            if (bound != null && Arrays.equals(entry.bytes(), bound.gid())) {
                return entry;
            }
        }
        if (gids.isEmpty()) {
            throw new IOException("port " + number + " of " + device + " has no GID");
        }
        return gids.get(0);
    }

    private int partition(Device device, int key) throws IOException {
        if (key == 0) {
            // No partition has this key: librdmacm does not tell it where the kernel has no AF_IB (before 3.11).
            return 0;
        }
        int limited = -1;
        for (int index = 0; index < attributes.partitionKeyTableLength(); index++) {
            int entry = device.partitionKey(number, index);
            if (entry == key) {
                return index;
            }
            if (limited < 0 && (entry & PARTITION) == (key & PARTITION)) {
                limited = index;
            }
        }
        if (limited < 0) {
            throw new IOException("port " + number + " of " + device + " is no member of the partition 0x" +
                    Integer.toHexString(key));
        }
        return limited;
    }

    int gidIndex() {
        return gid.index();
    }

    /** Returns whether packets have a global header, with GIDs. */
    boolean hasGlobalHeader() {
        return globalHeader;
    }

    byte[] gid() {
        return gid.bytes();
    }
}
