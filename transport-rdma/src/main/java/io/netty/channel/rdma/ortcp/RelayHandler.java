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
package io.netty.channel.rdma.ortcp;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandler;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;

/**
 * The only handler of a carrier or listener. It passes events to the pipeline of the application's channel, except for
 * registered, unregistered, active and inactive: the application's channel fires its own.
 */
abstract class RelayHandler extends ChannelOutboundHandlerAdapter implements ChannelInboundHandler {
    /** Pipeline of the application's channel. */
    private final ChannelPipeline pipeline;

    RelayHandler(ChannelPipeline pipeline) {
        this.pipeline = pipeline;
    }

    /**
     * Drops the channel's own read. The channel has the {@code autoRead} of the application's channel, because read
     * loops check it, so it would read by itself. The application's channel reads by {@code Unsafe.beginRead()}.
     */
    @Override
    public final void read(ChannelHandlerContext ctx) {
        // See above.
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        pipeline.fireChannelRead(msg);
    }

    @Override
    public final void channelReadComplete(ChannelHandlerContext ctx) {
        pipeline.fireChannelReadComplete();
    }

    @Override
    public final void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        pipeline.fireUserEventTriggered(event);
    }

    @Override
    @SuppressWarnings("deprecation") // of that of outbound handlers
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        pipeline.fireExceptionCaught(cause);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        // See the class.
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        // See the class.
    }

    @Override
    public final void channelRegistered(ChannelHandlerContext ctx) {
        // See the class.
    }

    @Override
    public final void channelUnregistered(ChannelHandlerContext ctx) {
        // See the class.
    }

    @Override
    public final void channelInactive(ChannelHandlerContext ctx) {
        // See the class.
    }
}
