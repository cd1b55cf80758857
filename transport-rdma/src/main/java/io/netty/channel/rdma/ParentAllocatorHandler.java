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
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerAdapter;
import io.netty.channel.ChannelHandlerContext;

/**
 * Gives a channel the allocator of its parent when it is added to the channel's pipeline. It is for the streams of an
 * HTTP/2 connection, which are channels with Netty's default allocator. Bytes in buffers of that allocator are copied
 * into registered memory. Bytes of {@link RdmaByteBufAllocator}, the default of the connection, are sent in place. Add
 * it as the first handler of a stream:
 * <pre>
 * new Http2MultiplexHandler(new ChannelInitializer&lt;Channel&gt;() {
 *     protected void initChannel(Channel stream) {
 *         stream.pipeline().addLast(ParentAllocatorHandler.INSTANCE, new MyStreamHandler());
 *     }
 * });
 * </pre>
 * It handles no event. On a connection of another transport it does no harm, because the stream gets the allocator of
 * the connection there, too.
 */
@Sharable
public final class ParentAllocatorHandler extends ChannelHandlerAdapter {
    /** The only instance, for any number of channels. */
    public static final ParentAllocatorHandler INSTANCE = new ParentAllocatorHandler();

    private ParentAllocatorHandler() { }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        Channel parent = ctx.channel().parent();
        if (parent != null) {
            ctx.channel().config().setAllocator(parent.config().getAllocator());
        }
    }
}
