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
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMemoryWindow;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.Set;

/**
 * Lends the responder memory with each request, as storage protocols do. A memory window is bound for each request, its
 * key goes with the request, and the answer gives it back. Between requests the memory stays registered, but no peer
 * has access. Every other answer does not give the window back, and then this end revokes it.
 */
final class LendRequester extends VerbsEnd {
    private final int size;
    private final long count;
    private RegisteredMemory memory;
    private RdmaMemoryWindow window;
    private long done;
    private long wrong;

    LendRequester(int size, long count) {
        super(Operation.LEND.program(size, count));
        this.size = size;
        this.count = count;
    }

    @Override
    protected void configure(ChannelConfig config) throws IOException {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
        memory = RegisteredMemory.allocate(size, Set.of(RdmaPermission.LOCAL_WRITE));
        whenClosed(memory::close);
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        request(ctx);
    }

    private void request(ChannelHandlerContext ctx) {
        then(ctx, ((RdmaMessageChannel) ctx.channel()).bindWindow(memory, 0, size,
                Set.of(RdmaPermission.REMOTE_WRITE)), bound -> {
            window = bound;
            ByteBuf blob = ctx.alloc().buffer(RemoteMemory.BLOB_LENGTH, RemoteMemory.BLOB_LENGTH);
            window.remoteMemory().write(blob);
            writeAndFlush(ctx, new RdmaSend(blob));
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        if (NumberMessage.read(msg) != done || window.isOpen() == isGivenBack(done)) {
            throw new IllegalArgumentException("an answer to request " + done + " that is not as expected: "
                    + window);
        }
        window.revoke().addListener(revoked -> {
            if (!Blocks.matches(memory.buf().slice(0, size), done, size)) {
                wrong++;
            }
            if (++done < count) {
                request(ctx);
            } else {
                finish(ctx, Operation.LEND + " requester", count, size, wrong);
            }
        });
    }

    /** Returns whether the answer to a request gives the window back. */
    static boolean isGivenBack(long request) {
        return request % 2 == 0;
    }
}
