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

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaMessageChannelConfig;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;

/**
 * Waits until the requester has added to the event of this end, and sets the requester's to the same number.
 */
final class SyncEventResponder extends VerbsEnd {
    private final long count;
    private RdmaSyncEvent own;
    private RemoteMemory remote;
    private long done;
    private long wrong;
    private long startNanos;

    SyncEventResponder(long count) {
        super(Operation.SYNC_EVENT.program(Long.BYTES, count));
        this.count = count;
    }

    @Override
    protected void configure(RdmaMessageChannelConfig config) {
        config.setRemotePermissions(EnumSet.of(RdmaPermission.REMOTE_READ, RdmaPermission.REMOTE_ATOMIC));
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        own = new RdmaSyncEvent(0);
        return List.of(own.export(channel));
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        remote = peer.memory(0, Long.BYTES);
        startNanos = System.nanoTime();
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
            write(ctx, RdmaSyncEvent.set(remote, done));
            ctx.flush();
            if (done < count) {
                await(ctx);
            }
        });
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        if (RoundMessage.read(msg) != count || done < count) {
            throw new IllegalArgumentException("the peer came to its end after " + done + " of " + count);
        }
        write(ctx, RoundMessage.of(own.get() == count ? wrong : wrong + 1));
        ctx.flush();
        finish(ctx, new Result(Operation.SYNC_EVENT + " responder", count, Long.BYTES, wrong,
                System.nanoTime() - startNanos));
    }

    @Override
    protected void closed() {
        if (own != null) {
            own.close();
        }
    }
}
