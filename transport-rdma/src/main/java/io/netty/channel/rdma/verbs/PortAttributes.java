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

import io.netty.util.internal.UnstableApi;

/**
 * The state of a port ({@code struct ibv_port_attr}, ibv_query_port(3)).
 */
@UnstableApi
public final class PortAttributes {
    static final int COUNT = 8;

    private static final int ACTIVE = 4;
    private static final int LINK_LAYER_ETHERNET = 2;
    private static final String[] STATES = {
            "no state change", "down", "initialising", "armed", "active", "active, deferred"
    };

    private final int[] values;

    /** @param values in the order of the accessors below, as filled by {@code device.c}. */
    PortAttributes(int[] values) {
        this.values = values;
    }

    public boolean isActive() {
        return values[0] == ACTIVE;
    }

    /** The largest path MTU in bytes. */
    public int maxMtu() {
        return bytes(values[1]);
    }

    /** The current path MTU in bytes. */
    public int activeMtu() {
        return bytes(values[2]);
    }

    /** The local identifier on InfiniBand. */
    public int lid() {
        return values[3];
    }

    /** The number of entries of the table of global identifiers. */
    public int gidTableLength() {
        return values[4];
    }

    /** The longest message in bytes; as unsigned number where negative. */
    public int maxMessageSize() {
        return values[5];
    }

    public boolean isEthernet() {
        return values[6] == LINK_LAYER_ETHERNET;
    }

    /** The number of entries of the table of partition keys. */
    public int partitionKeyTableLength() {
        return values[7];
    }

    /** {@code enum ibv_mtu}: 1 = 256 bytes to 5 = 4096. */
    private static int bytes(int mtu) {
        return mtu <= 0 ? 0 : 128 << mtu;
    }

    @Override
    public String toString() {
        return (values[0] >= 0 && values[0] < STATES.length ? STATES[values[0]] : "state " + values[0]) + ", " +
                (isEthernet() ? "Ethernet" : "InfiniBand, lid " + lid()) + ", MTU " + activeMtu() + " of " + maxMtu() +
                ", messages up to " + Integer.toUnsignedString(maxMessageSize()) + " bytes";
    }
}
