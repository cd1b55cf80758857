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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSend;
import io.netty.channel.rdma.message.RdmaSendInv;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.util.Set;

/**
 * Writes into the memory that each request lends, and answers. Every other answer gives the memory back. Then the
 * requester's device refuses further access.
 */
final class LendResponder extends VerbsEnd {
    private final int size;
    private final long count;
    private long done;

    LendResponder(int size, long count) {
        super(Operation.LEND.program(size, count));
        this.size = size;
        this.count = count;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        RemoteMemory lent = RemoteMemory.read(msg.content());
        ByteBuf block = ctx.alloc().directBuffer(size, size);
        Blocks.write(block, done, size);
        write(ctx, new RdmaWrite(block, lent, 0).unsignalled());
        RdmaSend answer = NumberMessage.of(ctx.alloc(), done);
        ChannelFuture answered = ctx.writeAndFlush(
                LendRequester.isGivenBack(done) ? new RdmaSendInv(answer.content(), lent) : answer);
        done++;
        then(ctx, answered, written -> {
            if (done == count) {
                finish(ctx, Operation.LEND + " responder", count, size, 0);
            }
        });
    }
}
