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
package io.netty.example.rdma.requests;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.RegisteredSlice;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.example.rdma.requests.Requests.ListRequests;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The first handler of a channel that posts no receives itself. It posts receives into memory of its own, each in two
 * pieces, the second of which lies before the first. It hands on received data as one buffer, without a copy. If asked
 * to, it posts a receive again when the handlers are done with it.
 */
final class ListReceiver extends ChannelInboundHandlerAdapter {
    private final int count;
    private final int size;
    private final boolean again;
    private RegisteredMemory memory;

    /**
     * @param count number of receives
     * @param size  size of each, in bytes
     * @param again whether a receive is posted again
     */
    ListReceiver(int count, int size, boolean again) {
        this.count = count;
        this.size = size;
        this.again = again;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws IOException {
        memory = RegisteredMemory.allocate(Math.multiplyExact(count, size), Set.of(RdmaPermission.LOCAL_WRITE));
        for (int i = 0; i < count; i++) {
            // There is no connection yet, so the receives are posted before the peer begins.
            post(ctx, ListRequests.pieces(memory, (long) i * size, size));
        }
    }

    private static void post(ChannelHandlerContext ctx, List<RegisteredSlice> receive) {
        ((RdmaMessageChannel) ctx.channel()).postReceive(receive)
                .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        RdmaReceive message = (RdmaReceive) msg;
        ByteBuf[] pieces = new ByteBuf[message.memory().size()];
        int left = message.length();
        for (int i = 0; i < pieces.length; i++) {
            RegisteredSlice slice = message.memory().get(i);
            int length = Math.min(left, slice.length());
            pieces[i] = memory.buf().retainedSlice((int) slice.offset(), length);
            left -= length;
        }
        ctx.fireChannelRead(message.replace(Unpooled.wrappedBuffer(pieces)));
        if (again) {
            post(ctx, message.memory());
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        memory.close();
    }
}
