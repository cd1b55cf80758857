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
package io.netty.channel.rdma.grpc;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.rdma.RdmaByteBufAllocator;
import io.netty.channel.rdma.ortcp.RdmaOrTcp;
import io.netty.channel.rdma.ortcp.RdmaOrTcpTransport;

import java.net.SocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * The open connections, by the object that is their local address, which gRPC shows to calls. Equal addresses do not
 * count, because a connection of RDMA and one of TCP may have the same address.
 */
final class Connections {
    private static final ConcurrentMap<Identity, Channel> OPEN = new ConcurrentHashMap<>();

    private Connections() { }

    static Channel byLocalAddress(SocketAddress address) {
        return address == null ? null : OPEN.get(new Identity(address));
    }

    static <C extends Channel> C watch(C connection) {
        connection.pipeline().addLast(Watcher.INSTANCE);
        return connection;
    }

    static <C extends Channel> C watchChildren(C server) {
        server.pipeline().addLast(ChildWatcher.INSTANCE);
        return server;
    }

    /** An address object, which {@link io.netty.channel.AbstractChannel} keeps, and so always returns. */
    private record Identity(SocketAddress address) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Identity && ((Identity) other).address == address;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(address);
        }
    }

    @Sharable
    private static final class Watcher extends ChannelInboundHandlerAdapter {
        static final Watcher INSTANCE = new Watcher();

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            Channel channel = ctx.channel();
            if (channel.attr(RdmaOrTcp.TRANSPORT).get() == RdmaOrTcpTransport.TCP
                    && channel.alloc() == RdmaByteBufAllocator.DEFAULT) {
                // TCP has no use for registered memory, which is scarce. gRPC's own allocator is not public.
                channel.config().setAllocator(ByteBufAllocator.DEFAULT);
            }
            Identity identity = new Identity(channel.localAddress());
            OPEN.put(identity, channel);
            channel.closeFuture().addListener(closed -> OPEN.remove(identity));
            ctx.fireChannelActive();
            ctx.pipeline().remove(this);
        }
    }

    @Sharable
    private static final class ChildWatcher extends ChannelInboundHandlerAdapter {
        static final ChildWatcher INSTANCE = new ChildWatcher();

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object child) {
            ctx.fireChannelRead(watch((Channel) child));
        }
    }
}
