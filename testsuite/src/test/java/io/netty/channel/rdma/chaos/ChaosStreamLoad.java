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
package io.netty.channel.rdma.chaos;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.support.Generated;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/**
 * A stream of bytes in each direction, in pieces of every size and kind of memory. Received pieces are kept for a
 * while.
 */
final class ChaosStreamLoad extends ChaosLoad {
    private static final int MAX_PENDING = 8;
    private static final int MAX_KEPT = 20;
    private static final int MAX_PIECE = 1 << 18;

    private final List<ByteBuf> kept = new ArrayList<>();
    private long sent;

    ChaosStreamLoad(long seed, Queue<String> violations) {
        super(seed, violations);
    }

    @Override
    void send(ChannelHandlerContext ctx) {
        boolean written = false;
        while (isActive() && ctx.channel().isWritable() && pending() < MAX_PENDING) {
            // Small and large ones are equally frequent.
            int length = 1 + random.nextInt(1 << random.nextInt(Integer.numberOfTrailingZeros(MAX_PIECE)));
            write(ctx, piece(ctx, length));
            written = true;
        }
        if (written) {
            ctx.flush();
        }
    }

    private ByteBuf piece(ChannelHandlerContext ctx, int length) {
        ByteBuf piece = Generated.bytes(ctx.alloc(), sent, length);
        sent += length;
        switch (random.nextInt(4)) {
        case 0:
            try {
                return Unpooled.copiedBuffer(piece);
            } finally {
                piece.release();
            }
        case 1:
            int first = random.nextInt(length + 1);
            return Unpooled.wrappedBuffer(piece.readRetainedSlice(first), piece);
        default:
            return piece;
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf buf = (ByteBuf) msg;
        if (Generated.matches(buf, received())) {
            addReceived(buf.readableBytes());
        } else {
            violation("wrong bytes after position " + received());
        }
        kept.add(buf);
        if (kept.size() > MAX_KEPT) {
            release();
        }
        pauseReading(ctx);
    }

    @Override
    void release() {
        while (!kept.isEmpty()) {
            kept.remove(random.nextInt(kept.size())).release();
        }
    }
}
