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

import java.util.Arrays;

/**
 * The 40 bytes before a datagram: a global routing header (IBA vol. 1, 8.3), which is also the header of IPv6. With
 * RoCE version 2 over IPv4 the last 20 bytes are the IP header (annex A17.4.5.2). The device writes them, but their
 * content comes from the network. One object for each channel, with the header that was read last.
 */
final class RoutingHeader {
    private static final int GID_LENGTH = 16;
    private static final int IPV4 = 20;
    private static final int IPV4_LENGTH = 20;
    private static final int IPV4_SOURCE = IPV4 + 12;
    private static final int IPV4_DESTINATION = IPV4 + 16;
    private static final int IPV6_SOURCE = 8;
    private static final int IPV6_DESTINATION = 24;

    private final boolean ethernet;
    /** The global identifier of the sender's port. */
    final byte[] source = new byte[GID_LENGTH];
    /** The global identifier of this end's port, or of the group. */
    final byte[] destination = new byte[GID_LENGTH];

    /** @param ethernet whether the port is one of RoCE. */
    RoutingHeader(boolean ethernet) {
        this.ethernet = ethernet;
    }

    /** Reads the header at the index. Returns false if it makes no sense. */
    boolean read(ByteBuf buf, int index) {
        boolean maybeIpv6 = buf.getUnsignedByte(index) >>> 4 == 6;
        if (ethernet && isIpv4(buf, index + IPV4, maybeIpv6)) {
            mapIpv4(buf, index + IPV4_SOURCE, source);
            mapIpv4(buf, index + IPV4_DESTINATION, destination);
            return true;
        }
        if (!maybeIpv6) {
            return false;
        }
        buf.getBytes(index + IPV6_SOURCE, source);
        buf.getBytes(index + IPV6_DESTINATION, destination);
        return true;
    }

    /**
     * Checks for an IPv4 header (RFC 791): version 4, and no options, which RoCE does not have. The checksum is needed
     * only if the bytes before look like IPv6, because soft-RoCE does not fill it in for datagrams to its own host.
     * {@code get_grh_header_version} of libibverbs does the same.
     */
    private static boolean isIpv4(ByteBuf buf, int index, boolean withChecksum) {
        if (buf.getUnsignedByte(index) != 0x45) {
            return false;
        }
        int sum = 0;
        for (int i = 0; i < IPV4_LENGTH; i += 2) {
            sum += buf.getUnsignedShort(index + i);
        }
        sum = (sum & 0xFFFF) + (sum >>> 16);
        sum = (sum & 0xFFFF) + (sum >>> 16);
        return !withChecksum || sum == 0xFFFF;
    }

    /** Writes an IPv4 address as a global identifier: {@code ::ffff:a.b.c.d} (RFC 4291, 2.5.5.2). */
    private static void mapIpv4(ByteBuf buf, int index, byte[] gid) {
        Arrays.fill(gid, 0, 10, (byte) 0);
        gid[10] = (byte) 0xFF;
        gid[11] = (byte) 0xFF;
        buf.getBytes(index, gid, 12, 4);
    }
}
