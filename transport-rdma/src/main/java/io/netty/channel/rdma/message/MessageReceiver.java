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
package io.netty.channel.rdma.message;

import io.netty.buffer.ByteBufHolder;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Gives the messages that arrive at one channel to its pipeline, when they are wanted.
 *
 * <p>On the loop of the channel.
 */
final class MessageReceiver {
    private final Channel channel;
    private final ChannelQueuePair queuePair;
    private final Receives receives;
    private final RdmaMessageMetrics metrics;
    private final BooleanSupplier isReading;
    private final Consumer<IOException> failed;
    private boolean readPending;
    private boolean reading;
    private boolean scheduled;

    /**
     * @param queuePair of the channel.
     * @param metrics that count the messages.
     * @param isReading whether the pipeline may get something.
     * @param failed told when receives can't be posted.
     */
    MessageReceiver(Channel channel, ChannelQueuePair queuePair, Receives receives, RdmaMessageMetrics metrics,
                    BooleanSupplier isReading, Consumer<IOException> failed) {
        this.channel = channel;
        this.queuePair = queuePair;
        this.receives = receives;
        this.metrics = metrics;
        this.isReading = isReading;
        this.failed = failed;
    }

    /** Posts all receives, before the peer can send. */
    void postAll() throws IOException {
        receives.postAll();
    }

    /** Work requests of receives have negative numbers, those of operations don't. */
    static boolean isReceive(long workRequestId) {
        return workRequestId < 0;
    }

    /** A receive has completed. */
    void completed(WorkCompletions completions, int index) {
        receives.completed(completions, index);
    }

    boolean hasArrived() {
        return receives.count() > 0;
    }

    /** Returns whether every receive has come back, so that nothing more can arrive. */
    boolean isFlushed() {
        return receives.isFlushed();
    }

    void clearReadPending() {
        readPending = false;
    }

    /** {@code read()} was called. What is there is delivered later, not from inside of that call. */
    void beginRead() {
        readPending = true;
        if (hasArrived() && !reading && !scheduled) {
            scheduled = true;
            queuePair.execute(() -> {
                scheduled = false;
                read(false);
            });
        }
    }

    /**
     * Gives what has arrived to the pipeline, as far as it is wanted.
     *
     * @param all whether it is or not: nothing more will come, and nobody will read later.
     */
    void read(boolean all) {
        if (reading || !hasArrived() || !readPending && !all || !isReading.getAsBoolean()) {
            return;
        }
        reading = true;
        try {
            loop(all);
        } finally {
            reading = false;
        }
        if (readPending && hasArrived()) {
            beginRead();
        }
    }

    private void loop(boolean all) {
        ChannelPipeline pipeline = channel.pipeline();
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        Throwable failure = null;
        try {
            do {
                ByteBufHolder message = receives.take();
                if (message == null) {
                    continue;
                }
                int length = length(message);
                handle.attemptedBytesRead(length);
                handle.lastBytesRead(length);
                handle.incMessagesRead(1);
                metrics.received(length);
                readPending = false;
                pipeline.fireChannelRead(message);
            } while (hasArrived() && isReading.getAsBoolean() && (all || handle.continueReading()));
        } catch (Throwable t) {
            failure = t;
        }
        repost();
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure instanceof OutOfMemoryError) {
            // A message is lost, and none behind it may be read as if nothing were missing: the connection ends.
            throw (OutOfMemoryError) failure;
        }
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
        }
    }

    private static int length(ByteBufHolder message) {
        // A send may have gone to memory of the application. A write is none of the receiver's doing.
        return message instanceof RdmaReceive && ((RdmaReceive) message).opcode() == WorkCompletionOpcode.RECEIVE ?
                ((RdmaReceive) message).length() : message.content().readableBytes();
    }

    private void repost() {
        try {
            receives.repost();
        } catch (VerbsException e) {
            failed.accept(e);
        }
    }

    /** The queue pair is gone. */
    void release() {
        receives.release();
    }
}
