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

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.RdmaServerSocketChannel;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.SocketChannelNotYetConnectedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertFalse;

public class RdmaSocketChannelNotYetConnectedTest extends SocketChannelNotYetConnectedTest {
    @Override
    protected List<BootstrapFactory<Bootstrap>> newFactories() {
        return RdmaSocketTestPermutation.INSTANCE.clientSocket();
    }

    @Override
    protected List<ByteBufAllocator> newAllocators() {
        return RdmaSocketTestPermutation.newAllocators();
    }

    @Override
    protected SocketAddress newSocketAddress() {
        return RdmaSocketTestPermutation.newSocketAddress();
    }

    /** As upstream, but the server is not a TCP socket. */
    @Test
    @Timeout(30)
    @Override
    public void readMustBePendingUntilChannelIsActive(TestInfo info) throws Throwable {
        run(info, this::readMustBePendingUntilChannelIsActive);
    }

    private void readMustBePendingUntilChannelIsActive(Bootstrap bootstrap) throws Throwable {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        ServerBootstrap sb = new ServerBootstrap().group(group);
        Channel serverChannel = sb.childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.writeAndFlush(Unpooled.copyInt(42));
            }
        }).channel(RdmaServerSocketChannel.class).bind(newSocketAddress()).sync().channel();

        CountDownLatch readLatch = new CountDownLatch(1);
        bootstrap.handler(new ByteToMessageDecoder() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                assertFalse(ctx.channel().isActive());
                ctx.read();
            }

            @Override
            protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
                assertThat(in.readableBytes()).isLessThanOrEqualTo(Integer.BYTES);
                if (in.readableBytes() == Integer.BYTES) {
                    assertThat(in.readInt()).isEqualTo(42);
                    readLatch.countDown();
                }
            }
        });
        bootstrap.connect(serverChannel.localAddress()).sync();

        readLatch.await();
        group.shutdownGracefully().await();
    }
}
