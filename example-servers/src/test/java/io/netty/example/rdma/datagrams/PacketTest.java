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
package io.netty.example.rdma.datagrams;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PacketTest {
    private static final byte[] DATA = { 1, 2, 3 };

    private static ByteBuf written() {
        ByteBuf bytes = Unpooled.buffer();
        new Packet(Packet.Type.DATA, 42, 7, Unpooled.wrappedBuffer(DATA)).write(bytes);
        return bytes;
    }

    @Test
    void whatIsWrittenIsRead() {
        Packet packet = Packet.read(written());
        assertThat(packet.type()).isEqualTo(Packet.Type.DATA);
        assertThat(packet.run()).isEqualTo(42);
        assertThat(packet.number()).isEqualTo(7);
        assertThat(packet.data()).isEqualTo(Unpooled.wrappedBuffer(DATA));
    }

    @Test
    void anyByteThatHasChangedOrIsMissingIsNoticed() {
        int length = written().readableBytes();
        for (int i = 0; i < length; i++) {
            ByteBuf bytes = written();
            bytes.setByte(i, bytes.getByte(i) ^ 0x10);
            assertThatThrownBy(() -> Packet.read(bytes)).as("byte " + i).isInstanceOf(IllegalArgumentException.class);
            ByteBuf cut = written().slice(0, i);
            assertThatThrownBy(() -> Packet.read(cut)).as("length " + i).isInstanceOf(IllegalArgumentException.class);
        }
    }
}
