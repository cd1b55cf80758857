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

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.redis.RedisArrayAggregator;
import io.netty.handler.codec.redis.RedisBulkStringAggregator;
import io.netty.handler.codec.redis.RedisDecoder;
import io.netty.handler.codec.redis.RedisEncoder;

/**
 * A client by Netty's codec, as docs/valkey.md shows it.
 */
final class CodecClient {
    private CodecClient() {
    }

    /** Connects; the handler gets an answer at a time, a {@code RedisMessage}, and writes arrays of strings. */
    static Channel connect(EventLoopGroup group, String host, int port, ChannelHandler handler)
            throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap().group(group)
                .channel(RdmaValkeySocketChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel ch) {
                        // Arrays of up to 65,536 elements, up to 8 of them one in another.
                        ch.pipeline().addLast(new RedisDecoder(), new RedisBulkStringAggregator(),
                                new RedisArrayAggregator(1 << 16, 8), new RedisEncoder(), handler);
                    }
                });
        return bootstrap.connect(host, port).sync().channel();
    }
}
