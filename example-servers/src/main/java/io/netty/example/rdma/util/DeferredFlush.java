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
package io.netty.example.rdma.util;

import io.netty.channel.Channel;

/**
 * Flushes once for all writes in one turn of a channel's event loop, so that the answers to requests that arrived
 * together are sent together. For use on that event loop.
 *
 * <p>Netty's {@code FlushConsolidationHandler} has the same purpose, but flushes from within a write that makes the
 * channel unwritable. This flush may trigger the next write, while an {@code HttpObjectEncoder} is still in the middle
 * of the first one. Then the encoder sends a buffer twice (Netty 4.2.17: its list of encoded parts is a field).
 */
public final class DeferredFlush {
    private final Channel channel;
    private boolean requested;

    public DeferredFlush(Channel channel) {
        this.channel = channel;
    }

    /** Flushes when the event loop has handled all events that are ready now. */
    public void request() {
        if (!requested) {
            requested = true;
            channel.eventLoop().execute(this::flush);
        }
    }

    private void flush() {
        requested = false;
        channel.flush();
    }
}
