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
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.example.rdma.util.DeferredFlush;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.io.IOException;

/**
 * Answers requests one after the other: enforces limits, turns errors into statuses, and takes no further request while
 * the client does not take the answer. A subclass makes the answers.
 */
public abstract class HttpRequestHandler extends SimpleChannelInboundHandler<HttpObject> {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(HttpRequestHandler.class);

    private final long maxBodyBytes;
    /** {@code null} between requests. */
    private RequestBody body;
    private long bodyBytes;
    private boolean responding;
    private boolean headSent;
    private boolean refused;
    private DeferredFlush flush;

    protected HttpRequestHandler(HttpLimits limits) {
        maxBodyBytes = limits.maxBodyBytes();
    }

    /**
     * Begins with a request.
     *
     * @return the handler of the body, which also answers, in most cases at the end of the body
     */
    protected abstract RequestBody begin(ChannelHandlerContext ctx, HttpRequest request) throws Exception;

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        flush = new DeferredFlush(ctx.channel());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) throws Exception {
        if (refused) {
            return;
        }
        if (message instanceof HttpRequest) {
            headSent = false;
            bodyBytes = 0;
        }
        if (message.decoderResult().isFailure()) {
            refuse(ctx, statusOf(message.decoderResult().cause()));
            return;
        }
        if (message instanceof HttpRequest request) {
            if (HttpUtil.getContentLength(request, 0L) > maxBodyBytes) {
                refuse(ctx, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
                return;
            }
            body = begin(ctx, request);
        }
        if (message instanceof HttpContent content && body != null) {
            take(ctx, content);
        }
    }

    private void take(ChannelHandlerContext ctx, HttpContent content) {
        bodyBytes += content.content().readableBytes();
        if (bodyBytes > maxBodyBytes) {
            refuse(ctx, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
            return;
        }
        if (content.content().isReadable()) {
            body.data(content.content());
        }
        if (content instanceof LastHttpContent) {
            RequestBody ended = body;
            body = null;
            ended.end();
        }
    }

    private static HttpResponseStatus statusOf(Throwable undecodable) {
        return undecodable instanceof TooLongHttpHeaderException ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                : undecodable instanceof TooLongHttpLineException ? HttpResponseStatus.REQUEST_URI_TOO_LONG
                : HttpResponseStatus.BAD_REQUEST;
    }

    /** Answers with an error and closes, if the beginning of the next request is unknown, or not worth waiting for. */
    private void refuse(ChannelHandlerContext ctx, HttpResponseStatus status) {
        if (refused) {
            return;
        }
        refused = true;
        body = null;
        if (headSent) {
            // Half of an answer is sent. In HTTP/1.1, a connection that ends before the end of a body means "failed".
            ctx.close();
            return;
        }
        FullHttpResponse response = Responses.error(ctx, status);
        response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        // A stream of HTTP/2 has no such handler: its end does not end the connection.
        LingeringCloseHandler lingeringClose = ctx.pipeline().get(LingeringCloseHandler.class);
        if (lingeringClose != null) {
            lingeringClose.enable();
        }
        write(ctx, response).addListener(ChannelFutureListener.CLOSE);
    }

    /** Writes a part of the response, and flushes it soon. */
    protected final ChannelFuture write(ChannelHandlerContext ctx, Object part) {
        headSent = true;
        flush.request();
        return ctx.write(part);
    }

    /** Takes no further request until the last part of a long response is sent. */
    protected final void awaitResponse(ChannelHandlerContext ctx, ChannelFuture lastPart) {
        responding = true;
        updateReading(ctx);
        lastPart.addListener(sent -> {
            responding = false;
            if (sent.isSuccess()) {
                updateReading(ctx);
            } else {
                LOGGER.debug("{}: the client did not take its answer", ctx.channel(), sent.cause());
                ctx.close();
            }
        });
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        updateReading(ctx);
        ctx.fireChannelWritabilityChanged();
    }

    private void updateReading(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(!responding && ctx.channel().isWritable());
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof IdleStateEvent) {
            ctx.close();
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException || cause instanceof DecoderException) {
            // Clients often go away. Others speak no TLS, and can't be answered.
            LOGGER.debug("{}: closing", ctx.channel(), cause);
            ctx.close();
        } else {
            fail(ctx, cause);
        }
    }

    /** Answers that the server has failed, if an answer is still possible. */
    protected final void fail(ChannelHandlerContext ctx, Throwable cause) {
        LOGGER.warn("{}: failed to answer", ctx.channel(), cause);
        refuse(ctx, HttpResponseStatus.INTERNAL_SERVER_ERROR);
    }

    /** Takes the body of one request. */
    protected interface RequestBody {
        /** Takes a piece of the body, which the caller releases. Not called for a request without a body. */
        default void data(ByteBuf data) {
            // Content that no handler asks for is not kept.
        }

        /** Ends the request: all of it has arrived. */
        void end();
    }
}
