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
package io.netty.example.rdma.proxy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.rdma.TestTimeouts;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.example.rdma.util.Pattern;
import io.netty.util.CharsetUtil;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One end of a connection through a proxy: a client or a server. It keeps what it receives as text if that is short,
 * and counts it and compares it with {@link Pattern} in any case.
 */
final class Peer extends ChannelInboundHandlerAdapter {
    private static final int MAX_TEXT = 1000;
    private static final int CHUNK_BYTES = 64 * 1024;

    private final Consumer<Peer> onActive;
    private final StringBuffer text = new StringBuffer();
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private volatile Channel channel;
    private volatile long received;
    private volatile boolean pattern = true;
    private volatile Throwable failure;
    private volatile boolean closed;
    /** Number of bytes of the pattern that are still to be written, and of written ones. */
    private long toSend;
    private long sent;
    private boolean filling;

    /**
     * @param onActive called when it is connected, on the event loop
     */
    Peer(Consumer<Peer> onActive) {
        this.onActive = onActive;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        onActive.accept(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        ByteBuf data = (ByteBuf) msg;
        pattern &= Pattern.matches(data, received);
        if (text.length() < MAX_TEXT) {
            text.append(data.toString(CharsetUtil.ISO_8859_1), 0, Math.min(MAX_TEXT, data.readableBytes()));
        }
        received += data.readableBytes();
        data.release();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            end.complete(null);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        fill();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        failure = failure == null ? cause : failure;
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed = true;
    }

    Channel channel() {
        return channel;
    }

    DuplexChannel duplex() {
        return (DuplexChannel) channel;
    }

    void send(String message) {
        channel.writeAndFlush(Unpooled.copiedBuffer(message, CharsetUtil.ISO_8859_1));
    }

    /** Sends so much of the pattern, as fast as the channel takes it. */
    void sendPattern(long bytes) {
        channel.eventLoop().execute(() -> {
            toSend = bytes;
            fill();
        });
    }

    private void fill() {
        if (filling) {
            return;
        }
        filling = true;
        while (toSend > 0 && channel.isWritable()) {
            int length = (int) Math.min(CHUNK_BYTES, toSend);
            ByteBuf chunk = channel.alloc().directBuffer(length);
            Pattern.write(chunk, sent, length);
            channel.writeAndFlush(chunk, channel.voidPromise());
            sent += length;
            toSend -= length;
        }
        filling = false;
    }

    void awaitText(String expected) throws InterruptedException {
        TestTimeouts.awaitTrue(() -> text.toString().equals(expected));
    }

    /** Waits for so much of the pattern and nothing else. */
    void awaitPattern(long bytes) throws InterruptedException {
        TestTimeouts.awaitTrue(() -> received >= bytes || closed);
        if (received != bytes || !pattern) {
            throw new AssertionError("received " + received + " bytes, " + (pattern ? "" : "not ") + "the pattern, "
                    + failure);
        }
    }

    /** Waits for the half close of the other end. */
    void awaitEnd() throws Exception {
        TestTimeouts.result(end);
    }

    /** Returns whether the other end has said that there is no more. */
    boolean isEnded() {
        return end.isDone();
    }

    /** Waits until it is closed, and returns what went wrong, if anything. */
    Throwable awaitClosed() throws InterruptedException {
        TestTimeouts.awaitTrue(() -> closed);
        return failure;
    }

    /** As a process does that is killed with bytes unread: a reset. */
    void reset() throws InterruptedException {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        TestTimeouts.sync(channel.close());
    }

    long received() {
        return received;
    }
}
