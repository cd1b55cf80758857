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
package io.netty.channel.rdma.peers;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.support.Generated;
import io.netty.handler.stream.ChunkedInput;

/**
 * So many {@link Generated} bytes, in pieces of no particular size.
 */
final class GeneratedInput implements ChunkedInput<ByteBuf> {
    private static final int PIECE = 34_567;

    private final long length;
    private long position;

    GeneratedInput(long length) {
        this.length = length;
    }

    @Override
    public ByteBuf readChunk(ByteBufAllocator allocator) {
        int count = (int) Math.min(PIECE, length - position);
        ByteBuf bytes = Generated.bytes(allocator, position, count);
        position += count;
        return bytes;
    }

    @Override
    @Deprecated
    public ByteBuf readChunk(ChannelHandlerContext ctx) {
        return readChunk(ctx.alloc());
    }

    @Override
    public boolean isEndOfInput() {
        return position == length;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long progress() {
        return position;
    }

    @Override
    public void close() {
        // There is nothing to release.
    }
}
