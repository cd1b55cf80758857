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
package io.netty.channel.rdma.chaos;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.TestAddress;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.message.RdmaDatagram;
import io.netty.channel.rdma.message.RdmaDatagramChannel;
import io.netty.channel.rdma.support.Generated;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.TimeUnit;

/**
 * A datagram channel that sends to a peer, whether or not that still exists, and checks what it receives.
 */
final class ChaosDatagrams implements AutoCloseable {
    private static final int BATCH = 8;
    private static final int MAX_LENGTH = 1024;

    private final RdmaDatagramChannel channel;
    private final Queue<String> violations;
    private volatile long received;
    private volatile int pending;
    private InetSocketAddress peer;

    ChaosDatagrams(EventLoopGroup group, Queue<String> violations) throws InterruptedException {
        this.violations = violations;
        channel = (RdmaDatagramChannel) TestTimeouts.sync(new Bootstrap().group(group)
                .channel(RdmaDatagramChannel.class).handler(new Receiver()).bind(TestAddress.anyPort())).channel();
        channel.eventLoop().scheduleWithFixedDelay(this::send, 1, 1, TimeUnit.MILLISECONDS);
    }

    InetSocketAddress address() {
        return channel.localAddress();
    }

    long received() {
        return received;
    }

    /** From now on. {@code null}: nobody. */
    void sendTo(InetSocketAddress address) {
        channel.eventLoop().execute(() -> peer = address);
    }

    private void send() {
        if (peer == null || !channel.isActive()) {
            return;
        }
        for (int i = pending; i < BATCH; i++) {
            pending++;
            int length = 1 + (int) (System.nanoTime() % MAX_LENGTH);
            channel.write(new RdmaDatagram(Generated.bytes(channel.alloc(), length, length), peer))
                    .addListener(future -> {
                        pending--;
                        if (!future.isSuccess() && !(future.cause() instanceof IOException)) {
                            violations.add("a datagram failed with " + future.cause());
                        }
                    });
        }
        channel.flush();
    }

    /** Waits until the outcome of all that was sent is known, and then for one to itself, which must arrive. */
    void check() throws InterruptedException {
        sendTo(null);
        TestTimeouts.awaitTrue(() -> pending == 0);
        long before = received;
        TestTimeouts.sync(channel.writeAndFlush(new RdmaDatagram(Generated.bytes(channel.alloc(), 1, 1), address())));
        TestTimeouts.awaitTrue(() -> received > before);
    }

    @Override
    public void close() {
        channel.close().awaitUninterruptibly(TestTimeouts.SECONDS, TimeUnit.SECONDS);
    }

    private final class Receiver extends SimpleChannelInboundHandler<RdmaDatagram> {
        @Override
        protected void channelRead0(ChannelHandlerContext ctx, RdmaDatagram datagram) {
            ByteBuf content = datagram.content();
            int length = content.readableBytes();
            if (!Generated.matches(content, length)) {
                violations.add("a datagram has wrong bytes: " + datagram);
            }
            received += length;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            violations.add("the datagram channel failed: " + cause);
        }
    }
}
