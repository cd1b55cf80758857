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
import io.netty.channel.rdma.message.RdmaFetchAndAdd;
import io.netty.channel.rdma.message.RdmaOperation;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.channel.rdma.message.RdmaSyncEventGet;
import io.netty.example.rdma.verbs.NumberMessage;

import java.util.Set;

/**
 * Adds one to the responder's event, waits until the responder has set that of this end to the same number, and gets
 * the responder's to see that it is still that. No message is sent before the end.
 */
final class SyncEventRequester extends SyncEventEnd {
    SyncEventRequester(long count) {
        super(count);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
    }

    @Override
    void begin(ChannelHandlerContext ctx) {
        add(ctx);
    }

    private void add(ChannelHandlerContext ctx) {
        RdmaFetchAndAdd add = RdmaSyncEvent.add(remote, 1);
        after(ctx, add, () -> {
            check(add.oldValue(), done);
            own.waitUntil(done + 1, ctx.executor()).addListener(waited -> {
                if (waited.isSuccess()) {
                    check((long) waited.getNow(), done + 1);
                    get(ctx);
                } else {
                    exceptionCaught(ctx, waited.cause());
                }
            });
        });
    }

    private void get(ChannelHandlerContext ctx) {
        RdmaSyncEventGet get = new RdmaSyncEventGet(remote);
        after(ctx, get, () -> {
            check(get.value(), ++done);
            if (done < count) {
                add(ctx);
            } else {
                writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), done));
            }
        });
    }

    private void after(ChannelHandlerContext ctx, RdmaOperation operation, Runnable next) {
        ctx.writeAndFlush(operation).addListener(written -> {
            if (written.isSuccess()) {
                next.run();
            } else {
                exceptionCaught(ctx, written.cause());
            }
        });
    }

    private void check(long value, long expected) {
        if (value != expected) {
            wrong++;
        }
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        wrong += NumberMessage.read(msg);
        if (done < count) {
            throw new IllegalArgumentException("the answer came before the end");
        }
        finish(ctx, "requester");
    }
}
