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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("platforms")
@Tag("quick")
class StreamWorkRequestTest {

    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void entryIsInTheReadersByteOrder(boolean hostBigEndian, boolean peerBigEndian) {
        StreamWorkRequest request = new StreamWorkRequest();
        request.entry(0x1122334455667788L, 0x99AABBCC, 0xDDEEFF01, hostBigEndian, peerBigEndian);

        ByteBuffer memory = ByteBuffer.allocate(16).order(order(hostBigEndian)).putLong(request.entryHead())
                .putLong(request.entryTail());

        memory.flip().order(order(peerBigEndian));
        assertThat(memory.getLong()).isEqualTo(0x1122334455667788L);
        assertThat(memory.getInt()).isEqualTo(0x99AABBCC);
        assertThat(memory.getInt()).isEqualTo(0xDDEEFF01);
    }

    private static ByteOrder order(boolean bigEndian) {
        return bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    }
}
