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
package io.netty.example.rdma.verbs;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.message.RdmaChannelState;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.verbs.QueuePairInfo;
import io.netty.util.concurrent.Future;

/**
 * Prints the states of a connection as it goes through them, and the values of its queue pair when it is connected.
 */
final class ConnectionLog extends ChannelInboundHandlerAdapter {
    /** Beginning of each line. */
    static final String PREFIX = "connection: ";

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof RdmaChannelState) {
            System.out.println(PREFIX + event);
        }
        if (event == RdmaChannelState.RUNNING) {
            ((RdmaMessageChannel) ctx.channel()).info().addListener((Future<QueuePairInfo> info) ->
                    System.out.println(PREFIX + (info.isSuccess() ? info.getNow() : info.cause())));
        }
        ctx.fireUserEventTriggered(event);
    }
}
