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
package io.netty.example.rdma.files;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.example.rdma.files.MappedFiles.MappedInput;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class MappedFilesTest {
    @TempDir
    private Path folder;

    @Test
    void fileLargerThanOneBufferIsReadAcrossItsParts() throws IOException {
        Path file = folder.resolve("sparse");
        long boundary = 1L << 30;
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(2 * boundary + 5);
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), boundary - 2);
        }
        List<ByteBuf> parts = new MappedFiles(1).get(served(file));
        MappedInput input = new MappedInput(parts, new ByteRange(boundary - 2, boundary + 1));
        ByteBuf before = input.readChunk(ByteBufAllocator.DEFAULT);
        ByteBuf after = input.readChunk(ByteBufAllocator.DEFAULT);
        assertThat(input.isEndOfInput()).isTrue();
        assertThat(before.readShort()).isEqualTo((short) 0x0102);
        assertThat(after.readShort()).isEqualTo((short) 0x0304);
        assertThat(before.isReadable() || after.isReadable()).isFalse();
    }

    @Test
    void fileIsMappedAgainWhenItHasChanged() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "before");
        MappedFiles files = new MappedFiles(1);
        List<ByteBuf> first = files.get(served(file));
        assertThat(files.get(served(file))).isSameAs(first);
        Files.move(Files.writeString(folder.resolve("other"), "after, and longer"), file,
                StandardCopyOption.REPLACE_EXISTING);
        assertThat(files.get(served(file)).get(0).readableBytes()).isEqualTo(17);
    }

    @Test
    void whatWasNotUsedForLongestIsForgotten() throws IOException {
        MappedFiles files = new MappedFiles(2);
        Path a = Files.writeString(folder.resolve("a"), "a");
        List<ByteBuf> first = files.get(served(a));
        files.get(served(Files.writeString(folder.resolve("b"), "b")));
        assertThat(files.get(served(a))).isSameAs(first);
        files.get(served(Files.writeString(folder.resolve("c"), "c")));
        assertThat(files.get(served(a))).isSameAs(first);
        files.get(served(Files.writeString(folder.resolve("d"), "d")));
        files.get(served(Files.writeString(folder.resolve("e"), "e")));
        assertThat(files.get(served(a))).isNotSameAs(first);
    }

    private static ServedFile served(Path file) throws IOException {
        return ServedFile.of(file, Files.readAttributes(file, BasicFileAttributes.class));
    }
}
