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
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaSendImm;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RdmaWriteImm;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;

import java.util.Set;

/**
 * Reads the text of the responder, writes its own there, or sends it. The answer is how many bytes the responder has
 * got, or has had to be read.
 */
final class TextRequester extends TextEnd {
    private ByteBuf theirs;
    private int length;

    TextRequester(Operation operation, String text) {
        super(operation, text);
        length = this.text.length;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        started();
        switch (operation) {
        case READ_TEXT:
            read(ctx, peer.memory(0, 1));
            return;
        case WRITE_TEXT:
            write(ctx, new RdmaWrite(bytes(ctx), peer.memory(0, length), 0).unsignalled());
            write(ctx, NumberMessage.of(ctx.alloc(), length));
            break;
        case WRITE_IMM_TEXT:
            write(ctx, new RdmaWriteImm(bytes(ctx), peer.memory(0, length), 0, length));
            break;
        case SEND_TEXT:
            write(ctx, new RdmaSend(bytes(ctx)));
            break;
        default:
            write(ctx, new RdmaSendImm(bytes(ctx), length));
        }
        ctx.flush();
    }

    private ByteBuf bytes(ChannelHandlerContext ctx) {
        return ctx.alloc().directBuffer(length, length).writeBytes(text);
    }

    private void read(ChannelHandlerContext ctx, RemoteMemory remote) {
        if (remote.length() > MAX_LENGTH) {
            throw new IllegalArgumentException("the peer's text has " + remote.length() + " bytes (expected: at most "
                    + MAX_LENGTH + ')');
        }
        length = (int) remote.length();
        theirs = ctx.alloc().directBuffer(length, length);
        ctx.writeAndFlush(new RdmaRead(theirs, remote, 0)).addListener(read -> {
            if (read.isSuccess()) {
                tell("read", theirs);
                write(ctx, NumberMessage.of(ctx.alloc(), theirs.readableBytes()));
                ctx.flush();
            } else {
                exceptionCaught(ctx, read.cause());
            }
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        finish(ctx, "requester", length, NumberMessage.read(msg) == length);
    }

    @Override
    protected void closed() {
        if (theirs != null) {
            theirs.release();
        }
    }
}
