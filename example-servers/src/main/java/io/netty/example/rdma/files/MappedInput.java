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
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;

import java.util.List;

/**
 * A range of a mapped file, in pieces: so many of them as the transport takes, and as TLS may encrypt at once.
 */
final class MappedInput implements ChunkedInput<ByteBuf> {
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
        // The mapping belongs to the cache.
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
