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
package io.netty.example.rdma.pubsub;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.rdma.RdmaChannelOption;
import io.netty.channel.rdma.RdmaPermission;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RemoteMemory;

import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * Lets the subscriber read, and does not notice when it does.
 */
final class ReadPublisher extends PublisherEnd {
    private final SharedMemory memory;

    ReadPublisher(Subscription subscription, SharedMemory memory) {
        super(subscription);
        this.memory = memory;
    }

    @Override
    protected void configure(ChannelConfig config) {
        config.setOption(RdmaChannelOption.REMOTE_PERMISSIONS, Set.of(RdmaPermission.REMOTE_READ));
    }

    @Override
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of(memory.export(channel));
    }

    @Override
    void enough(ChannelHandlerContext ctx) {
        answer(ctx);
    }
}
