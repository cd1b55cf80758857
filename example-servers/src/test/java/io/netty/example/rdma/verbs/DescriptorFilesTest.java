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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaEndpoint;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.DescriptorFiles.Descriptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class DescriptorFilesTest {
    private static final String ENDPOINT = "52444d45" + "01" + "01" + "03" + "00" + "00000011" + "00abcdef" + "0000"
            + "10" + "10" + "00000000000000000000ffff0a000001";
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    @Test
    void descriptorIsReadAsItWasWrittenAndGoesWithItsOwner() throws Exception {
        Descriptor descriptor = descriptor();
        try (DescriptorFiles owner = new DescriptorFiles();
             DescriptorFiles other = new DescriptorFiles()) {
            owner.write(file("a"), descriptor::write);
            assertThat(hex(other.await(file("a"), LONG, Descriptor::read))).isEqualTo(hex(descriptor));
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file("a")))).isEqualTo("rw-------");
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void descriptorIsWaitedFor() throws Exception {
        try (DescriptorFiles owner = new DescriptorFiles();
             DescriptorFiles other = new DescriptorFiles()) {
            CompletableFuture<String> read = CompletableFuture.supplyAsync(() -> {
                try {
                    return hex(other.await(file("a"), LONG, Descriptor::read));
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
            owner.write(file("a"), descriptor()::write);
            assertThat(TestTimeouts.result(read)).isEqualTo(hex(descriptor()));
        }
    }

    @Test
    void waitForADescriptorThatNeverComesHasAnEnd() {
        try (DescriptorFiles other = new DescriptorFiles()) {
            assertThatThrownBy(() -> other.await(file("a"), Duration.ofMillis(1), Descriptor::read))
                    .isInstanceOf(IOException.class).hasMessageContaining("a.descriptor within 0 s");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r-----", "rw--w----", "rw----r--", "rw-----w-"})
    void descriptorThatOthersMayReadOrChangeIsNotTaken(String permissions) throws Exception {
        try (DescriptorFiles owner = new DescriptorFiles()) {
            owner.write(file("a"), descriptor()::write);
            Files.setPosixFilePermissions(file("a"), PosixFilePermissions.fromString(permissions));
            assertThatThrownBy(() -> owner.await(file("a"), LONG, Descriptor::read)).isInstanceOf(IOException.class)
                    .hasMessageContaining(permissions);
        }
    }

    @Test
    void descriptorOfAnotherUserIsNotTaken() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "others can't give a file away");
        try (DescriptorFiles owner = new DescriptorFiles()) {
            owner.write(file("a"), descriptor()::write);
            Files.setAttribute(file("a"), "unix:uid", 1);
            assertThatThrownBy(() -> owner.await(file("a"), LONG, Descriptor::read)).isInstanceOf(IOException.class)
                    .hasMessageContaining("expected: a file of this user");
        }
    }

    @Test
    void linkIsNotFollowed() throws Exception {
        try (DescriptorFiles owner = new DescriptorFiles()) {
            owner.write(file("a"), descriptor()::write);
            Files.createSymbolicLink(file("b"), file("a"));
            assertThatThrownBy(() -> owner.await(file("b"), LONG, Descriptor::read)).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({
            "0, 00000000, not a blob of an endpoint",
            "4, 02, version 2",
            "36, 00000000, does not introduce itself",
            "40, 02, introduction is of version 2",
            "41, ff, 255 pieces of memory",
            "42, ffff, 65535 of text",
            "48, 00000000, not a blob of remote memory"
    })
    void everyPartIsChecked(int offset, String bytes, String message) {
        byte[] descriptor = ByteBufUtil.decodeHexDump(hex(descriptor()));
        byte[] wrong = ByteBufUtil.decodeHexDump(bytes);
        System.arraycopy(wrong, 0, descriptor, offset, wrong.length);
        assertThatThrownBy(() -> Descriptor.read(Unpooled.wrappedBuffer(descriptor)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(message);
    }

    @Test
    void descriptorOfAnyOtherLengthIsRefused() {
        byte[] descriptor = ByteBufUtil.decodeHexDump(hex(descriptor()));
        for (int length = 0; length < descriptor.length; length++) {
            ByteBuf part = Unpooled.wrappedBuffer(descriptor, 0, length);
            assertThatThrownBy(() -> Descriptor.read(part)).isInstanceOf(IllegalArgumentException.class);
        }
        ByteBuf longer = Unpooled.wrappedBuffer(descriptor, new byte[1]);
        assertThatThrownBy(() -> Descriptor.read(longer)).isInstanceOf(IllegalArgumentException.class);
    }

    private Path file(String name) {
        return folder.resolve(name + ".descriptor");
    }

    private static Descriptor descriptor() {
        return new Descriptor(RdmaEndpoint.read(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(ENDPOINT))),
                new Introduction("test", List.of(
                        new RemoteMemory(4096, 100, 7, EnumSet.of(RdmaPermission.REMOTE_READ)),
                        new RemoteMemory(8192, 8, 8, EnumSet.of(RdmaPermission.REMOTE_ATOMIC)))));
    }

    private static String hex(Descriptor descriptor) {
        ByteBuf bytes = Unpooled.buffer();
        descriptor.write(bytes);
        return ByteBufUtil.hexDump(bytes);
    }
}
