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
package io.netty.channel.rdma;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Records what happens to a channel, beside what it reads.
 */
public abstract class EventRecorder extends ChannelInboundHandlerAdapter {
    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private volatile Channel channel;

    /** The channel that was active last, or was registered. */
    public final Channel channel() {
        return channel;
    }

    /** The next event: "active", "inactive", a user event, or an exception. */
    public final Object next() throws InterruptedException {
        return TestTimeouts.take(events, "an event");
    }

    @Override
    public final void channelRegistered(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        channel = ctx.channel();
        events.add("active");
    }

    @Override
    public final void channelInactive(ChannelHandlerContext ctx) {
        events.add("inactive");
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        events.add(event);
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        events.add(cause);
    }
}
