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
 * Closes so that a client which still sends gets the last answer. A connection that is closed while there is something
 * to read is reset, and the client's side may then throw away what it has not read yet (RFC 9112, section 9.6). So this
 * ends the server's direction, throws away what the client sends until it closes, and does not wait for that for long.
 */
public final class LingeringCloseHandler extends ChannelDuplexHandler {
    private static final long MAX_MILLIS = 5000;

    private boolean enabled;
    private boolean lingering;

    /** @param enabled whether every close is to linger, or only that after {@link #enable} */
    public LingeringCloseHandler(boolean enabled) {
        this.enabled = enabled;
    }

    /** The next close is to linger. To be called on the event loop. */
    void enable() {
        enabled = true;
    }

    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        if (lingering) {
            // The keep-alive handler and an idle one may want the same.
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
