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
package io.netty.channel.rdma.loop;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.rdma.RdmaIoHandler;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Channels of epoll on a loop of RDMA that want no event for a while.
 */
@Tag("quick")
class EpollRegistrationTest {
    /** More than socket buffers hold, whatever the kernel makes of them. */
    private static final int LARGE = 64 << 20;

    @Test
    void channelSendsAllAfterItsPeerHasHalfClosed() throws Exception {
        EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        CompletableFuture<Void> ended = new CompletableFuture<>();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Channel channel = TestTimeouts.sync(new Bootstrap()
                    .group(group)
                    .channel(EpollSocketChannel.class)
                    .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                    // The channel waits for the end of the input only, and then for nothing.
                    .option(ChannelOption.AUTO_READ, false)
                    .handler(new ChannelInboundHandlerAdapter() {
                        @Override
                        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                            if (event instanceof ChannelInputShutdownEvent) {
                                ended.complete(null);
                            }
                        }

                        @Override
                        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                            failure.complete(cause);
                        }
                    })
                    .connect(server.getLocalSocketAddress())).channel();
            try (Socket peer = server.accept()) {
                peer.setSoTimeout((int) TimeUnit.SECONDS.toMillis(TestTimeouts.SECONDS));
                peer.shutdownOutput();
                TestTimeouts.result(ended);
                ChannelFuture written = channel.writeAndFlush(Unpooled.directBuffer(LARGE).writerIndex(LARGE));
                assertThat(peer.getInputStream().readNBytes(LARGE)).hasSize(LARGE);
                TestTimeouts.sync(written);
                channel.config().setAutoRead(true);
                TestTimeouts.sync(channel.close());
                assertThat(failure).isNotDone();
            }
        } finally {
            TestTimeouts.shutdown(group);
        }
    }
}
