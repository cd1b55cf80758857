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
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RdmaWrite;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.pubsub.Press.SharedMemory;
import io.netty.example.rdma.verbs.Introduction;
import io.netty.example.rdma.verbs.Result;
import io.netty.example.rdma.verbs.VerbsEnd;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The publisher's end of the connection to one subscriber.
 */
abstract class PublisherEnd extends VerbsEnd {
    private final Subscription subscription;
    private Receipt receipt;

    PublisherEnd(Subscription subscription) {
        super(subscription.toString());
        this.subscription = subscription;
    }

    /** Answers, by {@link #answer}, a subscriber that has seen enough, when no write to it is in flight. */
    abstract void enough(ChannelHandlerContext ctx);

    final void answer(ChannelHandlerContext ctx) {
        writeAndFlush(ctx, receipt.toMessage());
        finish(ctx, "publisher by " + subscription.by(), receipt.seen(), subscription.size(), receipt.wrong());
    }

    /** Returns a result, so that the other subscribers still get their editions. */
    @Override
    protected final Result lost(IOException cause) {
        return new Result("publisher by " + subscription.by() + ", whose subscriber is gone without a receipt ("
                + cause.getMessage() + ')', 0, subscription.size(), 0, nanos());
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext ctx, RdmaReceive msg) {
        if (receipt != null) {
            throw new IllegalArgumentException("a second receipt: " + msg);
        }
        receipt = Receipt.read(msg);
        enough(ctx);
    }

    /** Lets the subscriber read, and does not notice the reads. */
    static final class ReadPublisher extends PublisherEnd {
        private final SharedMemory memory;

        ReadPublisher(Subscription subscription, SharedMemory memory) {
            super(subscription);
            this.memory = memory;
        }

        @Override
        protected void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_READ));
        }

        @Override
        protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
            return List.of(memory.export(channel));
        }

        @Override
        void enough(ChannelHandlerContext ctx) {
            answer(ctx);
        }
    }

    /**
     * Writes editions into the subscriber's memory. The subscriber's process does not notice the writes. Only one
     * edition is in flight at a time, so a subscriber that is far away gets fewer editions, and no queue.
     */
    static class WritingPublisher extends PublisherEnd {
        private final Edition format;
        /** True if an edition is in flight, or none may be sent. */
        private final AtomicBoolean busy = new AtomicBoolean(true);
        private volatile ChannelHandlerContext context;
        private RemoteMemory remote;
        private boolean writing;
        private boolean enough;

        WritingPublisher(Subscription subscription) {
            super(subscription);
            format = subscription.edition();
        }

        @Override
        protected void configure(ChannelConfig config) {
            config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of());
        }

        @Override
        protected void begin(ChannelHandlerContext ctx, Introduction peer) {
            remote = peer.memory(0, format.length());
            context = ctx;
            busy.set(false);
        }

        /** Writes the edition, unless another one is still in flight. Any thread; the caller keeps its reference. */
        void offer(ByteBuf edition) {
            if (!busy.compareAndSet(false, true)) {
                return;
            }
            ByteBuf own = edition.retainedDuplicate();
            try {
                context.executor().execute(() -> write(own));
            } catch (RejectedExecutionException e) {
                // The event loop has ended, and the connection with it.
                own.release();
            }
        }

        private void write(ByteBuf edition) {
            if (enough) {
                edition.release();
                return;
            }
            writing = true;
            int first = format.firstPart();
            if (first == edition.readableBytes()) {
                then(context, context.writeAndFlush(new RdmaWrite(edition, remote, 0)), this::written);
                return;
            }
            write(context, new RdmaWrite(edition.readRetainedSlice(first), remote, 0).unsignalled());
            then(context, context.writeAndFlush(new RdmaWrite(edition, remote, first)), this::written);
        }

        private void written(Void done) {
            writing = false;
            if (enough) {
                answer(context);
            } else {
                busy.set(false);
            }
        }

        @Override
        void enough(ChannelHandlerContext ctx) {
            enough = true;
            if (!writing) {
                answer(ctx);
            }
        }
    }
}
