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

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

import static io.netty.util.internal.ObjectUtil.checkPositive;

/**
 * Limits of the messages that {@link RdmaRendezvousHandler}s read at a time. The handlers of all channels of a process
 * may share one object, to limit the memory of all. A message counts from when its reading begins until the pipeline
 * gets it. Announced messages that exceed the limit at the moment wait, without memory. A message that can never fit is
 * refused. Any thread.
 */
public final class RdmaRendezvousLimits {
    private final int maxLength;
    private final long maxPeerBytes;
    private final long maxBytes;
    private final AtomicLong used = new AtomicLong();
    /** Handlers that wait for memory of others. */
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    /**
     * @param maxLength of a message, in bytes, at least 1.
     * @param maxPeerBytes of one channel's messages, at least {@code maxLength}.
     * @param maxBytes of all channels' messages together, at least {@code maxLength}.
     */
    public RdmaRendezvousLimits(int maxLength, long maxPeerBytes, long maxBytes) {
        this.maxLength = checkPositive(maxLength, "maxLength");
        this.maxPeerBytes = atLeast(maxLength, maxPeerBytes, "maxPeerBytes");
        this.maxBytes = atLeast(maxLength, maxBytes, "maxBytes");
    }

    private static long atLeast(int least, long value, String name) {
        if (value < least) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: at least maxLength, " + least + ')');
        }
        return value;
    }

    /** The longest message in bytes. */
    public int maxLength() {
        return maxLength;
    }

    /** The most bytes that are read for one channel at a time. */
    public long maxPeerBytes() {
        return maxPeerBytes;
    }

    /** The most bytes that are read for all channels at a time. */
    public long maxBytes() {
        return maxBytes;
    }

    /** The bytes that are read for all channels now. */
    public long usedBytes() {
        return used.get();
    }

    /**
     * Reserves memory, or registers the handler to retry.
     *
     * @param retry called once, on any thread, when there may be enough memory, if there is not enough now.
     */
    boolean reserve(long bytes, Runnable retry) {
        if (tryReserve(bytes)) {
            return true;
        }
        waiting.add(retry);
        // Memory may have been given back before the other thread could see the waiting handler.
        if (tryReserve(bytes)) {
            waiting.remove(retry);
            return true;
        }
        return false;
    }

    /** Ends the waiting of a handler. */
    void forget(Runnable retry) {
        waiting.remove(retry);
    }

    private boolean tryReserve(long bytes) {
        for (;;) {
            long now = used.get();
            if (bytes > maxBytes - now) {
                return false;
            }
            if (used.compareAndSet(now, now + bytes)) {
                return true;
            }
        }
    }

    void release(long bytes) {
        used.addAndGet(-bytes);
        for (int i = waiting.size(); i > 0; i--) {
            Runnable retry = waiting.poll();
            if (retry == null) {
                return;
            }
            retry.run();
        }
    }
}
