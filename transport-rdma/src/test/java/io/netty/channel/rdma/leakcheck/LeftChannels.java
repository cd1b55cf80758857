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
package io.netty.channel.rdma.leakcheck;

import io.netty.channel.Channel;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Channels that are closed after the class of tests, if they are still open. Some of Netty's tests leave theirs open;
 * what is to be found out is whether the event loops give everything back when they are closed.
 */
public final class LeftChannels {
    private static final Set<Channel> CHANNELS = ConcurrentHashMap.newKeySet();

    private LeftChannels() {
    }

    /** @param channel that is about to be registered. */
    public static void add(Channel channel) {
        CHANNELS.add(channel);
        channel.closeFuture().addListener(future -> CHANNELS.remove(channel));
    }

    static void close() {
        for (Channel channel : CHANNELS) {
            if (channel.isRegistered()) {
                channel.close();
            } else {
                // The channel's event loop may have ended.
                channel.unsafe().closeForcibly();
            }
        }
    }
}
