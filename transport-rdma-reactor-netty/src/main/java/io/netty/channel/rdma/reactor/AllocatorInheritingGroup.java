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
package io.netty.channel.rdma.reactor;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SingleThreadIoEventLoop;

import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/**
 * Event loops that give each channel that has come from another one, as a stream of HTTP/2 from its connection, the
 * allocator of that one.
 *
 * <p>{@code AbstractHttp2StreamChannel} has a configuration of its own, with {@link ByteBufAllocator#DEFAULT}: what an
 * application or a codec allocates from a stream is in memory that the device does not know, and is copied. The event
 * loop is the one place that each stream passes before its handlers are added, on servers and clients, whoever has
 * made the pipeline of the connection.
 */
final class AllocatorInheritingGroup extends MultiThreadIoEventLoopGroup {
    AllocatorInheritingGroup(int threads, ThreadFactory threadFactory, IoHandlerFactory ioHandlerFactory) {
        super(threads, threadFactory, ioHandlerFactory);
    }

    @Override
    protected IoEventLoop newChild(Executor executor, IoHandlerFactory ioHandlerFactory, Object... args) {
        return new Loop(this, executor, ioHandlerFactory);
    }

    private static final class Loop extends SingleThreadIoEventLoop {
        Loop(IoEventLoopGroup parent, Executor executor, IoHandlerFactory ioHandlerFactory) {
            super(parent, executor, ioHandlerFactory);
        }

        @Override
        public ChannelFuture register(ChannelPromise promise) {
            inheritAllocator(promise.channel());
            return super.register(promise);
        }

        private static void inheritAllocator(Channel channel) {
            Channel parent = channel.parent();
            // A listener is a parent as well. It allocates nothing, and its connections have what their kind needs.
            if (parent != null && !(parent instanceof ServerChannel) &&
                    channel.config().getAllocator() == ByteBufAllocator.DEFAULT) {
                channel.config().setAllocator(parent.alloc());
            }
        }
    }
}
