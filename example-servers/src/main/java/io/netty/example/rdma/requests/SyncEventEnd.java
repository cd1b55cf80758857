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
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaSyncEvent;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.List;

/**
 * Common part of both ends of a ping-pong of two events: their own event, and the other end's.
 */
abstract class SyncEventEnd extends VerbsEnd {
    final long count;
    RdmaSyncEvent own;
    RemoteMemory remote;
    long done;
    long wrong;
    private long startNanos;

    SyncEventEnd(long count) {
        super(Operation.SYNC_EVENT.program(Long.BYTES, count));
        this.count = count;
    }

    @Override
    protected final List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        own = new RdmaSyncEvent(0);
        return List.of(own.export(channel));
    }

    @Override
    protected final void begin(ChannelHandlerContext ctx, Introduction peer) {
        remote = peer.memory(0, Long.BYTES);
        startNanos = System.nanoTime();
        begin(ctx);
    }

    abstract void begin(ChannelHandlerContext ctx);

    final void finish(ChannelHandlerContext ctx, String end) {
        finish(ctx, new Result(Operation.SYNC_EVENT + " " + end, count, Long.BYTES, wrong,
                System.nanoTime() - startNanos));
    }

    @Override
    protected final void closed() {
        if (own != null) {
            own.close();
        }
    }
}
