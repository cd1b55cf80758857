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
package io.netty.channel.rdma.bootstrap;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.util.concurrent.Promise;

import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The two ends of an echo.
 */
final class Echo {
    private static final int BYTES = 100_000;

    private Echo() { }

    /** For the connections of a server. */
    static final class Server extends ChannelInitializer<Channel> {
        final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

        @Override
        protected void initChannel(Channel ch) {
            accepted.add(ch);
            ch.pipeline().addLast(new ChannelInboundHandlerAdapter() {
                @Override
                public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ctx.write(msg);
                }

                @Override
                public void channelReadComplete(ChannelHandlerContext ctx) {
                    ctx.flush();
                }
            });
        }
    }

    /** A handler that does nothing. */
    static ChannelHandler none() {
        return new ChannelInboundHandlerAdapter();
    }

    /** Sends bytes over a connection with the handler {@link #none()} and compares what comes back. */
    static Promise<Void> exchange(Channel channel) {
        byte[] sent = new byte[BYTES];
        new Random(channel.hashCode()).nextBytes(sent);
        Promise<Void> done = channel.eventLoop().newPromise();
        channel.eventLoop().execute(() -> {
            channel.pipeline().addLast(new Comparison(sent, done));
            channel.writeAndFlush(channel.alloc().directBuffer(BYTES).writeBytes(sent));
        });
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
            byte[] bytes = ByteBufUtil.getBytes((ByteBuf) msg);
            ((ByteBuf) msg).release();
            for (byte b : bytes) {
                if (received == expected.length || b != expected[received++]) {
                    done.tryFailure(new AssertionError("byte " + received + " came back wrong"));
                    return;
                }
            }
            if (received == expected.length) {
                done.trySuccess(null);
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
