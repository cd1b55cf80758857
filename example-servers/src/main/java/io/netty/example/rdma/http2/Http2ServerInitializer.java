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
package io.netty.example.rdma.http2;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.rdma.ParentAllocatorHandler;
import io.netty.example.rdma.http.HttpLimits;
import io.netty.example.rdma.http.HttpServerInitializer;
import io.netty.example.rdma.http.LingeringCloseHandler;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerUpgradeHandler;
import io.netty.handler.codec.http.HttpServerUpgradeHandler.UpgradeEvent;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.CleartextHttp2ServerUpgradeHandler;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ServerUpgradeCodec;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Sets up accepted connections. A client gets HTTP/2 if it asks for it, else HTTP/1.1. With TLS it asks by ALPN;
 * without TLS by prior knowledge or by an Upgrade of HTTP/1.1.
 */
public final class Http2ServerInitializer extends ChannelInitializer<Channel> {
    /**
     * Number of bytes that a client may send in advance on one stream. With the default, 64 KiB, a large upload would
     * wait for the server after each 64 KiB. Netty makes the window of the connection larger to match.
     */
    static final int WINDOW_BYTES = 1 << 20;
    private static final int MAX_CONCURRENT_STREAMS = 1000;
    private static final String TAIL = "tail";

    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
    private final SslContext tls;
    private final HttpLimits limits;
    private final Supplier<ChannelHandler> handlers;
    private final long graceMillis;

    /**
     * @param tls         {@code null} for no TLS; see {@link Http2Tls#configure}
     * @param handlers    makes a handler of {@code HttpObject}s for each stream of HTTP/2, and for each connection of
     *                    HTTP/1.1
     * @param graceMillis how long {@link #shutdown} waits for streams to end
     */
    public Http2ServerInitializer(SslContext tls, HttpLimits limits, Supplier<ChannelHandler> handlers,
                                  long graceMillis) {
        this.tls = tls;
        this.limits = limits;
        this.handlers = handlers;
        this.graceMillis = graceMillis;
    }

