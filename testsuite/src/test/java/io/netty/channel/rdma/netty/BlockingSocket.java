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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.RdmaSocketChannel;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.rdma.support.RdmaSocketTestPermutation;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.Future;
import io.netty.util.internal.PlatformDependent;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An RDMA connection with the blocking methods of a {@link java.net.Socket}, for tests whose upstream form has one for
 * their peer. As with a socket, nothing is read before {@link #read()} is called.
 */
final class BlockingSocket implements AutoCloseable {
    private static final Object END = new Object();

    private final BlockingQueue<Object> received = new LinkedBlockingQueue<>();
    private final Handler handler = new Handler();
    private volatile RdmaSocketChannel channel;
    private ByteBuf current;

    /** Goes into the pipeline of a channel that does not read by itself. */
    ChannelInboundHandlerAdapter handler() {
        return handler;
    }

    void connect(SocketAddress address) throws IOException {
        await(new Bootstrap().group(RdmaSocketTestPermutation.RDMA_WORKER_GROUP).channel(RdmaSocketChannel.class)
                .option(ChannelOption.AUTO_READ, false).option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(handler).connect(address));
    }

    /** Waits for the next byte. Returns -1 at the end of the stream. */
    int read() throws IOException {
        while (current == null) {
            if (received.isEmpty()) {
                channel.read();
            }
            Object next = take();
            if (next == END) {
                return -1;
            }
            if (next instanceof Throwable) {
                throw new IOException((Throwable) next);
            }
            current = (ByteBuf) next;
        }
        int value = current.readUnsignedByte();
        releaseCurrent();
        return value;
    }

    /** Reads so many bytes and drops them. */
    void skip(int length) throws IOException {
        int rest = length;
        while (rest > 0) {
            if (read() == -1) {
                throw new IOException("the stream ended " + rest + " bytes early");
            }
            rest--;
            if (current != null) {
                int skipped = Math.min(rest, current.readableBytes());
                current.skipBytes(skipped);
                rest -= skipped;
                releaseCurrent();
            }
        }
    }

    private void releaseCurrent() {
        if (current != null && !current.isReadable()) {
            current.release();
            current = null;
        }
    }

    private Object take() throws IOException {
        try {
            return TestTimeouts.take(received, "bytes or the end of the stream");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    void write(int... bytes) throws IOException {
        ByteBuf buf = Unpooled.buffer(bytes.length);
        for (int b : bytes) {
            buf.writeByte(b);
        }
        await(channel.writeAndFlush(buf));
    }

    void shutdownOutput() throws IOException {
        await(channel.shutdownOutput());
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            await(channel.close());
        }
        if (current != null) {
            current.release();
            current = null;
        }
        for (Object next; (next = received.poll()) != null;) {
            if (next instanceof ByteBuf) {
                ((ByteBuf) next).release();
            }
        }
    }

    static void await(Future<?> future) throws IOException {
        try {
            TestTimeouts.await(future);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
        if (!future.isSuccess()) {
            PlatformDependent.throwException(future.cause());
        }
    }

    private final class Handler extends ChannelInboundHandlerAdapter {
        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = (RdmaSocketChannel) ctx.channel();
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            received.add(msg);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                received.add(END);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            received.add(END);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            received.add(cause);
        }
    }
}
