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
package io.netty.example.rdma.verbs;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;

/**
 * The first handler of a pipeline: tells the peer about this end, and fires the peer's {@link Introduction} as a user
 * event, when the first message brings it. With descriptors both are known when the channel becomes active. Then the
 * handler removes itself.
 */
final class IntroductionHandler extends ChannelInboundHandlerAdapter {
    private final VerbsEnd end;
    private Introduction own;
    private Introduction peer;

    IntroductionHandler(VerbsEnd end) {
        this.end = end;
    }

    /** Sets both introductions before the channel is connected, so that no messages are needed for them. */
    void handedOver(Introduction newOwn, Introduction newPeer) {
        own = newOwn;
        peer = newPeer;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        ctx.fireChannelActive();
        if (peer != null) {
            introduce(ctx);
            return;
        }
        own = end.introduce((RdmaMessageChannel) ctx.channel());
        ByteBuf message = ctx.alloc().buffer(Introduction.MAX_LENGTH);
        own.write(message);
        ctx.writeAndFlush(new RdmaSend(message)).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        RdmaReceive message = (RdmaReceive) msg;
        try {
            peer = Introduction.read(message.content());
        } finally {
            message.release();
        }
        introduce(ctx);
    }

    private void introduce(ChannelHandlerContext ctx) {
        own.checkPeer(peer);
        ctx.fireUserEventTriggered(peer);
        ctx.pipeline().remove(this);
    }
}