    @Override
    protected void initChannel(Channel channel) {
        connections.add(channel);
        ChannelPipeline pipeline = channel.pipeline();
        // A client that reads an answer sends window updates all the time, also when the last stream has ended.
        pipeline.addLast(new LingeringCloseHandler(true));
        if (tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc()));
        }
        // The handler is before the codec, because data of streams do not come out behind the codec. A slow reader is
        // not idle: with observeOutput, progress of its answer counts as activity.
        pipeline.addLast(new IdleStateHandler(true, 0, 0, limits.idleMillis(), TimeUnit.MILLISECONDS));
        if (tls != null) {
            pipeline.addLast(new Alpn());
        } else {
            HttpServerCodec http1 = new HttpServerCodec();
            pipeline.addLast(new CleartextHttp2ServerUpgradeHandler(http1, new Upgrade(http1), new PriorKnowledge()));
        }
        pipeline.addLast(TAIL, new ConnectionTail(this::http1));
    }

    /**
     * Tells every client that there will be no more streams (GOAWAY), waits until open streams have ended or the time
     * is over, and closes the connections. Clients of HTTP/1.1 can't be told, so their connections are closed at once.
     * Stop listening before.
     *
     * @return succeeds when all connections are closed
     */
    public Future<?> shutdown() {
        return connections.close();
    }

    private Http2FrameCodec codec() {
        return Http2FrameCodecBuilder.forServer()
                .initialSettings(Http2Settings.defaultSettings().initialWindowSize(WINDOW_BYTES)
                        .maxConcurrentStreams(MAX_CONCURRENT_STREAMS))
                .gracefulShutdownTimeoutMillis(graceMillis)
                .build();
    }

    /**
     * Allows a client more streams than it was told. For the codec a stream ends when the last write on it is done.
     * With RDMA a write is done when the device has completed it. By then the client may have read the answer and
     * opened the next stream. The codec would refuse this stream, and end the connection because of the data behind it.
     *
     * @param codec has got the client's acknowledgement of its settings, after which it counts streams
     */
    static void allowStreams(Http2FrameCodec codec) {
        codec.connection().remote().maxActiveStreams(2 * MAX_CONCURRENT_STREAMS);
    }

    private Http2MultiplexHandler streams() {
        return new Http2MultiplexHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(ParentAllocatorHandler.INSTANCE, new Http2StreamFrameToHttpObjectCodec(true))
                        .addLast(HttpServerInitializer.behindCodec(limits, handlers.get()));
            }
        });
    }

    private ChannelHandler[] http1() {
        return HttpServerInitializer.behindCodec(limits, handlers.get());
    }

    /** Adds the handlers of HTTP/2. The rest of the pipeline stays behind them: see {@link ConnectionTail}. */
    private void http2(ChannelPipeline pipeline) {
        pipeline.addBefore(TAIL, null, codec()).addBefore(TAIL, null, streams());
    }

    /** Chooses the protocol with TLS: the client names it in the handshake. */
    private final class Alpn extends ApplicationProtocolNegotiationHandler {
        Alpn() {
            super(ApplicationProtocolNames.HTTP_1_1);
        }

        @Override
        protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
            if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                http2(ctx.pipeline());
            } else {
                ctx.pipeline().addBefore(TAIL, null, new HttpServerCodec());
            }
        }
    }

    /** Sets up HTTP/2 without TLS, if the client's first bytes are its preface. */
    private final class PriorKnowledge extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel channel) {
            http2(channel.pipeline());
        }
    }

    /** Changes to HTTP/2 without TLS if the client's first request asks for it. Removed after the first request. */
    private final class Upgrade extends HttpServerUpgradeHandler {
        Upgrade(HttpServerCodec http1) {
            super(http1, protocol -> AsciiString.contentEquals(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, protocol)
                    ? new ToHttp2(codec(), streams()) : null, 0,
                    DefaultHttpHeadersFactory.headersFactory(), DefaultHttpHeadersFactory.trailersFactory(), true);
        }

        /**
         * Refuses the Upgrade of a request with a body, which is then answered on HTTP/1.1, as a server may (RFC 7540,
         * 3.2). The whole body would have to be in memory before the protocol changes.
         */
        @Override
        protected boolean shouldHandleUpgradeRequest(HttpRequest request) {
            return !HttpUtil.isTransferEncodingChunked(request)
                    && request.headers().getInt(HttpHeaderNames.CONTENT_LENGTH, 0) == 0;
        }
    }

    private static final class ToHttp2 extends Http2ServerUpgradeCodec {
        ToHttp2(Http2FrameCodec codec, Http2MultiplexHandler streams) {
            super(codec, streams);
        }

        @Override
        public void upgradeTo(ChannelHandlerContext ctx, FullHttpRequest request) {
            super.upgradeTo(ctx, request);
            ctx.pipeline().addAfter(ctx.name(), null, new UpgradedRequestHandler());
        }
    }

    /**
     * Holds the request that asked for an Upgrade until the client has begun to speak HTTP/2. Its place is between the
     * handler of the Upgrade and the codec of HTTP/2. curl 7.88 can't take more than 32 KiB together with the answer to
     * the Upgrade ("connection buffer size is too small to store data following HTTP Upgrade response header").
     */
    private static final class UpgradedRequestHandler extends ChannelInboundHandlerAdapter {
        private UpgradeEvent held;

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof UpgradeEvent upgrade) {
                held = upgrade;
            } else {
                ctx.fireUserEventTriggered(event);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            // The message is the preface, with the client's settings. They apply to the answer.
            ctx.fireChannelRead(message);
            UpgradeEvent request = held;
            held = null;
            if (request != null) {
                ctx.fireUserEventTriggered(request);
            }
            ctx.pipeline().remove(this);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            if (held != null) {
                held.release();
                held = null;
            }
        }
    }
}
