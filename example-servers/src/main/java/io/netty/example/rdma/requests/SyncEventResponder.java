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
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.example.rdma.verbs.NumberMessage;

import java.util.EnumSet;

/**
 * Waits until the requester has added to the event of this end, and sets the requester's to the same number.
 */
final class SyncEventResponder extends SyncEventEnd {
    SyncEventResponder(long count) {
        super(count);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS,
                EnumSet.of(RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_ATOMIC));
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        await(ctx);
    }

    private void await(ChannelHandlerContext ctx) {
        own.waitUntil(done + 1, ctx.executor()).addListener(waited -> {
            if (!waited.isSuccess()) {
                exceptionCaught(ctx, waited.cause());
                return;
            }
            // The requester adds no more before it has its answer.
            if ((long) waited.getNow() != ++done) {
                wrong++;
            }
            writeAndFlush(ctx, RdmaSyncEvent.set(remote, done));
            if (done < count) {
                await(ctx);
            }
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        if (NumberMessage.read(msg) != count || done < count) {
            throw new IllegalArgumentException("the peer came to its end after " + done + " of " + count);
        }
        writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), own.get() == count ? wrong : wrong + 1));
        finish(ctx, "responder");
    }
}
