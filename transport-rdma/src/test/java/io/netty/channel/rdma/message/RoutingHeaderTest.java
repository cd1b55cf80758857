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
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The 40 bytes before a datagram, of which the network has written the most.
 */
@Tag("quick")
class RoutingHeaderTest {
    private static final int LENGTH = 40;
    /** RFC 791 header from 192.0.2.1 to 239.1.2.3, with its checksum. */
    private static final int[] IPV4 = {
            0x45, 0x00, 0x00, 0x54, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0, 0, 192, 0, 2, 1, 239, 1, 2, 3
    };

    private static ByteBuf ipv4(int garbage) {
        ByteBuf buf = Unpooled.buffer(LENGTH);
        for (int i = 0; i < 20; i++) {
            buf.writeByte(garbage);
        }
        for (int b : IPV4) {
            buf.writeByte(b);
        }
        long sum = 0;
        for (int i = 20; i < LENGTH; i += 2) {
            sum += buf.getUnsignedShort(i);
        }
        while (sum >>> 16 != 0) {
            sum = (sum & 0xFFFF) + (sum >>> 16);
        }
        return buf.setShort(30, (int) ~sum);
    }

    private static ByteBuf ipv6() throws Exception {
        ByteBuf buf = Unpooled.buffer(LENGTH).writeInt(0x60000000).writeInt(0);
        return buf.writeBytes(InetAddress.getByName("2001:db8::1").getAddress())
                .writeBytes(InetAddress.getByName("2001:db8::2").getAddress());
    }

    @Test
    void ipv4HeaderOfRoceIsInTheLastBytesWhateverIsBefore() throws Exception {
        for (int garbage : new int[] { 0, 0x60, 0x45, 0xFF }) {
            RoutingHeader header = new RoutingHeader(true);
            assertThat(header.read(ipv4(garbage), 0)).isTrue();
            assertThat(InetAddress.getByAddress(header.source)).isEqualTo(InetAddress.getByName("192.0.2.1"));
            assertThat(InetAddress.getByAddress(header.destination)).isEqualTo(InetAddress.getByName("239.1.2.3"));
        }
    }

    @Test
    void withoutChecksumItIsOneOfIpv4OnlyIfItCanBeNoneOfIpv6() throws Exception {
        // Soft-RoCE does not fill it in for the own host.
        RoutingHeader header = new RoutingHeader(true);
        assertThat(header.read(ipv4(0).setShort(30, 0), 0)).isTrue();
        assertThat(InetAddress.getByAddress(header.source)).isEqualTo(InetAddress.getByName("192.0.2.1"));
        assertThat(header.read(ipv4(0x60).setShort(30, 0), 0)).isTrue();
        assertThat(header.source).as("the address of IPv6").startsWith(0x60, 0x60);
    }

    @Test
    void ipv6HeaderIsThatOfInfiniBandToo() throws Exception {
        for (boolean ethernet : new boolean[] { true, false }) {
            RoutingHeader header = new RoutingHeader(ethernet);
            assertThat(header.read(ipv6(), 0)).isTrue();
            assertThat(InetAddress.getByAddress(header.source)).isEqualTo(InetAddress.getByName("2001:db8::1"));
            assertThat(InetAddress.getByAddress(header.destination)).isEqualTo(InetAddress.getByName("2001:db8::2"));
        }
    }

    @Test
    void whatIsNoHeaderIsNotTakenForOne() {
        assertThat(new RoutingHeader(true).read(Unpooled.buffer(LENGTH).writeZero(LENGTH), 0)).isFalse();
        assertThat(new RoutingHeader(false).read(ipv4(0), 0)).as("InfiniBand has no IPv4 headers").isFalse();
        ByteBuf withOptions = ipv4(0);
        withOptions.setByte(20, 0x46);
        assertThat(new RoutingHeader(true).read(withOptions, 0)).isFalse();
    }

    @Test
    void anyBytesGiveTheAddressesWhereAHeaderHasThem() {
        Random random = new Random(42);
        RoutingHeader header = new RoutingHeader(true);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = new byte[1 + LENGTH];
            random.nextBytes(bytes);
            bytes[1] = random.nextBoolean() ? 0x60 : bytes[1];
            bytes[21] = random.nextBoolean() ? 0x45 : bytes[21];
            boolean maybeIpv6 = (bytes[1] & 0xF0) == 0x60;
            // The checksum of random bytes is hardly ever right.
            boolean ipv4 = bytes[21] == 0x45 && !maybeIpv6;
            assertThat(header.read(Unpooled.wrappedBuffer(bytes), 1)).isEqualTo(ipv4 || maybeIpv6);
            if (ipv4) {
                assertThat(header.source).endsWith(Arrays.copyOfRange(bytes, 33, 37)).startsWith(new byte[10]);
                assertThat(header.destination).endsWith(Arrays.copyOfRange(bytes, 37, 41)).startsWith(new byte[10]);
            } else if (maybeIpv6) {
                assertThat(header.source).isEqualTo(Arrays.copyOfRange(bytes, 9, 25));
                assertThat(header.destination).isEqualTo(Arrays.copyOfRange(bytes, 25, 41));
            }
        }
    }
}
