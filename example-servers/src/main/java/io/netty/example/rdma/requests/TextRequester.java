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
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.util.concurrent.Future;

import java.util.Set;

/**
 * Reads the text of the responder, and sends its own. The answer is how many bytes the responder has got.
 */
final class TextRequester extends TextEnd {
    private ByteBuf theirs;

    TextRequester(String text) {
        super(text);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        started();
        RemoteMemory remote = peer.memory(0, 1);
        if (remote.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("the peer's text has " + remote.length() + " bytes (expected: at most "
                    + MAX_LENGTH + ')');
        }
        theirs = ctx.alloc().directBuffer((int) remote.length(), (int) remote.length());
        ctx.writeAndFlush(new RdmaRead(theirs, remote, 0)).addListener(read -> read(ctx, read));
    }

    private void read(ChannelHandlerContext ctx, Future<?> read) {
        if (!read.isSuccess()) {
            exceptionCaught(ctx, read.cause());
            return;
        }
        tell("read", theirs);
        writeAndFlush(ctx, new RdmaSend(Unpooled.wrappedBuffer(text)));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        finish(ctx, "requester", theirs.readableBytes(), NumberMessage.read(msg) == text.length);
    }

    @Override
    protected void closed() {
        if (theirs != null) {
            theirs.release();
        }
    }
}
