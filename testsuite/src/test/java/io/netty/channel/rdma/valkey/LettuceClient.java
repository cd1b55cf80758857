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
package io.netty.channel.rdma.valkey;

import io.lettuce.core.ConnectionBuilder;
import io.lettuce.core.ConnectionEvents;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import reactor.core.publisher.Mono;

import java.net.SocketAddress;

/**
 * A client of Lettuce with event loops and channels of the application's choice: Lettuce has no setting for these, but
 * takes the bootstrap that this method leaves.
 */
final class LettuceClient extends RedisClient {
    private final EventLoopGroup group;
    private final Class<? extends Channel> channelType;

    /**
     * A client.
     *
     * @param resources   are not shut down with the client
     * @param group       event loops for the channels, which are not shut down either
     * @param channelType of each connection
     */
    LettuceClient(ClientResources resources, RedisURI uri, EventLoopGroup group,
                  Class<? extends Channel> channelType) {
        super(resources, uri);
        this.group = group;
        this.channelType = channelType;
    }

    @Override
    @SuppressWarnings("unchecked")
    protected void connectionBuilder(Mono<SocketAddress> address, ConnectionBuilder builder, ConnectionEvents events,
                                     RedisURI uri) {
        super.connectionBuilder(address, builder, events, uri);
        // A bootstrap refuses a second channel class.
        Bootstrap bootstrap = new Bootstrap().group(group).channel(channelType);
        builder.bootstrap().config().options().forEach((option, value) ->
                bootstrap.option((ChannelOption<Object>) option, value));
        builder.bootstrap(bootstrap.resolver(builder.bootstrap().config().resolver()));
    }
}
