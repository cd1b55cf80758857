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
package io.netty.channel.rdma.verbs;

import io.netty.util.internal.UnstableApi;

/**
 * An asynchronous event of a device (ibv_get_async_event(3)), already acknowledged.
 */
@UnstableApi
public final class AsyncEvent {
    static final int COUNT = 4;

    /** {@code enum ibv_event_type}; by ordinal. */
    private static final String[] NAMES = {
            "completion queue overflow or error",
            "queue pair error",
            "queue pair received an invalid request",
            "queue pair: the peer violated the access rights",
            "communication established on a queue pair",
            "send queue drained",
            "path migrated",
            "path migration failed",
            "device failed",
            "port active",
            "port error",
            "lid changed",
            "partition key table changed",
            "subnet manager changed",
            "shared receive queue error",
            "shared receive queue limit reached",
            "queue pair has taken its last receive from the shared receive queue",
            "subnet manager wants reregistration",
            "GID table changed",
            "work queue error"
    };
    private static final int DEVICE_FATAL = 8;
    private static final int SHARED_RECEIVE_LIMIT_REACHED = 15;
    private static final int LAST_RECEIVE_REACHED = 16;

    private final int type;
    private final long element;
    private final int queuePairNumber;
    private final int port;

    /** @param values type, address of the queue pair or queue or 0, queue pair number or 0, port or 0. */
    AsyncEvent(long[] values) {
        type = (int) values[0];
        element = values[1];
        queuePairNumber = (int) values[2];
        port = (int) values[3];
    }

    /** The value of {@code enum ibv_event_type}. */
    public int type() {
        return type;
    }

    /** Returns whether the device is lost with everything on it. */
    public boolean isDeviceFatal() {
        return type == DEVICE_FATAL;
    }

    /** Returns whether a shared receive queue has fewer receives than it was armed with. */
    public boolean isSharedReceiveLimitReached() {
        return type == SHARED_RECEIVE_LIMIT_REACHED;
    }

    /**
     * Returns whether a queue pair in the error state has completed all that it took from its shared receive queue, so
     * that it can be closed as soon as its completions have been polled.
     */
    public boolean isLastReceiveReached() {
        return type == LAST_RECEIVE_REACHED;
    }

    /** The queue pair that the event is about, or 0. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** The port that the event is about, or 0. */
    public int port() {
        return port;
    }

    /** Returns whether the event is about this completion queue. */
    public boolean concerns(CompletionQueue queue) {
        return queue.isOpen() && queue.address() == element;
    }

    /** Returns whether the event is about this queue pair. */
    public boolean concerns(QueuePair queuePair) {
        return queuePair.isOpen() && queuePair.address() == element;
    }

    /** Returns whether the event is about this shared receive queue. */
    public boolean concerns(SharedReceiveQueue queue) {
        return queue.isOpen() && queue.address() == element;
    }

    @Override
    public String toString() {
        return (type >= 0 && type < NAMES.length ? NAMES[type] : "event " + type) +
                (queuePairNumber != 0 ? " (queue pair " + Integer.toUnsignedString(queuePairNumber) + ')' : "") +
                (port != 0 ? " (port " + port + ')' : "");
    }
}
