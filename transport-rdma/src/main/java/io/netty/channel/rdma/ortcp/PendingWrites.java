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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MessageSizeEstimator;
import io.netty.util.ReferenceCountUtil;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongConsumer;

/**
 * Messages that are written to a channel before it is connected, in order. A {@code ChannelOutboundBuffer} can't pass
 * its messages and their promises to another channel. On the event loop.
 */
final class PendingWrites {
    /** Bytes that each message counts in addition to its own, as in {@code ChannelOutboundBuffer}. */
    private static final int OVERHEAD = 96;

    private final LongConsumer added;
    private final LongConsumer removed;
    private final Queue<Write> flushed = new ArrayDeque<>();
    private final Queue<Write> unflushed = new ArrayDeque<>();
    private long bytes;

    private static final class Write {
        final Object msg;
        final int size;
        final ChannelPromise promise;

        Write(Object msg, int size, ChannelPromise promise) {
            this.msg = msg;
            this.size = size;
            this.promise = promise;
        }
    }

    /**
     * @param added   counts bytes that wait.
     * @param removed counts those that were added and have failed.
     */
    PendingWrites(LongConsumer added, LongConsumer removed) {
        this.added = added;
        this.removed = removed;
    }

    /** Number of waiting bytes, with the overhead of messages. */
    long bytes() {
        return bytes;
    }

    void add(Object msg, ChannelPromise promise, MessageSizeEstimator.Handle estimator) {
        int size = Math.max(0, estimator.size(msg)) + OVERHEAD;
        unflushed.add(new Write(ReferenceCountUtil.touch(msg), size, promise));
        bytes += size;
        added.accept(size);
    }

    /** Marks all written messages as flushed. */
    void flush() {
        for (Write write; (write = unflushed.poll()) != null;) {
            if (write.promise.setUncancellable()) {
                flushed.add(write);
            } else {
                remove(write);
            }
        }
    }

    private void remove(Write write) {
        bytes -= write.size;
        ReferenceCountUtil.safeRelease(write.msg);
        removed.accept(write.size);
    }

    void failFlushed(Throwable cause) {
        for (Write write; (write = flushed.poll()) != null;) {
            remove(write);
            write.promise.tryFailure(cause);
        }
    }

    /** Fails all. */
    void fail(Throwable cause) {
        failFlushed(cause);
        for (Write write; (write = unflushed.poll()) != null;) {
            remove(write);
            write.promise.tryFailure(cause);
        }
    }

    /**
     * Writes all to the channel that is connected, and flushes nothing.
     *
     * @return whether some of it was flushed.
     */
    boolean moveTo(Channel.Unsafe connected) {
        boolean flush = !flushed.isEmpty();
        // The channel may refuse a message, and a listener of its promise may write more messages.
        while (!flushed.isEmpty() || !unflushed.isEmpty()) {
            Write write = flushed.isEmpty() ? unflushed.remove() : flushed.remove();
            connected.write(write.msg, write.promise);
        }
        bytes = 0;
        return flush;
    }
}
