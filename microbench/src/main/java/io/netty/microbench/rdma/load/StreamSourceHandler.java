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
package io.netty.microbench.rdma.load;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Writes buffers of one size for as long as the peer stays.
 */
final class StreamSourceHandler extends ChannelInboundHandlerAdapter {
    private final int writeBytes;
    private ByteBuf payload;
    private boolean filling;

    /** To be added to the pipeline of a connection that is established. */
    StreamSourceHandler(int writeBytes) {
        this.writeBytes = writeBytes;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        // One buffer that every write shares, from the channel's own allocator: what is measured is the transport,
        // and not how fast a CPU fills memory.
        payload = ctx.alloc().directBuffer(writeBytes, writeBytes).setZero(0, writeBytes).writerIndex(writeBytes);
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
        // The client ends by closing, which may reset the connection under a write.
        ctx.close();
    }
}
