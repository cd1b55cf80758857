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
import io.netty.channel.rdma.connection.ReadLoop;
import io.netty.channel.rdma.verbs.VerbsException;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Gives the messages that have arrived at a channel to its pipeline. */
final class MessageReceiver extends ReadLoop {
    private final Channel channel;
    private final ChannelQueuePair queuePair;
    private final Receives receives;
    private final RdmaMessageMetrics metrics;
    private final BooleanSupplier isReading;
    private final Consumer<IOException> failed;
    /** True if all messages are to be read now, because there will be no more, and no later read. */
    private boolean all;

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

    @Override
    protected boolean hasNext() {
        return receives.count() > 0;
    }

    /** Returns whether every receive has come back, so that nothing more can arrive. */
    boolean isFlushed() {
        return receives.isFlushed();
    }

    /** Gives all messages to the pipeline, even if it does not want them, because no more will come. */
    void readAll() {
        all = true;
        read();
    }

    @Override
    protected ChannelPipeline pipeline() {
        return channel.pipeline();
    }

    @Override
    protected RecvByteBufAllocator.ExtendedHandle handle() {
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        return handle;
    }

    @Override
    protected void execute(Runnable task) {
        queuePair.execute(task);
    }

    @Override
    protected boolean isReading() {
        return isReading.getAsBoolean();
    }

    @Override
    protected boolean isDue() {
        return isWanted() || all && hasNext();
    }

    @Override
    protected ByteBufHolder next(RecvByteBufAllocator.ExtendedHandle handle) throws VerbsException {
        while (hasNext()) {
            ByteBufHolder message = receives.take();
            if (message != null) {
                int length = length(message);
                handle.attemptedBytesRead(length);
                handle.lastBytesRead(length);
                metrics.received(length);
                return message;
            }
        }
        return null;
    }

    @Override
    protected boolean goesOn(RecvByteBufAllocator.ExtendedHandle handle) {
        return hasNext() && isReading() && (all || handle.continueReading());
    }

    /** Posts the receives again. */
    @Override
    protected void taken() {
        try {
            receives.repost();
        } catch (VerbsException e) {
            failed.accept(e);
        }
    }

    @Override
    protected void failed(Throwable cause) {
        if (cause instanceof OutOfMemoryError) {
            // A message is lost. The connection ends, because later messages must not be read without it.
            throw (OutOfMemoryError) cause;
        }
        super.failed(cause);
    }

    private static int length(ByteBufHolder message) {
        // A SEND may have filled memory of the application. Bytes of a WRITE do not count as received.
        return message instanceof RdmaReceive && ((RdmaReceive) message).opcode() == WorkCompletionOpcode.RECEIVE ?
                ((RdmaReceive) message).length() : message.content().readableBytes();
    }

    /** The queue pair is gone. */
    void release() {
        receives.release();
    }
}
