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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.util.concurrent.atomic.AtomicLong;

/**
 * A subscriber: looks at copies of what is published, until it has seen as many editions as it wants. It may miss
 * some, but never takes an older one for a newer one, or parts of two for one.
 */
abstract class SubscriberEnd extends VerbsEnd {
    final Subscription subscription;
    private long seen;
    private final AtomicLong torn = new AtomicLong();
    private long wrong;
    private long latest;
    private long startNanos;
    private boolean ended;

    SubscriberEnd(Subscription subscription) {
        super(subscription.toString());
        this.subscription = subscription;
    }

    /** Kinds of copies. */
    enum Copy {
        /** A new edition. */
        NEWS,
        /** The edition that was there before. */
        NO_NEWS,
        /** To be thrown away, and taken again. */
        TORN
    }

    /** Number of torn copies. Any thread. */
    final long torn() {
        return torn.get();
    }

    final long wrong() {
        return wrong;
    }

    final void started() {
        startNanos = System.nanoTime();
    }

    /** Looks at a copy. On one thread only. */
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

    /** Says so to the publisher. On the event loop. */
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
        finish(ctx, new Result("subscriber by " + subscription.by() + " (" + torn() + " torn copies taken again)", seen,
                subscription.size(), wrong, System.nanoTime() - startNanos));
    }
}
