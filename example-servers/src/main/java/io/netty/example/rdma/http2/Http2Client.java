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

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ConnectTimeoutException;
import io.netty.example.rdma.http.BodyCheck;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpClientUpgradeHandler;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ClientUpgradeCodec;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2GoAwayFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2SettingsFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.stream.ChunkedInput;
import io.netty.util.CharsetUtil;
import io.netty.util.NetUtil;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/**
 * A connection to an HTTP/2 server. Requests may be sent from any thread.
 */
public final class Http2Client {
    /** Ways to start HTTP/2 without TLS. With TLS, the handshake negotiates it. */
    public enum Start {
        PRIOR_KNOWLEDGE, UPGRADE
    }

    private static final String CONNECTION = "connection";
    private static final int MAX_UPGRADE_ANSWER_BYTES = 64 * 1024;
    /** Maximum time from the connect to the server's first frame. */
    private static final int MAX_START_SECONDS = 10;

    private final Channel channel;
    private final String scheme;
    private final String authority;
    private volatile boolean goingAway;
    private volatile Throwable failure;

    private Http2Client(Channel channel, String scheme, InetSocketAddress server) {
        this.channel = channel;
        this.scheme = scheme;
        authority = NetUtil.toSocketAddressString(server);
    }

    /**
     * Connects.
     *
     * @param bootstrap has an event loop group and a channel class
     * @param tls       {@code null} for no TLS; see {@link Http2Tls#configure}
     * @param start     how to start without TLS
     * @return the client, when the server's settings have arrived
     */
    public static Future<Http2Client> connect(Bootstrap bootstrap, InetSocketAddress server, SslContext tls,
                                              Start start) {
        Promise<Http2Client> ready = bootstrap.config().group().next().newPromise();
        ChannelFuture connect = bootstrap.clone().handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                Http2Client client = new Http2Client(channel, tls != null ? "https" : "http", server);
                client.initialize(tls, start, server, ready);
            }
        }).connect(server);
        connect.addListener(future -> {
            if (!future.isSuccess()) {
                ready.tryFailure(future.cause());
            }
        });
        return ready;
    }

    private void initialize(SslContext tls, Start start, InetSocketAddress server, Promise<Http2Client> ready) {
        ChannelPipeline pipeline = channel.pipeline();
        Http2FrameCodec codec = Http2FrameCodecBuilder.forClient()
                .initialSettings(Http2Settings.defaultSettings().pushEnabled(false)
                        .initialWindowSize(Http2ServerInitializer.WINDOW_BYTES))
                // A stream beyond the server's limit waits for the end of another stream, instead of failing.
                .encoderEnforceMaxConcurrentStreams(true)
                .build();
        // The server may open no streams, and the stream of the answer to an Upgrade is not used.
        Http2MultiplexHandler multiplexer = new Http2MultiplexHandler(new Discard(), new Discard());
        if (tls != null) {
            pipeline.addLast(tls.newHandler(channel.alloc(), server.getHostString(), server.getPort()),
                    new ApplicationProtocolNegotiationHandler(ApplicationProtocolNames.HTTP_1_1) {
                        @Override
                        protected void configurePipeline(ChannelHandlerContext ctx, String protocol)
                                throws IOException {
                            if (!protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                                throw new IOException("the server does not offer HTTP/2 (ALPN)");
                            }
                            ctx.pipeline().addBefore(CONNECTION, null, codec)
                                    .addBefore(CONNECTION, null, multiplexer);
                        }

                        @Override
                        protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
                            ready.tryFailure(cause);
                            ctx.close();
                        }
                    });
        } else if (start == Start.PRIOR_KNOWLEDGE) {
            pipeline.addLast(codec, multiplexer);
        } else {
            HttpClientCodec http1 = new HttpClientCodec();
            Http2ClientUpgradeCodec http2 = new Http2ClientUpgradeCodec((Http2ConnectionHandler) codec, multiplexer);
            pipeline.addLast(http1, new HttpClientUpgradeHandler(http1, http2, MAX_UPGRADE_ANSWER_BYTES),
                    new UpgradeRequest());
        }
        pipeline.addLast(CONNECTION, new Connection(ready));
    }

    /** Starts a GET request. */
    public Exchange get(String path, BodyCheck check) {
        return send(HttpMethod.GET, path, null, check);
    }

    /** Starts a POST request. The body is sent as fast as the server takes it, and closed. */
    public Exchange post(String path, ChunkedInput<ByteBuf> body, BodyCheck check) {
        return send(HttpMethod.POST, path, body, check);
    }

    private Exchange send(HttpMethod method, String path, ChunkedInput<ByteBuf> body, BodyCheck check) {
        Http2Headers headers = new DefaultHttp2Headers()
                .method(method.asciiName()).scheme(scheme).authority(authority).path(path);
        Exchange exchange = new Exchange(channel.eventLoop(), headers, body, check, () -> failure);
        open(exchange.handler()).addListener((Future<Http2StreamChannel> opened) -> exchange.opened(opened));
        return exchange;
    }

    /** Opens a stream for a handler of frames. */
    Future<Http2StreamChannel> open(ChannelHandler handler) {
        return new Http2StreamChannelBootstrap(channel).option(ChannelOption.ALLOCATOR, channel.alloc())
                .handler(handler).open();
    }

    /** Returns whether the server has said that it accepts no more streams (GOAWAY). Then use another connection. */
    public boolean isGoingAway() {
        return goingAway;
    }

    public Channel channel() {
        return channel;
    }

    /** Closes the connection when its streams have ended. */
    public ChannelFuture close() {
        return channel.close();
    }

    /** Handler of the connection as a whole. */
    private final class Connection extends ChannelInboundHandlerAdapter {
        private final Promise<Http2Client> ready;

        Connection(Promise<Http2Client> ready) {
            this.ready = ready;
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            Future<?> timeout = ctx.executor().schedule(() -> {
                if (ready.tryFailure(new ConnectTimeoutException("no HTTP/2 within " + MAX_START_SECONDS + " s"))) {
                    ctx.close();
                }
            }, MAX_START_SECONDS, TimeUnit.SECONDS);
            ready.addListener(done -> timeout.cancel(false));
            ctx.fireChannelActive();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2SettingsFrame) {
                ready.trySuccess(Http2Client.this);
            } else if (message instanceof Http2GoAwayFrame goAway) {
                goingAway = true;
                if (goAway.errorCode() != Http2Error.NO_ERROR.code()) {
                    failure = new IOException("the server ended the connection: "
                            + Http2Error.valueOf(goAway.errorCode()) + ", "
                            + goAway.content().toString(CharsetUtil.UTF_8));
                }
            }
            ReferenceCountUtil.release(message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == HttpClientUpgradeHandler.UpgradeEvent.UPGRADE_REJECTED) {
                ready.tryFailure(new IOException("the server does not upgrade to HTTP/2"));
                ctx.close();
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            ready.tryFailure(new IOException("the server closed the connection before it spoke HTTP/2"));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            failure = cause;
            ready.tryFailure(cause);
            ctx.close();
        }
    }

    /** Sends the request that asks for the Upgrade. */
    private final class UpgradeRequest extends ChannelInboundHandlerAdapter {
        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            DefaultFullHttpRequest request =
                    new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
            request.headers().set(HttpHeaderNames.HOST, authority);
            ctx.writeAndFlush(request);
            ctx.fireChannelActive();
            ctx.pipeline().remove(this);
        }
    }

    /** Drops whatever arrives. */
    @ChannelHandler.Sharable
    private static final class Discard extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }
    }
}
