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

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.handler.timeout.IdleStateHandler;

import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The pipeline of an HTTP/1.1 server, up to the handler that answers.
 */
public final class HttpServerInitializer extends ChannelInitializer<Channel> {
    /** Water mark for large bodies. The default, 32 to 64 KiB, would let only one piece of a body be in flight. */
    static final WriteBufferWaterMark WATER_MARK = new WriteBufferWaterMark(256 * 1024, 1024 * 1024);

    private final SslContext ssl;
    private final HttpLimits limits;
    private final Supplier<ChannelHandler> handlers;

    /**
     * @param ssl      {@code null} for plain HTTP
     * @param handlers a new handler for each connection
     */
    public HttpServerInitializer(SslContext ssl, HttpLimits limits, Supplier<ChannelHandler> handlers) {
        this.ssl = ssl;
        this.limits = limits;
        this.handlers = handlers;
    }

    @Override
    protected void initChannel(Channel channel) {
        channel.config().setWriteBufferWaterMark(WATER_MARK);
        ChannelPipeline pipeline = channel.pipeline();
        pipeline.addLast(new LingeringCloseHandler(false));
        if (ssl != null) {
            pipeline.addLast(ssl.newHandler(channel.alloc()));
        }
        pipeline.addLast(
                // A slow reader is not idle: with observeOutput, progress of its answer counts as activity.
                new IdleStateHandler(true, 0, 0, limits.idleMillis(), TimeUnit.MILLISECONDS),
                new HttpServerCodec());
        pipeline.addLast(behindCodec(limits, handlers.get()));
    }

    /**
     * Returns the handlers behind a codec of {@code HttpObject}s, on a connection of HTTP/1.1 or a stream of HTTP/2.
     *
     * @param handler makes the answers
     */
    public static ChannelHandler[] behindCodec(HttpLimits limits, ChannelHandler handler) {
        return new ChannelHandler[] {
                new HttpServerKeepAliveHandler(),
                new ChunkedWriteHandler(),
                // With this handler, autoRead also stops requests that are decoded already, so requests are answered
                // one by one.
                new FlowControlHandler(),
                new BodyLimitHandler(limits.maxBodyBytes()),
                handler
        };
    }

    /** Answers a client that asks whether it may send a body (Expect: 100-continue). */
    private static final class BodyLimitHandler extends HttpServerExpectContinueHandler {
        private final long maxBodyBytes;

        BodyLimitHandler(long maxBodyBytes) {
            this.maxBodyBytes = maxBodyBytes;
        }

        @Override
        protected HttpResponse acceptMessage(HttpRequest request) {
            return HttpUtil.getContentLength(request, 0L) <= maxBodyBytes ? super.acceptMessage(request) : null;
        }

        @Override
        protected HttpResponse rejectResponse(HttpRequest request) {
            FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1,
                    HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
            // A client may send its body in spite of the refusal. It must not be taken for the next request.
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE)
                    .set(HttpHeaderNames.CONTENT_LENGTH, 0);
            return response;
        }
    }
}
