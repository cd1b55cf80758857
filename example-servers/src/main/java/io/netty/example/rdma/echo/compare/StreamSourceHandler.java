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
package io.netty.example.rdma.echo.compare;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Reads a 4-byte write size, then writes buffers of that size for as long as the peer stays.
 */
final class StreamSourceHandler extends ChannelInboundHandlerAdapter {
    private static final int MAX_WRITE_BYTES = 64 << 20;

    private ByteBuf payload;
    private boolean filling;

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf request = (ByteBuf) msg;
        try {
            if (payload != null || request.readableBytes() != Integer.BYTES) {
                throw new IllegalArgumentException("expected one write size of 4 bytes");
            }
            int bytes = request.readInt();
            if (bytes < 1 || bytes > MAX_WRITE_BYTES) {
                throw new IllegalArgumentException("write size out of 1.." + MAX_WRITE_BYTES + ": " + bytes);
            }
            // One buffer that every write shares, from the channel's own allocator: what is measured is the transport,
            // and not how fast a CPU fills memory.
            payload = ctx.alloc().directBuffer(bytes, bytes).setZero(0, bytes).writerIndex(bytes);
        } finally {
            request.release();
        }
        fill(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        fill(ctx);
    }

    private void fill(ChannelHandlerContext ctx) {
        Channel channel = ctx.channel();
        // A flush that makes the channel writable again calls back into here.
        if (payload == null || filling) {
            return;
        }
        filling = true;
        while (channel.isWritable()) {
            ctx.write(payload.retainedDuplicate(), ctx.voidPromise());
        }
        ctx.flush();
        filling = false;
        if (channel.isWritable()) {
            ctx.executor().execute(() -> fill(ctx));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (payload != null) {
            payload.release();
            payload = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // The client ends a measurement by closing, which may reset the connection under a write.
        ctx.close();
    }
}
