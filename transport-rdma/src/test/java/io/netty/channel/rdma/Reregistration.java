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
package io.netty.channel.rdma;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Channels go from one event loop to another. Each step is waited for.
 */
final class Reregistration {
    private Reregistration() {
    }

    static void move(Channel channel, EventLoopGroup to) throws InterruptedException {
        deregister(channel);
        register(channel, to.next());
    }

    static void deregister(Channel channel) throws InterruptedException {
        TestTimeouts.await(channel.deregister());
        assertThat(channel.isRegistered()).isFalse();
    }

    static void register(Channel channel, EventLoop loop) throws InterruptedException {
        TestTimeouts.sync(loop.register(channel));
    }
}
