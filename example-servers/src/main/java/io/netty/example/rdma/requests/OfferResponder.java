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
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.util.Set;

/**
 * Writes into the memory that the requester has offered with its connect request.
 */
final class OfferResponder extends VerbsEnd {
    private final int size;

    OfferResponder(int size) {
        super(Operation.OFFER.program(size, 1));
        this.size = size;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        byte[] request = ((RdmaMessageChannel) ctx.channel()).peerData();
        RemoteMemory offered = request.length > 0 ? RemoteMemory.read(Unpooled.wrappedBuffer(request))
                : peer.memory(0, size);
        if (offered.length() != size) {
            throw new IllegalArgumentException("the peer offers " + offered + " (expected: " + size + " bytes)");
        }
        ByteBuf block = ctx.alloc().directBuffer(size, size);
        Blocks.write(block, 0, size);
        long startNanos = System.nanoTime();
        then(ctx, ctx.writeAndFlush(new RdmaWriteImm(block, offered, 0, size)), written ->
                finish(ctx, new Result(Operation.OFFER + " responder", 1, size, 0, System.nanoTime() - startNanos)));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        throw new IllegalArgumentException("the peer has sent a message (expected: none)");
    }
}
