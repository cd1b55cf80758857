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
package io.netty.channel.rdma.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An RDMA listener with the blocking methods of a {@link java.net.ServerSocket}: see {@link BlockingSocket}.
 */
final class BlockingServerSocket implements AutoCloseable {
    private final BlockingQueue<BlockingSocket> accepted = new LinkedBlockingQueue<>();
    private final ServerBootstrap bootstrap = new ServerBootstrap()
            .group(RdmaSocketTestPermutation.RDMA_BOSS_GROUP, RdmaSocketTestPermutation.RDMA_WORKER_GROUP)
            .channel(RdmaServerSocketChannel.class)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childHandler(new ChannelInitializer<Channel>() {
                @Override
                protected void initChannel(Channel ch) {
                    BlockingSocket socket = new BlockingSocket();
                    ch.pipeline().addLast(socket.handler(), new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelActive(ChannelHandlerContext ctx) {
                            accepted.add(socket);
                        }
                    });
                }
            });
    private Channel channel;

    /** Sets the number of bytes that peers may send before anything is read. */
    void setReceiveBufferSize(int bytes) {
        bootstrap.childOption(ChannelOption.SO_RCVBUF, bytes);
    }

    void bind(SocketAddress address) throws IOException {
        ChannelFuture future = bootstrap.bind(address);
        BlockingSocket.await(future);
        channel = future.channel();
    }

    SocketAddress getLocalSocketAddress() {
        return channel.localAddress();
    }

    BlockingSocket accept() throws InterruptedException {
        return TestTimeouts.take(accepted, "a connection");
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            BlockingSocket.await(channel.close());
        }
        for (BlockingSocket socket; (socket = accepted.poll()) != null;) {
            socket.close();
        }
    }
}
