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
package io.netty.example.rdma.util;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;

/**
 * The first bytes of the {@link Pattern}, piece by piece.
 */
public final class PatternInput implements ChunkedInput<ByteBuf> {
    private static final int CHUNK_BYTES = 64 * 1024;

    private final long length;
    private long position;

    public PatternInput(long length) {
        this.length = length;
    }

    @Override
    public boolean isEndOfInput() {
        return position == length;
    }

    @Override
    public void close() {
        // There is nothing to release.
    }

    @Override
    @Deprecated
    public ByteBuf readChunk(ChannelHandlerContext ctx) {
        return readChunk(ctx.alloc());
    }

    @Override
    public ByteBuf readChunk(ByteBufAllocator allocator) {
        int bytes = (int) Math.min(CHUNK_BYTES, length - position);
        ByteBuf chunk = allocator.directBuffer(bytes);
        Pattern.write(chunk, position, bytes);
        position += bytes;
        return chunk;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long progress() {
        return position;
    }
}
