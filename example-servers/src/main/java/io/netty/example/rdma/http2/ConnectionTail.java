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

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2SettingsAckFrame;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.util.function.Supplier;

/**
 * The end of every connection's pipeline, whichever protocol the client chooses. For a request of HTTP/1.1 it adds the
 * handlers behind itself. All other messages are frames of an HTTP/2 connection as a whole, which the codec has handled
 * already.
 */
final class ConnectionTail extends ChannelInboundHandlerAdapter {
    private static final InternalLogger LOGGER = InternalLoggerFactory.getInstance(ConnectionTail.class);

    private final Supplier<ChannelHandler[]> http1;
    private boolean isHttp1;

    ConnectionTail(Supplier<ChannelHandler[]> http1) {
        this.http1 = http1;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof Http2SettingsAckFrame) {
            Http2ServerInitializer.allowStreams(ctx.pipeline().get(Http2FrameCodec.class));
        }
        if (!isHttp1 && message instanceof HttpRequest) {
            isHttp1 = true;
            ctx.pipeline().addLast(http1.get());
        }
        if (isHttp1) {
            ctx.fireChannelRead(message);
        } else {
            ReferenceCountUtil.release(message);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof IdleStateEvent && !isHttp1) {
            ctx.close();
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // All errors of clients end here, so they must not fill the server's log.
        LOGGER.debug("{}: closing", ctx.channel(), cause);
        if (!(cause instanceof Http2Exception)) {
            // For an Http2Exception the codec closes the connection, and tells the client why (GOAWAY).
            ctx.close();
        }
    }
}
