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

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.memory.PartialByteBuf;
import io.netty.channel.rdma.verbs.WorkCompletionOpcode;
import io.netty.channel.rdma.verbs.WorkCompletions;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The messages of one channel that arrive in receives which it shares with other channels. A receive is posted again at
 * once, and its message waits here until the pipeline wants it. A few messages wait in the memory where they arrived.
 * Further ones are copied out of it, so that a channel that does not read takes no registered memory from the others.
 */
final class SharedReceives implements Receives {
    private final RdmaMessageChannel channel;
    private final ChannelQueuePair queuePair;
    private final RdmaMessageMetrics metrics;
    private final Queue<RdmaReceive> arrived = new ArrayDeque<>();
    private final int most;

    /** @param metrics that count what is copied. */
    SharedReceives(RdmaMessageChannel channel, ChannelQueuePair queuePair, RdmaMessageMetrics metrics) {
        this.metrics = metrics;
        this.channel = channel;
        this.queuePair = queuePair;
        most = channel.config.get(RdmaMessageChannelConfig.MAX_UNREAD_MESSAGES);
    }

    @Override
    public void postAll() {
        // Nothing to do: shared receives are posted already.
    }

    @Override
    public void completed(WorkCompletions completions, int index) {
        long workRequest = completions.workRequestId(index);
        if (!completions.isSuccess(index)) {
            queuePair.shared().giveBack(workRequest);
            return;
        }
        int opcode = completions.opcode(index);
        int length = completions.byteLength(index);
        boolean withImmediate = completions.hasImmediate(index);
        ByteBuf content = Unpooled.EMPTY_BUFFER;
        // A write does not touch the buffer of the receive that it consumes.
        if (opcode == WorkCompletionOpcode.RECEIVE && length > 0) {
            content = content(workRequest, length);
        } else {
            queuePair.shared().giveBack(workRequest);
        }
        try {
            arrived.add(new RdmaReceive(content, opcode, length, withImmediate,
                    withImmediate ? completions.immediate(index) : 0));
        } catch (Throwable t) {
            content.release();
            throw t;
        }
        if (arrived.size() > most) {
            channel.connectionFailed(new IOException(channel.remoteAddress() + " has sent more than " + most +
                    " messages that this channel did not read, and shared receives can't hold it back: read, raise " +
                    "MAX_UNREAD_MESSAGES, or have the peer wait for answers"));
        }
    }

    private ByteBuf content(long workRequest, int length) {
        ByteBuf full = null;
        try {
            full = arrived.size() < queuePair.receiveDepth() ? queuePair.shared().take(workRequest) : null;
            if (full == null) {
                metrics.copied(RdmaMessageMetrics.CopyCause.RECEIVED_HELD, length);
                return channel.alloc().heapBuffer(length, length)
                        .writeBytes(queuePair.shared().buffer(workRequest), 0, length);
            }
        } finally {
            if (full == null) {
                // The receive is given back even if an allocator throws: it belongs to others, too.
                queuePair.shared().giveBack(workRequest);
            }
        }
        return PartialByteBuf.tracked(full.setIndex(0, length));
    }

    @Override
    public int count() {
        return arrived.size();
    }

    @Override
    public RdmaReceive take() {
        return arrived.remove();
    }

    @Override
    public void repost() {
        // Nothing to do: shared receives are posted again as soon as they complete.
    }

    /** Always true, because the receives that the queue pair did not use remain posted for other channels. */
    @Override
    public boolean isFlushed() {
        return true;
    }

    @Override
    public void release() {
        for (RdmaReceive message; (message = arrived.poll()) != null;) {
            message.release();
        }
    }
}
