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
package io.netty.channel.epoll;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.netty.AutoScalingGroup;
import io.netty.channel.rdma.RdmaEventLoopGroup;
import io.netty.channel.rdma.leakcheck.LeftChannels;
import io.netty.channel.socket.ServerSocketChannel;

public class EpollEventLoopOnRdmaLoopsTest extends EpollEventLoopTest {
    /** No event loop that is made of an {@code IoHandler} can. */
    @Override
    protected boolean supportsChannelIteration() {
        return false;
    }

    /** A test leaves one that is not registered any more. */
    @Override
    protected ServerSocketChannel newChannel() {
        ServerSocketChannel channel = super.newChannel();
        LeftChannels.add(channel);
        return channel;
    }

    /** Group of one loop: a test shuts down no more of the group. */
    @Override
    protected EventLoopGroup newEventLoopGroup() {
        return new RdmaEventLoopGroup(1);
    }

    @Override
    protected EventLoopGroup newAutoScalingEventLoopGroup() {
        return AutoScalingGroup.create();
    }
}
