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

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.DuplexChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;

import java.util.concurrent.TimeUnit;

/**
 * Closes so that a client which still sends gets the last answer. If a connection is closed while there is something to
 * read, it is reset, and the client's side may then drop data that it has not read yet (RFC 9112, section 9.6). So this
 * handler ends the server's direction, and drops all data until the client closes, or a short time has passed.
 */
public final class LingeringCloseHandler extends ChannelDuplexHandler {
    private static final long MAX_MILLIS = 5000;

    private boolean enabled;
    private boolean lingering;

    /** @param enabled whether every close lingers, or only one after {@link #enable} */
    public LingeringCloseHandler(boolean enabled) {
        this.enabled = enabled;
    }

    /** Lets the next close linger. To be called on the event loop. */
    void enable() {
        enabled = true;
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        if (lingering) {
            // The keep-alive handler and the handler of idle connections may both close.
            ctx.channel().closeFuture().addListener(closed -> promise.trySuccess());
            return;
        }
        if (!enabled || !ctx.channel().isActive() || !(ctx.channel() instanceof DuplexChannel channel)) {
            ctx.close(promise);
            return;
        }
        lingering = true;
        Future<?> timeout = ctx.executor().schedule(() -> ctx.close(), MAX_MILLIS, TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> {
            timeout.cancel(false);
            promise.trySuccess();
        });
        channel.shutdownOutput().addListener(ended -> {
            if (!ended.isSuccess()) {
                ctx.close();
            }
        });
        channel.config().setAutoRead(true);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (lingering) {
            ReferenceCountUtil.release(message);
        } else {
            ctx.fireChannelRead(message);
        }
    }
}
