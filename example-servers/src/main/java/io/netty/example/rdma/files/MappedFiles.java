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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Files that are mapped into memory: a cache of the last ones that were used. All event loops use it.
 *
 * <p>A mapping ends when the garbage collector finds that no buffer refers to it any more. A file that becomes shorter
 * while it is mapped can't be read to its end, and a connection that tries fails. To replace a served file, rename
 * another file to its name.
 */
final class MappedFiles {
    /** Length of a mapping: a ByteBuffer has at most 2 GiB. */
    private static final long PART_BYTES = 1L << 30;

    private final int maxFiles;
    private final Map<Path, Mapped> mapped = new LinkedHashMap<>(16, 0.75f, true);

    MappedFiles(int maxFiles) {
        this.maxFiles = maxFiles;
    }

    private record Mapped(ServedFile version, List<ByteBuf> parts) {
    }

    /**
     * Maps a file, unless it is mapped.
     *
     * @return its content from the start, in parts of 1 GiB that are not to be released
     */
    synchronized List<ByteBuf> get(ServedFile file) throws IOException {
        Mapped known = mapped.get(file.path());
        if (known == null || !known.version.equals(file)) {
            known = new Mapped(file, map(file));
            mapped.put(file.path(), known);
            if (mapped.size() > maxFiles) {
                mapped.remove(mapped.keySet().iterator().next());
            }
        }
        return known.parts;
    }

    private static List<ByteBuf> map(ServedFile file) throws IOException {
        List<ByteBuf> parts = new ArrayList<>();
        try (FileChannel channel = FileChannel.open(file.path())) {
            if (channel.size() < file.size()) {
                throw new EOFException(file.path() + ": has become shorter");
            }
            for (long position = 0; position < file.size(); position += PART_BYTES) {
                parts.add(Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(channel.map(
                        FileChannel.MapMode.READ_ONLY, position, Math.min(PART_BYTES, file.size() - position)))));
            }
        }
        return parts;
    }

    /**
     * Returns bytes of a file from a position on, up to the end of its part.
     *
     * @param maxBytes maximum length
     */
    static ByteBuf slice(List<ByteBuf> parts, long position, long maxBytes) {
        ByteBuf part = parts.get((int) (position / PART_BYTES));
        int index = (int) (position % PART_BYTES);
        return part.slice(index, (int) Math.min(maxBytes, part.readableBytes() - index));
    }

    /**
     * A range of a mapped file, in pieces, so that the transport takes and TLS encrypts only a part of it at a time.
     */
    static final class MappedInput implements ChunkedInput<ByteBuf> {
        private static final long CHUNK_BYTES = 256 * 1024;

        private final List<ByteBuf> parts;
        private final ByteRange range;
        private long position;

        MappedInput(List<ByteBuf> parts, ByteRange range) {
            this.parts = parts;
            this.range = range;
            position = range.first();
        }

        @Override
        public boolean isEndOfInput() {
            return position > range.last();
        }

        @Override
        public void close() {
            // The cache owns the mapping.
        }

        @Override
        @Deprecated
        public ByteBuf readChunk(ChannelHandlerContext ctx) {
            return readChunk(ctx.alloc());
        }

        @Override
        public ByteBuf readChunk(ByteBufAllocator allocator) {
            ByteBuf chunk = MappedFiles.slice(parts, position, Math.min(CHUNK_BYTES, range.last() + 1 - position));
            position += chunk.readableBytes();
            return chunk;
        }

        @Override
        public long length() {
            return range.length();
        }

        @Override
        public long progress() {
            return position - range.first();
        }
    }
}
