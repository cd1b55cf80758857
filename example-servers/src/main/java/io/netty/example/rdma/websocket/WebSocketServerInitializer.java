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
package io.netty.example.rdma.websocket;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateHandler;

import java.util.concurrent.TimeUnit;

/**
 * The pipeline of the WebSocket server.
 */
final class WebSocketServerInitializer extends ChannelInitializer<Channel> {
    /** Where the server is, as the path of its URI. */
    static final String PATH = "/echo";

    /** A request to become a WebSocket has no body to speak of. */
    private static final int MAX_HANDSHAKE_BODY_BYTES = 8 * 1024;

    private final SslContext ssl;
    private final Limits limits;

    /** @param ssl {@code null} for ws, without TLS */
    WebSocketServerInitializer(SslContext ssl, Limits limits) {
        this.ssl = ssl;
        this.limits = limits;
    }

    @Override
    protected void initChannel(Channel channel) {
        ChannelPipeline pipeline = channel.pipeline();
        if (ssl != null) {
            pipeline.addLast(ssl.newHandler(channel.alloc()));
        }
        pipeline.addLast(
                new IdleStateHandler(true, 0, 0, limits.idleMillis(), TimeUnit.MILLISECONDS),
                new HttpServerCodec(),
                new HttpObjectAggregator(MAX_HANDSHAKE_BODY_BYTES),
                // permessage-deflate. A message that inflates to more than this is refused: small ones may become huge.
                new WebSocketServerCompressionHandler(limits.maxFrameBytes()),
                // Answers pings and closes, checks UTF-8, and ends connections that break the protocol.
                new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                        .websocketPath(PATH)
                        .allowExtensions(true)
                        .maxFramePayloadLength(limits.maxFrameBytes())
                        .build()),
                // With it autoRead stops frames that are already decoded, too.
                new FlowControlHandler(),
                new WebSocketEchoHandler());
    }

    /**
     * Limits of a WebSocket server for a client.
     *
     * @param idleMillis    a connection on which nothing moves for so long is closed; 0 for never
     * @param maxFrameBytes payload of a frame at most. The server holds a whole one
     */
    record Limits(long idleMillis, int maxFrameBytes) {
        Limits {
            if (idleMillis < 0 || maxFrameBytes < 1) {
                throw new IllegalArgumentException("idleMillis (0..) " + idleMillis + ", maxFrameBytes (1..) "
                        + maxFrameBytes);
            }
        }
    }
}
