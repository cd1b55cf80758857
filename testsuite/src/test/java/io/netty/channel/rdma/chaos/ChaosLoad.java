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

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a connection busy and checks what arrives, until the connection ends, in whatever way. Then every write must
 * have an outcome.
 */
abstract class ChaosLoad extends ChannelInboundHandlerAdapter {
    /** Leaves the processors some time for the processes that are being started. */
    private static final int PAUSE_MILLIS = 5;

    final Random random;
    /** When the channel is inactive and all writes have an outcome. */
    final CompletableFuture<Void> over = new CompletableFuture<>();
    private final Queue<String> violations;
    private volatile Channel channel;
    private volatile long received;
    private int pending;
    private boolean active;
    private boolean inactive;
    private boolean scheduled;
    /** Failure that the pipeline was told. */
    private volatile Throwable failure;

    /**
     * @param violations where to note what must not happen, whatever happens to the peer.
     */
    ChaosLoad(long seed, Queue<String> violations) {
        random = new Random(seed);
        this.violations = violations;
    }

    /** The connection is made. */
    void begin(ChannelHandlerContext ctx) throws IOException {
        send(ctx);
    }

    /** Writes as much as the channel takes, and flushes. */
    abstract void send(ChannelHandlerContext ctx);

    /** Releases what the load has kept. */
    abstract void release();

    final Channel channel() {
        return channel;
    }

    /** Number of right bytes that have arrived. Any thread. */
    final long received() {
        return received;
    }

    final void addReceived(long bytes) {
        received += bytes;
    }

    final int pending() {
        return pending;
    }

    final boolean isActive() {
        return channel.isActive() && !inactive;
    }

    /** Counts the write among those that must have an outcome. */
    final Future<Void> write(ChannelHandlerContext ctx, Object msg) {
        pending++;
        return ctx.write(msg).addListener(future -> {
            pending--;
            if (future.isSuccess()) {
                sendLater(ctx);
            } else {
                expectIoException(future.cause());
            }
            endIfOver();
        });
    }

    private void sendLater(ChannelHandlerContext ctx) {
        if (!scheduled && !ctx.executor().isShuttingDown()) {
            scheduled = true;
            ctx.executor().schedule(() -> {
                scheduled = false;
                send(ctx);
            }, PAUSE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    final void violation(String what) {
        violations.add(this + ": " + what);
    }

    private void expectIoException(Throwable cause) {
        if (!(cause instanceof IOException)) {
            violation("failed with " + cause);
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) throws IOException {
        active = true;
        begin(ctx);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        sendLater(ctx);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        failure = cause;
        expectIoException(cause);
        ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        inactive = true;
        release();
        endIfOver();
    }

    /** A server's channel whose peer has gone before its connection was made is closed without having been active. */
    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (!active) {
            inactive = true;
            endIfOver();
        }
    }

    private void endIfOver() {
        if (inactive && pending == 0) {
            over.complete(null);
        }
    }

    /** Stops reading now and then, for an instant. */
    final void pauseReading(ChannelHandlerContext ctx) {
        if (random.nextInt(100) == 0) {
            ctx.channel().config().setAutoRead(false);
            ctx.executor().execute(() -> ctx.channel().config().setAutoRead(true));
        }
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + " on " + channel + ", " + received + " bytes received, " + pending +
                " writes pending" + (inactive ? ", inactive" : "") + (failure == null ? "" : ", " + failure);
    }
}
