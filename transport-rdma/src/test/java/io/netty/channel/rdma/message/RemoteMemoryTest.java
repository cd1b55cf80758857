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
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.RdmaPermission;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.EnumSet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The blob of remote memory, whoever it comes from.
 */
@Tag("quick")
class RemoteMemoryTest {
    private static final String VALID = "52444d41" + "01" + "05" + "0000" + "00007f0012345000" + "0000000000002000" +
            "80000001";

    @Test
    void blobHasTheDocumentedBytes() {
        RemoteMemory memory = new RemoteMemory(0x7f0012345000L, 0x2000, 0x80000001,
                EnumSet.of(RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_ATOMIC));
        ByteBuf blob = Unpooled.buffer();
        memory.write(blob);
        assertThat(ByteBufUtil.hexDump(blob)).isEqualTo(VALID);
        assertThat(blob.readableBytes()).isEqualTo(RemoteMemory.BLOB_LENGTH);
        RemoteMemory read = RemoteMemory.read(blob);
        assertThat(read.address()).isEqualTo(memory.address());
        assertThat(read.length()).isEqualTo(memory.length());
        assertThat(read.key()).isEqualTo(memory.key());
        assertThat(read.permissions()).isEqualTo(memory.permissions());
        assertThat(blob.isReadable()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
            "0, 52444d42, not a blob",
            "4, 00, version 0 (expected: 1)",
            "4, 02, version 2",
            "5, 08, unknown permissions 0x8",
            "5, ff, unknown permissions",
            "6, 0001, reserved bits 0x1",
            "8, 8000000000000000, address: 9223372036854775808",
            "8, ffffffffffffffff, address",
            "8, 7fffffffffffffff, length: 8192 (expected: 1 to 0)",
            "16, 0000000000000000, length: 0",
            "16, 8000000000000000, length",
            "16, ffffffffffffffff, length: 18446744073709551615",
            "16, 7fffffffffffffff, length"
    })
    void everyFieldIsChecked(int offset, String bytes, String message) {
        byte[] blob = ByteBufUtil.decodeHexDump(VALID);
        byte[] wrong = ByteBufUtil.decodeHexDump(bytes);
        System.arraycopy(wrong, 0, blob, offset, wrong.length);
        assertThatThrownBy(() -> RemoteMemory.read(Unpooled.wrappedBuffer(blob)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @Test
    void shortBlobIsRefused() {
        byte[] blob = ByteBufUtil.decodeHexDump(VALID);
        for (int length = 0; length < blob.length; length++) {
            ByteBuf cut = Unpooled.wrappedBuffer(blob, 0, length);
            assertThatThrownBy(() -> RemoteMemory.read(cut)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("(expected: 28)");
        }
    }

    @Test
    void slicesStayInside() {
        RemoteMemory memory = RemoteMemory.read(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(VALID)));
        RemoteMemory slice = memory.slice(0x800, 0x400);
        assertThat(slice.address()).isEqualTo(memory.address() + 0x800);
        assertThat(slice.length()).isEqualTo(0x400);
        assertThat(slice.key()).isEqualTo(memory.key());
        assertThat(slice.permissions()).isEqualTo(memory.permissions());
        assertThat(memory.slice(0x1000, 0x1000).length()).isEqualTo(0x1000);
        for (long[] outside : new long[][] {
                { -1, 1 }, { 0, 0x2001 }, { 0x2000, 1 }, { 1, Long.MAX_VALUE }, { Long.MAX_VALUE, 1 }, { 0, 0 },
                { 0, -1 }
        }) {
            assertThatThrownBy(() -> memory.slice(outside[0], outside[1]))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void localPermissionsAreNotForPeers() {
        assertThatThrownBy(() -> new RemoteMemory(0, 1, 1, EnumSet.of(RdmaPermission.LOCAL_WRITE)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
