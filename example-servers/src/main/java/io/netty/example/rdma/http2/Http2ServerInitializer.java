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
 * Sets up accepted connections. A client gets HTTP/2 if it asks for it in any of the ways that there are: by ALPN with
 * TLS; without TLS by prior knowledge or by an Upgrade of HTTP/1.1. It gets HTTP/1.1 if it does not ask.
 */
public final class Http2ServerInitializer extends ChannelInitializer<Channel> {
    /**
     * Number of bytes that a client may send in advance on one stream. The default, 64 KiB, would make a large upload
     * wait for the server once in so many bytes; Netty makes the window of the connection larger to match.
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
     * @param graceMillis for how long {@link #shutdown} waits for streams to end
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
        // Before the codec, as what is read on streams does not come out behind it. A slow reader is not idle: while
        // its answer moves, so does the connection (observeOutput).
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
     * Tells every client that there will be no more streams (GOAWAY), waits until those that are open have ended or the
     * time is over, and closes the connections. Those of HTTP/1.1, which can't be told, are closed at once. Stop
     * listening before.
     *
     * @return succeeds when all are closed
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
     * Allows a client more streams than it was told of. To the codec a stream has ended when the last write on it is
     * done. With RDMA that is when the client's device has said so, which may be after the client has read the answer
     * and has opened the next stream. The codec would refuse that one, and end the connection for the data behind it.
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

    /** The rest of the pipeline stays behind: see {@link ConnectionTail}. */
    private void http2(ChannelPipeline pipeline) {
        pipeline.addBefore(TAIL, null, codec()).addBefore(TAIL, null, streams());
    }

    /** With TLS the client says in the handshake what it speaks. */
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

    /** Without TLS, the client's first bytes are those of HTTP/2. */
    private final class PriorKnowledge extends ChannelInitializer<Channel> {
        @Override
        protected void initChannel(Channel channel) {
            http2(channel.pipeline());
        }
    }

    /** Without TLS, the client's first request says that it would rather speak HTTP/2. It is gone after that one. */
    private final class Upgrade extends HttpServerUpgradeHandler {
        Upgrade(HttpServerCodec http1) {
            super(http1, protocol -> AsciiString.contentEquals(Http2CodecUtil.HTTP_UPGRADE_PROTOCOL_NAME, protocol)
                    ? new ToHttp2(codec(), streams()) : null, 0,
                    DefaultHttpHeadersFactory.headersFactory(), DefaultHttpHeadersFactory.trailersFactory(), true);
        }

        /**
         * A request with a body is answered on HTTP/1.1, as a server may (RFC 7540, 3.2): it would have to be in memory
         * as a whole before the protocol changes.
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
     * Between the handler of an Upgrade and the codec of HTTP/2: holds the request that asked for it until the client
     * has begun to speak HTTP/2. curl 7.88 can't take more than 32 KiB together with the answer to the Upgrade
     * ("connection buffer size is too small to store data following HTTP Upgrade response header").
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
            // The preface, with the client's settings: they count for the answer.
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
