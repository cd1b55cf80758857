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

/**
 * Deregistrations of a channel that wait for those of its carrier or listeners. If one was requested before a close but
 * ends after it, the pipeline loses its handlers before the task of the close can fire {@code channelInactive}. So this
 * class fires it. On the event loop.
 */
final class Deregistrations {
    private final Channel channel;
    /** Number of deregistrations that were requested while the channel was open, and have not taken effect. */
    private int pending;
    private boolean closedActive;

    Deregistrations(Channel channel) {
        this.channel = channel;
    }

    /** The channel is about to be deregistered. */
    void begin() {
        if (channel.isOpen() && channel.isRegistered()) {
            pending++;
        }
    }

    /** The channel is about to be closed. */
    void closing() {
        closedActive = channel.isActive();
    }

    /** The channel is deregistered. */
    void end() {
        if (pending > 0) {
            pending--;
            if (!channel.isOpen() && closedActive) {
                channel.pipeline().fireChannelInactive();
            }
        }
    }
}
