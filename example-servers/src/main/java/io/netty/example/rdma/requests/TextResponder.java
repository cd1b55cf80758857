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

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Has a text to be read, and waits for one.
 */
final class TextResponder extends TextEnd {
    private RegisteredMemory memory;

    TextResponder(String text) {
        super(text);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_READ));
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        memory = RegisteredMemory.allocate(text.length, Set.of(RdmaPermission.REMOTE_READ));
        memory.buf().setBytes(0, text);
        return List.of(channel.export(memory));
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        started();
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        int length = msg.content().readableBytes();
        tell("received", msg.content());
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), length));
        finish(ctx, "responder", length, length > 0);
    }

    @Override
    protected void closed() {
        if (memory != null) {
            memory.close();
        }
    }
}
