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
package io.netty.channel.rdma.valkey;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;

/** The bytes of each message are those of the structs in {@code src/rdma.c} of Valkey. */
@Tag("quick")
@Tag("platforms")
class ValkeyMessageTest {
    private final ValkeyMessage message = new ValkeyMessage();

    private static String hex(ValkeyMessage message) {
        return HexFormat.of().formatHex(message.bytes());
    }

    @Test
    void memoryIsAtTheOffsetsOfTheStruct() {
        assertThat(hex(message.registerMemory(0x1122334455667788L, 0x00100000, 0x99AABBCC))).isEqualTo(
                "0003" + "0000".repeat(7) + "1122334455667788" + "00100000" + "99aabbcc");
    }

    @Test
    void featuresAreAtTheOffsetsOfTheStruct() {
        assertThat(hex(message.features(ValkeyMessage.GET_FEATURES, 0x0102, 0x1122334455667788L))).isEqualTo(
                "0000" + "0102" + "0000".repeat(10) + "1122334455667788");
        assertThat(hex(message.features(ValkeyMessage.SET_FEATURES, 0, 0))).isEqualTo("0001" + "0000".repeat(15));
    }

    @Test
    void keepAliveHasNothingElse() {
        message.registerMemory(-1, -1, -1);
        assertThat(hex(message.keepAlive())).isEqualTo("0002" + "0000".repeat(15));
    }

    @Test
    void whatHasArrivedIsReadInTheSameOrderWhateverThatOfTheMemory() {
        byte[] bytes = HexFormat.of().parseHex("ffff" + "fffe" + "ff".repeat(12) + "8000000000000001" + "ffffffff" +
                "fffffffe");
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer memory = ByteBuffer.allocateDirect(100).order(order);
            memory.put(64, bytes);
            message.read(memory, 64);
            assertThat(message.opcode()).isEqualTo(0xFFFF);
            assertThat(message.select()).isEqualTo(0xFFFE);
            assertThat(message.address()).isEqualTo(0x8000000000000001L);
            assertThat(message.length()).isEqualTo(0xFFFFFFFFL);
            assertThat(message.key()).isEqualTo(-2);
            assertThat(message.features()).isEqualTo(-2);
        }
    }
}
