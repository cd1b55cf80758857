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
import io.netty.channel.rdma.message.RdmaRead;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A subscriber: looks at copies of the published record, until it has seen as many editions as it wants. It may miss
 * some, but never takes an older edition for a newer one, or parts of two editions for one.
 */
abstract class SubscriberEnd extends VerbsEnd {
    final Subscription subscription;
    private long seen;
    private final AtomicLong torn = new AtomicLong();
    private long wrong;
    private long latest;
    private boolean ended;

    SubscriberEnd(Subscription subscription) {
        super(subscription.toString());
        this.subscription = subscription;
    }

    /** Results of a look at a copy. */
    enum Copy {
        /** A new edition. */
        NEWS,
        /** The edition that was seen before. */
        NO_NEWS,
        /** A torn copy, which is dropped and taken again. */
        TORN
    }

    /** Number of torn copies. Any thread. */
    final long torn() {
        return torn.get();
    }

    final long wrong() {
        return wrong;
    }

    /** Checks a copy. Always on the same thread. */
    final Copy look(ByteBuf copy) {
        Edition edition = subscription.edition();
        long number = edition.number(copy);
        if (number == Edition.TORN) {
            torn.incrementAndGet();
            return Copy.TORN;
        }
        if (number == latest) {
            return Copy.NO_NEWS;
        }
        if (number < latest || !edition.isRight(copy)) {
            wrong++;
        }
        latest = number;
        seen++;
        return Copy.NEWS;
    }

    final boolean hasEnough() {
        return seen >= subscription.count();
    }

    private Receipt receipt() {
        return new Receipt(seen, torn(), wrong);
    }

    /** Tells the publisher that this end has seen enough. On the event loop. */
    final void end(ChannelHandlerContext ctx) {
        ended = true;
        writeAndFlush(ctx, receipt().toMessage());
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        Receipt answer = Receipt.read(msg);
        if (!ended || !answer.equals(receipt())) {
            throw new IllegalArgumentException("the publisher answers what was not said: " + answer);
        }
        finish(ctx, "subscriber by " + subscription.by() + " (" + torn() + " torn copies taken again)", seen,
                subscription.size(), wrong);
    }

    /** Subscriber that reads the publisher's memory again and again. */
    static class ReadSubscriber extends SubscriberEnd {
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
            whenClosed(copy::release);
            read(ctx);
        }

        private void read(ChannelHandlerContext ctx) {
            int first = subscription.edition().firstPart();
            if (first < copy.capacity()) {
                // The second part is read first. Reads are executed in the order in which they are written.
                write(ctx, new RdmaRead(part(first, copy.capacity() - first), remote, first).unsignalled());
            }
            then(ctx, ctx.writeAndFlush(new RdmaRead(part(0, first), remote, 0)), read -> arrived(ctx));
        }

        private ByteBuf part(int index, int length) {
            return copy.slice(index, length).clear();
        }

        private void arrived(ChannelHandlerContext ctx) {
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
    }

    /** Subscriber with memory that the publisher writes to. No event reports a write, so a thread looks. */
    static final class WrittenSubscriber extends SubscriberEnd {
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
            whenClosed(() -> {
                stopped = true;
                LockSupport.unpark(looking);
                memory.close();
            });
            subscription.edition().write(memory.buf(), 0);
            return List.of(channel.export(memory));
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
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
                        // If a device is software, its thread may wait for this processor.
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

        /** Checks a copy of the written memory, which may change between two looks. */
        Copy look(ByteBuf written, ByteBuf copy) {
            subscription.edition().copy(written, copy);
            return look(copy);
        }
    }
}
