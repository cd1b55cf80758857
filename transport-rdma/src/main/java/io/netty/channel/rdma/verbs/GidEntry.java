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

import io.netty.util.NetUtil;
import io.netty.util.internal.UnstableApi;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * An entry of a port's table of global identifiers ({@code struct ibv_gid_entry}, ibv_query_gid_ex(3)). Immutable.
 */
@UnstableApi
public final class GidEntry {
    /** The addressing of packets that use the entry. */
    public enum Type {
        /** InfiniBand. */
        INFINIBAND("IB"),
        /** RoCE version 1: Ethernet frames. */
        ROCE_V1("RoCE v1"),
        /** RoCE version 2: UDP packets. */
        ROCE_V2("RoCE v2"),
        /** libibverbs is too old to tell (before rdma-core 32). */
        UNKNOWN("unknown type");

        private final String text;

        Type(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }

        /** {@code enum ibv_gid_type}. */
        static Type of(int value) {
            return value >= 0 && value < UNKNOWN.ordinal() ? values()[value] : UNKNOWN;
        }
    }

    private final int index;
    private final Type type;
    private final int interfaceIndex;
    private final byte[] bytes;

    GidEntry(int index, Type type, int interfaceIndex, byte[] bytes) {
        this.index = index;
        this.type = type;
        this.interfaceIndex = interfaceIndex;
        this.bytes = bytes;
    }

    /** The place in the table. */
    public int index() {
        return index;
    }

    public Type type() {
        return type;
    }

    /** The index of the network interface that the entry belongs to, or 0. */
    public int interfaceIndex() {
        return interfaceIndex;
    }

    /** 16 bytes in network order. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** The IP address that the entry stands for with RoCE: an IPv4 address is mapped into it. */
    public InetAddress address() {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            // Only thrown for a wrong number of bytes.
            throw new AssertionError(e);
        }
    }

    /** The bytes as an IPv6 address, also where they are an IPv4 address. */
    String addressText() {
        InetAddress address = address();
        return (address instanceof Inet4Address ? "::ffff:" : "") + NetUtil.toAddressString(address);
    }

    @Override
    public String toString() {
        return index + ": " + type + ' ' + addressText();
    }
}
