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
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.DeferredFlush;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import io.netty.handler.codec.http.websocketx.extensions.compression.WebSocketClientCompressionHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ExecutionException;

/**
 * A client's WebSocket. Frames may be sent before earlier ones have come back. Use it on its event loop, which also
 * notifies its futures.
 */
public final class WebSocketConnection {
    private static final int MAX_FRAME_BYTES = 64 << 20;
    private static final int MAX_HANDSHAKE_BYTES = 8 * 1024;

    private final Channel channel;
    private final WebSocketClientHandler handler;
    private final DeferredFlush flush;

    private WebSocketConnection(Channel channel, WebSocketClientHandler handler) {
        this.channel = channel;
        this.handler = handler;
        flush = new DeferredFlush(channel);
    }

    /** Connects, with TLS if the options say so. Not to be called on an event loop. */
    public static WebSocketConnection open(ClientOptions options, EventLoopGroup group, boolean compression)
            throws IOException, InterruptedException, ExecutionException {
        SslContextBuilder tls = options.sslContext();
        return open(options.transport(), group, tls == null ? null : tls.build(), options.host(), options.port(),
                compression);
    }

    /**
     * Connects. Not to be called on an event loop.
     *
     * @param ssl         {@code null} for ws, without TLS
     * @param compression whether to ask for permessage-deflate
     * @throws ExecutionException if the server does not become a WebSocket
     */
    public static WebSocketConnection open(ClientTransport transport, EventLoopGroup group, SslContext ssl, String host,
                                    int port, boolean compression) throws InterruptedException, ExecutionException {
        Promise<Void> ready = group.next().newPromise();
        WebSocketClientHandler handler = new WebSocketClientHandler(ready);
        String scheme = ssl == null ? "ws://" : "wss://";
        WebSocketClientProtocolConfig config = WebSocketClientProtocolConfig.newBuilder()
                .webSocketUri(scheme + host + ':' + port + WebSocketServerInitializer.PATH)
                .allowExtensions(compression)
                .maxFramePayloadLength(MAX_FRAME_BYTES)
                // Pongs are answers as well.
                .dropPongFrames(false)
                .handleCloseFrames(false)
                .build();
        Channel channel = transport.connect(group, host, port, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (ssl != null) {
                    channel.pipeline().addLast(ssl.newHandler(channel.alloc(), host, port));
                }
                channel.pipeline().addLast(new HttpClientCodec(), new HttpObjectAggregator(MAX_HANDSHAKE_BYTES));
                if (compression) {
                    channel.pipeline().addLast(new WebSocketClientCompressionHandler(MAX_FRAME_BYTES));
                }
                channel.pipeline().addLast(new WebSocketClientProtocolHandler(config), handler);
            }
        });
        ready.get();
        return new WebSocketConnection(channel, handler);
    }

    public Channel channel() {
        return channel;
    }

    /**
     * Sends a frame and waits for the next one.
     *
     * @param frame taken over
     * @return the received frame; its receiver releases it
     */
    public Future<WebSocketFrame> send(WebSocketFrame frame) {
        Promise<WebSocketFrame> promise = channel.eventLoop().newPromise();
        handler.add(promise);
        flush.request();
        channel.write(frame).addListener(written -> {
            if (!written.isSuccess()) {
                promise.tryFailure(written.cause());
            }
        });
        return promise;
    }

    /** Gives each frame to the oldest promise that waits. */
    private static final class WebSocketClientHandler extends SimpleChannelInboundHandler<WebSocketFrame> {
        private final Promise<Void> ready;
        private final Queue<Promise<WebSocketFrame>> awaiting = new ArrayDeque<>();
        private Throwable closedBy;

        /** @param ready done when the handshake is complete */
        WebSocketClientHandler(Promise<Void> ready) {
            this.ready = ready;
        }

        /** Adds a promise for the next frame. To be called on the event loop. */
        void add(Promise<WebSocketFrame> next) {
            if (closedBy != null) {
                next.setFailure(closedBy);
            } else {
                awaiting.add(next);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, WebSocketFrame frame) throws IOException {
            Promise<WebSocketFrame> next = awaiting.poll();
            if (next == null) {
                throw new IOException("nobody waits for this frame: " + frame);
            }
            if (!next.trySuccess(frame.retain())) {
                frame.release();
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
                ready.trySuccess(null);
            }
            ctx.fireUserEventTriggered(event);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(new IOException("the server closed"));
            ctx.fireChannelInactive();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            // The cause, from TLS or a codec, tells more than the exception of the decoder.
            fail(cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause);
            ctx.close();
        }

        private void fail(Throwable cause) {
            if (closedBy == null) {
                closedBy = cause;
            }
            ready.tryFailure(closedBy);
            for (Promise<WebSocketFrame> next = awaiting.poll(); next != null; next = awaiting.poll()) {
                next.tryFailure(closedBy);
            }
        }
    }
}
