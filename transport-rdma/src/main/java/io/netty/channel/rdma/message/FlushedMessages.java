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

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.rdma.ChannelQueuePair;
import io.netty.channel.rdma.loop.Retry;

/**
 * The outbound buffer of a channel whose messages stay there until their work requests are done. On the loop of the
 * channel.
 */
final class FlushedMessages {
    /**
     * The index for {@link ChannelOutboundBuffer#setUserDefinedWritability}: the last one, as handlers begin with the
     * first.
     */
    private static final int WRITABILITY_INDEX = 31;

    /** Retries after staging memory ran out, if no operation in flight will free any. */
    private final Retry retry;
    private ChannelOutboundBuffer buffer;

    FlushedMessages(ChannelQueuePair queuePair, Runnable flushAgain) {
        retry = new Retry(queuePair::schedule, flushAgain);
    }

    /** Sets the outbound buffer. Not from within another write, which iterates over the messages. */
    void buffer(ChannelOutboundBuffer in) {
        buffer = in;
        removeCancelled();
    }

    boolean isEmpty() {
        return buffer == null || buffer.current() == null;
    }

    /**
     * Removes cancelled writes at the head. The buffer has replaced a write whose promise was cancelled before the
     * flush by an empty message, for which nothing is sent.
     */
    private void removeCancelled() {
        while (buffer.current() != null && !(buffer.current() instanceof RdmaOperation)) {
            buffer.remove();
        }
    }

    /** Sets the writability in addition to the water marks. */
    void setWritable(boolean writable) {
        if (buffer.getUserDefinedWritability(WRITABILITY_INDEX) != writable) {
            buffer.setUserDefinedWritability(WRITABILITY_INDEX, writable);
        }
    }

    /** Flushes again after a while, when there may be staging memory. */
    void retryLater() {
        retry.later();
    }

    /** Removes the oldest message, which is done. Its promise may run user code. */
    void remove(Throwable failure) {
        retry.done();
        if (failure == null) {
            buffer.remove();
        } else {
            buffer.remove(failure);
        }
        removeCancelled();
    }
}
