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

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;

/**
 * The publisher's end of the connection to one subscriber.
 */
abstract class PublisherEnd extends VerbsEnd {
    private final Subscription subscription;
    private Receipt receipt;
    private long startNanos = System.nanoTime();

    PublisherEnd(Subscription subscription) {
        super(subscription.toString());
        this.subscription = subscription;
    }

    @Override
    protected void begin(ChannelHandlerContext ctx, Introduction peer) {
        startNanos = System.nanoTime();
    }

    /** The subscriber has enough. Call {@link #answer} when nothing is on its way to it any more. */
    abstract void enough(ChannelHandlerContext ctx);

    final void answer(ChannelHandlerContext ctx) {
        writeAndFlush(ctx, receipt.toMessage());
        finish(ctx, new Result("publisher by " + subscription.by(), receipt.seen(), subscription.size(),
                receipt.wrong(), System.nanoTime() - startNanos));
    }

    /** The others want their editions all the same. */
    @Override
    protected final Result lost(IOException cause) {
        return new Result("publisher by " + subscription.by() + ", whose subscriber is gone without a receipt ("
                + cause.getMessage() + ')', 0, subscription.size(), 0, System.nanoTime() - startNanos);
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        if (receipt != null) {
            throw new IllegalArgumentException("a second receipt: " + msg);
        }
        receipt = Receipt.read(msg);
        enough(ctx);
    }
}
