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

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpServerUpgradeHandler.UpgradeEvent;

/**
 * Between the handler of an Upgrade and the codec of HTTP/2: holds the request that asked for it until the client has
 * begun to speak HTTP/2. curl 7.88 can't take more than 32 KiB together with the answer to the Upgrade ("connection
 * buffer size is too small to store data following HTTP Upgrade response header").
 */
final class UpgradedRequestHandler extends ChannelInboundHandlerAdapter {
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
