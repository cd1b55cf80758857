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
package io.netty.example.rdma.pubsub;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.util.concurrent.Future;

import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Reads the publisher's memory, again and again.
 */
class ReadSubscriber extends SubscriberEnd {
    private static final long PAUSE_MICROS = 100;

    private RemoteMemory remote;
    private ByteBuf copy;

    ReadSubscriber(Subscription subscription) {
        super(subscription);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        int length = subscription.edition().length();
        remote = peer.memory(0, length);
        copy = ctx.alloc().directBuffer(length, length);
        started();
        read(ctx);
    }

    private void read(ChannelHandlerContext ctx) {
        int first = subscription.edition().firstPart();
        if (first < copy.capacity()) {
            // The second part first. Reads are executed in the order in which they are written.
            write(ctx, new RdmaRead(part(first, copy.capacity() - first), remote, first).unsignalled());
        }
        ctx.writeAndFlush(new RdmaRead(part(0, first), remote, 0)).addListener(future -> arrived(ctx, future));
    }

    private ByteBuf part(int index, int length) {
        return copy.slice(index, length).clear();
    }

    private void arrived(ChannelHandlerContext ctx, Future<?> future) {
        if (!future.isSuccess()) {
            exceptionCaught(ctx, future.cause());
            return;
        }
        Copy what = look(copy);
        if (hasEnough()) {
            end(ctx);
        } else if (what == Copy.NO_NEWS) {
            ctx.executor().schedule(() -> {
                if (ctx.channel().isActive()) {
                    read(ctx);
                }
            }, PAUSE_MICROS, TimeUnit.MICROSECONDS);
        } else {
            read(ctx);
        }
    }

    @Override
    protected void closed() {
        if (copy != null) {
            copy.release();
        }
    }
}
