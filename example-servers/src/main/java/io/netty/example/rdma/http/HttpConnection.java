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
package io.netty.example.rdma.http;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.example.rdma.util.ClientOptions;
import io.netty.example.rdma.util.ClientTransport;
import io.netty.example.rdma.util.DeferredFlush;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.stream.ChunkedInput;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * A client's connection, kept alive. Requests may be sent before earlier ones are answered. Use it on its event loop,
 * which also notifies its futures.
 */
public final class HttpConnection {
    private final Channel channel;
    private final HttpClientHandler handler;
    private final String authority;
    private final DeferredFlush flush;

    private HttpConnection(Channel channel, HttpClientHandler handler, String authority) {
        this.channel = channel;
        this.handler = handler;
        this.authority = authority;
        flush = new DeferredFlush(channel);
    }

    /** Connects, with TLS if the options say so. Not to be called on an event loop. */
    public static HttpConnection open(ClientOptions options, EventLoopGroup group)
            throws IOException, InterruptedException {
        SslContextBuilder tls = options.sslContext();
        return open(options.transport(), group, tls == null ? null : tls.build(), options.host(), options.port());
    }

    /**
     * Connects. Not to be called on an event loop.
     *
     * @param ssl {@code null} for plain HTTP
     */
    public static HttpConnection open(ClientTransport transport, EventLoopGroup group, SslContext ssl, String host,
                                      int port) throws InterruptedException {
        HttpClientHandler handler = new HttpClientHandler();
        Channel channel = transport.connect(group, host, port, new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.config().setWriteBufferWaterMark(HttpServerInitializer.WATER_MARK);
                if (ssl != null) {
                    channel.pipeline().addLast(ssl.newHandler(channel.alloc(), host, port));
                }
                channel.pipeline().addLast(new HttpClientCodec(), new ChunkedWriteHandler(), handler);
            }
        });
        return new HttpConnection(channel, handler, host + ':' + port);
    }

    public Channel channel() {
        return channel;
    }

    /** Sends a GET request. */
    public Future<HttpResponse> get(String path, BodyCheck check) {
        return send(new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, path), HttpResponseStatus.OK,
                check);
    }

    /**
     * Sends a request.
     *
     * @param status the expected status of the answer
     * @return the head of the answer, when all of it has arrived and {@code check} has accepted it
     */
    public Future<HttpResponse> send(FullHttpRequest request, HttpResponseStatus status, BodyCheck check) {
        request.headers().set(HttpHeaderNames.HOST, authority);
        Promise<HttpResponse> promise = channel.eventLoop().newPromise();
        handler.add(new Exchange(status, check, null, promise));
        write(request).addListener(written -> {
            if (!written.isSuccess()) {
                promise.tryFailure(written.cause());
            }
        });
        return promise;
    }

    /**
     * Sends a POST request with a body of unknown length, in chunks.
     *
     * @param body           closed in any case
     * @param expectContinue whether to send the body only when the server has asked for it
     */
    public Future<HttpResponse> upload(String path, ChunkedInput<ByteBuf> body, boolean expectContinue,
                                       HttpResponseStatus status, BodyCheck check) {
        HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, path);
        HttpHeaders headers = head.headers().set(HttpHeaderNames.HOST, authority);
        HttpUtil.setTransferEncodingChunked(head, true);
        if (expectContinue) {
            headers.set(HttpHeaderNames.EXPECT, HttpHeaderValues.CONTINUE);
        }
        Promise<HttpResponse> promise = channel.eventLoop().newPromise();
        promise.addListener(done -> {
            if (!done.isSuccess()) {
                // The body may never have been requested.
                body.close();
            }
        });
        Runnable sendBody = () -> write(new HttpChunkedInput(body)).addListener(written -> {
            if (!written.isSuccess()) {
                promise.tryFailure(written.cause());
            }
        });
        handler.add(new Exchange(status, check, expectContinue ? sendBody : null, promise));
        write(head);
        if (!expectContinue) {
            sendBody.run();
        }
        return promise;
    }

    private ChannelFuture write(Object message) {
        flush.request();
        return channel.write(message);
    }

    /** Assigns each response to its request. Responses come in the order of the requests. */
    private static final class HttpClientHandler extends SimpleChannelInboundHandler<HttpObject> {
        private final Queue<Exchange> exchanges = new ArrayDeque<>();
        private HttpResponse head;
        private Throwable closedBy;

        /** Adds a request before it is written. To be called on the event loop. */
        void add(Exchange exchange) {
            if (closedBy != null) {
                exchange.promise.setFailure(closedBy);
            } else {
                exchanges.add(exchange);
            }
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) throws IOException {
            if (message.decoderResult().isFailure()) {
                throw new IOException("not an HTTP response", message.decoderResult().cause());
            }
            Exchange exchange = exchanges.peek();
            if (exchange == null) {
                throw new IOException("a response without a request");
            }
            if (message instanceof HttpResponse response) {
                head = response;
            }
            if (head.status().equals(HttpResponseStatus.CONTINUE)) {
                if (message instanceof HttpResponse && exchange.onContinue != null) {
                    exchange.onContinue.run();
                }
                return;
            }
            if (!head.status().equals(exchange.status)) {
                throw new IOException("the answer is " + head.status() + " instead of " + exchange.status);
            }
            if (message instanceof HttpContent content) {
                exchange.body.data(content.content());
                if (content instanceof LastHttpContent) {
                    exchange.body.end();
                    exchanges.remove();
                    exchange.promise.setSuccess(head);
                }
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            fail(new IOException("the server closed before its answer was complete"));
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
            for (Exchange exchange = exchanges.poll(); exchange != null; exchange = exchanges.poll()) {
                exchange.promise.tryFailure(closedBy);
            }
        }
    }

    /**
     * A request that is in flight.
     *
     * @param status     the expected status of the answer; any other status is an error
     * @param onContinue runs when the server has asked for the body; {@code null} if the body is sent without asking
     */
    record Exchange(HttpResponseStatus status, BodyCheck body, Runnable onContinue, Promise<HttpResponse> promise) {
    }
}
