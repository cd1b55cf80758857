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
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.RegisteredMemory;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Has memory that the publisher writes to. Nothing tells when it does: a thread looks, again and again.
 */
final class WrittenSubscriber extends SubscriberEnd {
    private static final long PAUSE_NANOS = 100_000;

    private RegisteredMemory memory;
    private Thread looking;
    private volatile boolean stopped;

    WrittenSubscriber(Subscription subscription) {
        super(subscription);
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_WRITE));
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        memory = RegisteredMemory.allocate(subscription.edition().length(),
                EnumSet.of(RdmaPermission.REMOTE_WRITE, RdmaPermission.LOCAL_WRITE));
        subscription.edition().write(memory.buf(), 0);
        return List.of(channel.export(memory));
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        started();
        memory.retain();
        looking = new Thread(() -> look(ctx), "looking");
        looking.setDaemon(true);
        looking.start();
    }

    private void look(ChannelHandlerContext ctx) {
        ByteBuf copy = Unpooled.directBuffer(memory.buf().capacity());
        try {
            while (!stopped && !hasEnough()) {
                Copy what = look(memory.buf(), copy);
                if (what == Copy.NO_NEWS) {
                    LockSupport.parkNanos(PAUSE_NANOS);
                } else if (what == Copy.TORN) {
                    // Where devices are software, what writes there may wait for this processor.
                    Thread.yield();
                }
            }
            if (!stopped) {
                ctx.executor().execute(() -> end(ctx));
            }
        } finally {
            copy.release();
            memory.release();
        }
    }

    /** Judges a copy, as the memory may change between two looks. */
    Copy look(ByteBuf written, ByteBuf copy) {
        subscription.edition().copy(written, copy);
        return look(copy);
    }

    @Override
    protected void closed() {
        stopped = true;
        LockSupport.unpark(looking);
        if (memory != null) {
            memory.close();
        }
    }
}
