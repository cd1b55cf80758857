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
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.channel.rdma.message.RdmaSyncEventGet;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.NumberMessage;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Common part of both ends of a ping-pong of two sync events. Each end has one.
 */
abstract class SyncEventEnd extends VerbsEnd {
    final long count;
    RdmaSyncEvent own;
    RemoteMemory remote;
    long done;
    long wrong;

    SyncEventEnd(long count) {
        super(Operation.SYNC_EVENT.program(Long.BYTES, count));
        this.count = count;
    }

    @Override
    protected final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        own = new RdmaSyncEvent(0);
        whenClosed(own::close);
        return List.of(own.export(channel));
    }

    @Override
    protected final void begin(ChannelHandlerContext ctx, Introduction peer) {
        remote = peer.memory(0, Long.BYTES);
        begin(ctx);
    }

    abstract void begin(ChannelHandlerContext ctx);

    final void finish(ChannelHandlerContext ctx, String end) {
        finish(ctx, Operation.SYNC_EVENT + " " + end, count, Long.BYTES, wrong);
    }

    /**
     * Adds one to the responder's event, and waits until the responder has set this end's event to the same number.
     * Then it gets the responder's event, which must still have this number. No message is sent before the end.
     */
    static final class SyncEventRequester extends SyncEventEnd {
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
            then(ctx, ctx.writeAndFlush(add), added -> {
                check(add.oldValue(), done);
                then(ctx, own.waitUntil(done + 1, ctx.executor()), value -> {
                    check(value, done + 1);
                    get(ctx);
                });
            });
        }

        private void get(ChannelHandlerContext ctx) {
            RdmaSyncEventGet get = new RdmaSyncEventGet(remote);
            then(ctx, ctx.writeAndFlush(get), got -> {
                check(get.value(), ++done);
                if (done < count) {
                    add(ctx);
                } else {
                    writeAndFlush(ctx, NumberMessage.of(ctx.alloc(), done));
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

    /** Waits until the requester has added to this end's event, and sets the requester's event to the same number. */
    static final class SyncEventResponder extends SyncEventEnd {
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
            then(ctx, own.waitUntil(done + 1, ctx.executor()), value -> {
                // The requester adds no more before this end has set its event.
                if (value != ++done) {
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
}
