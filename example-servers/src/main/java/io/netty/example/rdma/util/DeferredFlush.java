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
 * Flushes once for everything that is written in one turn of a channel's event loop: the answers to requests that came
 * together go out together. To be used on that event loop.
 *
 * <p>Netty's {@code FlushConsolidationHandler} has the same purpose, but flushes from within a write that makes the
 * channel unwritable. What that flush lets be written next meets an {@code HttpObjectEncoder} that is still in the
 * middle of the first write, and then sends a buffer twice (Netty 4.2.17: its list of encoded parts is a field).
 */
public final class DeferredFlush {
    private final Channel channel;
    private boolean requested;

    public DeferredFlush(Channel channel) {
        this.channel = channel;
    }

    /** Flushes when the event loop has handled what is ready now. */
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
