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
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.example.rdma.util.DeferredFlush;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketServerCompressionHandler;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

/**
 * The pipeline of the WebSocket server.
 */
final class WebSocketServerInitializer extends ChannelInitializer<Channel> {
    /** Path of the server's URI. */
    static final String PATH = "/echo";

    /** Limit for the body of a handshake request, which usually has none. */
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
                // permessage-deflate. A small message may become huge, so a message that inflates to more than this is
                // refused.
                new WebSocketServerCompressionHandler(limits.maxFrameBytes()),
                // Answers pings and closes, checks UTF-8, and ends connections that break the protocol.
                new WebSocketServerProtocolHandler(WebSocketServerProtocolConfig.newBuilder()
                        .websocketPath(PATH)
                        .allowExtensions(true)
                        .maxFramePayloadLength(limits.maxFrameBytes())
                        .build()),
                // With this handler, autoRead also stops frames that are decoded already.
                new FlowControlHandler(),
                new WebSocketEchoHandler());
    }

    /**
     * Limits of a WebSocket server for a client.
     *
     * @param idleMillis    time after which a connection without any traffic is closed; 0 for never
     * @param maxFrameBytes maximum payload of a frame. The server holds a whole frame
     */
    record Limits(long idleMillis, int maxFrameBytes) {
        Limits {
            if (idleMillis < 0 || maxFrameBytes < 1) {
                throw new IllegalArgumentException("idleMillis (0..) " + idleMillis + ", maxFrameBytes (1..) "
                        + maxFrameBytes);
            }
        }
    }

    /**
     * Sends back each frame as it came, text as text and fragments as fragments, and stops reading while the client
     * does not take them. Other HTTP requests are answered with 404.
     */
    private static final class WebSocketEchoHandler extends ChannelInboundHandlerAdapter {
        private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(WebSocketEchoHandler.class);

        private DeferredFlush flush;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            flush = new DeferredFlush(ctx.channel());
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof WebSocketFrame) {
                ctx.write(message, ctx.voidPromise());
                flush.request();
                return;
            }
            ReferenceCountUtil.release(message);
            if (message instanceof FullHttpRequest) {
                FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                        HttpResponseStatus.NOT_FOUND);
                response.headers().set(HttpHeaderNames.CONTENT_LENGTH, 0)
                        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
            }
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            ctx.channel().config().setAutoRead(ctx.channel().isWritable());
            ctx.fireChannelWritabilityChanged();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof IdleStateEvent) {
                ctx.writeAndFlush(new CloseWebSocketFrame(WebSocketCloseStatus.ENDPOINT_UNAVAILABLE, "idle"))
                        .addListener(ChannelFutureListener.CLOSE);
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // Clients often go away, and some do not speak WebSocket.
            if (cause instanceof IOException || cause instanceof DecoderException) {
                LOGGER.debug("{}: closing", ctx.channel(), cause);
            } else {
                LOGGER.warn("{}: closing", ctx.channel(), cause);
            }
            ctx.close();
        }
    }
}
