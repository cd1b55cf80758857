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
package io.netty.channel.rdma.support;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

import java.net.SocketAddress;
import java.util.Random;

/**
 * Sends bytes to an {@link EchoServer} and compares what comes back: the proof that a process goes on.
 */
public final class EchoClient {
    private static final int BYTES = 300_000;

    private EchoClient() {
    }

    /** Connects, exchanges some hundred kilobytes, and closes. */
    public static void check(EventLoopGroup group, SocketAddress address) throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap().group(group).channel(RdmaSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter());
        Channel channel = TestTimeouts.sync(bootstrap.connect(address)).channel();
        TestTimeouts.sync(exchange(channel));
        TestTimeouts.sync(channel.close());
    }

    /** Exchanges some hundred kilobytes over a connection whose pipeline does nothing else. Done when all came back. */
    public static Future<Void> exchange(Channel channel) {
        byte[] sent = new byte[BYTES];
        new Random(7).nextBytes(sent);
        Promise<Void> done = channel.eventLoop().newPromise();
        channel.pipeline().addLast(new Comparison(sent, done));
        channel.writeAndFlush(channel.alloc().directBuffer(BYTES).writeBytes(sent));
        return done;
    }

    private static final class Comparison extends ChannelInboundHandlerAdapter {
        private final byte[] expected;
        private final Promise<Void> done;
        private int received;

        Comparison(byte[] expected, Promise<Void> done) {
            this.expected = expected;
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf bytes = (ByteBuf) msg;
            try {
                // At once, because the leak detector records every access.
                for (byte b : ByteBufUtil.getBytes(bytes)) {
                    if (received == expected.length || b != expected[received]) {
                        done.tryFailure(new AssertionError("byte " + received + " came back wrong"));
                        return;
                    }
                    received++;
                }
                if (received == expected.length) {
                    ctx.pipeline().remove(this);
                    done.trySuccess(null);
                }
            } finally {
                bytes.release();
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            done.tryFailure(cause);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            done.tryFailure(new AssertionError("closed after " + received + " bytes"));
        }
    }
}
