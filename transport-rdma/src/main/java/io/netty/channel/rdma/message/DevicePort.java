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
import io.netty.channel.rdma.verbs.Device;
import io.netty.channel.rdma.verbs.Gid;
import io.netty.channel.rdma.verbs.PortAttributes;

import java.io.IOException;
import java.net.InetAddress;

/**
 * The port of a device that has a local address, and which entry of its table of global identifiers that is. Immutable.
 */
final class DevicePort {
    /** Of RoCE packets, which routers may forward. */
    static final int HOP_LIMIT = 64;

    private final int number;
    private final PortAttributes attributes;
    private final int gidIndex;
    private final byte[] gid;

    private DevicePort(int number, PortAttributes attributes, int gidIndex, byte[] gid) {
        this.number = number;
        this.attributes = attributes;
        this.gidIndex = gidIndex;
        this.gid = gid;
    }

    /** Finds it on the device of the queue pair. */
    static DevicePort find(ChannelQueuePair queuePair, InetAddress local) throws IOException {
        return find(queuePair, 1, queuePair.attributes().portCount(), local);
    }

    /** Finds it where the connection manager has put the queue pair. */
    static DevicePort ofQueuePair(ChannelQueuePair queuePair, InetAddress local) throws IOException {
        int port = queuePair.queuePair().query().port();
        return find(queuePair, port, port, local);
    }

    private static DevicePort find(ChannelQueuePair queuePair, int first, int last, InetAddress local)
            throws IOException {
        Device device = queuePair.device();
        int port = 0;
        Gid gid = null;
        for (int candidate = first; candidate <= last; candidate++) {
            PortAttributes attributes = device.portAttributes(candidate);
            if (!attributes.isActive()) {
                continue;
            }
            if (!attributes.isEthernet()) {
                // InfiniBand has no IP addresses in its GIDs.
                port = port == 0 ? candidate : port;
                continue;
            }
            for (Gid entry : device.gids(candidate)) {
                if (entry.address().equals(local) && (gid == null || entry.type() == Gid.Type.ROCE_V2)) {
                    gid = entry;
                    port = candidate;
                }
            }
        }
        if (port == 0) {
            throw new IOException("no active port of " + device + " has the address " + local);
        }
        PortAttributes attributes = device.portAttributes(port);
        return gid == null ? new DevicePort(port, attributes, 0, device.gid(port, 0))
                : new DevicePort(port, attributes, gid.index(), gid.bytes());
    }

    int number() {
        return number;
    }

    PortAttributes attributes() {
        return attributes;
    }

    int gidIndex() {
        return gidIndex;
    }

    /** Not a copy. */
    byte[] gid() {
        return gid;
    }
}
