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

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Tag("platforms")
@Tag("quick")
class ConnectionDataTest {
    /** As a little-endian librdmacm host with its default sizes sends it: flag 2 is iomap, 0x180 credits. */
    private static final String LIBRDMACM = "01020180" + "00000000" +
            "00007f1c2a3b4000" + "0000a1b2" + "00000002" +
            "00007f1c2a000000" + "0000c3d4" + "00010000";

    @Test
    void readsWhatLibrdmacmSends() throws StreamProtocolException {
        ConnectionData data = ConnectionData.read(bytes(LIBRDMACM));
        assertThat(data).isEqualTo(new ConnectionData(false, false, 384, 0x7f1c2a3b4000L, 0xa1b2, 2, 0x7f1c2a000000L,
                0xc3d4, 65536));
    }

    @Test
    void writesItsOwnWithZerosInWhatIsStillReserved() {
        ByteBuffer out = ByteBuffer.allocate(50).order(ByteOrder.LITTLE_ENDIAN);
        out.position(5);
        new ConnectionData(false, true, 0xFFFE, 0x7fffdeadbeef0000L, 0xfedcba98, 8, 0x1122334455667788L, 0x01020304,
                0xFFFFFFFFL).write(out);

        assertThat(out.position()).isEqualTo(45);
        assertThat(out.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        assertThat(HexFormat.of().formatHex(out.array(), 5, 45)).isEqualTo("0100fffe" + "01000000" +
                "7fffdeadbeef0000" + "fedcba98" + "00000008" + "1122334455667788" + "01020304" + "ffffffff");
    }

    @Test
    void bigEndianHostSetsTheFlag() {
        ByteBuffer out = ByteBuffer.allocate(ConnectionData.SIZE);
        new ConnectionData(true, false, 16, 0, 0, 2, 0, 0, 1).write(out);
        assertThat(out.get(0)).isEqualTo((byte) 1);
        assertThat(out.get(1)).isEqualTo((byte) 1);
    }

    @Test
    void paddingUnknownFlagsReservedBytesAndIomapSlotsAreIgnored() throws StreamProtocolException {
        String odd = "01fe0180" + "a0a2a3ff" + LIBRDMACM.substring(16) + "ffffffffffffffffffffffffffffffff";
        assertThat(ConnectionData.read(bytes(odd))).isEqualTo(ConnectionData.read(bytes(LIBRDMACM)));
    }

    @Test
    void readingDoesNotMoveTheBuffer() throws StreamProtocolException {
        ByteBuffer in = bytes("ffff" + LIBRDMACM).order(ByteOrder.LITTLE_ENDIAN).position(2);
        ConnectionData.read(in);
        assertThat(in.position()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({
            // offset, bytes put there, part of the message
            "0, 00, version 0",
            "0, 02, version 2",
            "2, 0000, no credits",
            "20, 00000000, 0 entries",
            "20, 00000001, 1 entries",
            "20, 00010000, 65536 entries",
            "20, ffffffff, 4294967295 entries",
            "8, fffffffffffffff0, past the end",
            "36, 00000000, empty",
            "24, ffffffffffff0001, past the end",
    })
    void refuses(int offset, String replacement, String message) {
        String hex = LIBRDMACM.substring(0, offset * 2) + replacement +
                LIBRDMACM.substring(offset * 2 + replacement.length());
        assertThatThrownBy(() -> ConnectionData.read(bytes(hex))).isInstanceOf(StreamProtocolException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aBufferMayEndAtTheEndOfTheAddressSpace() throws StreamProtocolException {
        String hex = LIBRDMACM.substring(0, 48) + "ffffffffffff0000" + LIBRDMACM.substring(64);
        assertThat(ConnectionData.read(bytes(hex)).bufferLength()).isEqualTo(0x10000);
    }

    @Test
    void refusesWhatIsTooShort() {
        assertThatThrownBy(() -> ConnectionData.read(bytes(LIBRDMACM.substring(2))))
                .isInstanceOf(StreamProtocolException.class).hasMessageContaining("39 bytes");
        assertThatThrownBy(() -> ConnectionData.read(null)).isInstanceOf(StreamProtocolException.class)
                .hasMessageContaining("not an rsockets peer");
    }

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }
}
