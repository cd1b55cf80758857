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
package io.netty.example.rdma.verbs;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.message.RdmaMessageChannel;
import io.netty.channel.rdma.message.RdmaReceive;
import io.netty.channel.rdma.message.RemoteMemory;
import io.netty.example.rdma.util.Windows;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * One end of a program on one connection, as the handler of its channel. These methods are called in this order: {@link
 * #configure}, {@link #export}, {@link #begin}, {@link #channelRead0}, and {@code finish} in the end. All but {@code
 * export} run on the channel's event loop. Any exception ends the connection, and is the outcome.
 */
public abstract class VerbsEnd extends SimpleChannelInboundHandler<RdmaReceive> {
    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private final Deque<Runnable> atTheEnd = new ArrayDeque<>();
    private final String program;
    private boolean tellingWindows;
    private boolean connected;
    private boolean finishing;
    private long startNanos = System.nanoTime();
    private long cpuNanos;

    /**
     * @param program name, sizes and counts of the program, which must be the same at both ends, also for users. ASCII,
     *                less than 200 characters
     */
    protected VerbsEnd(String program) {
        this.program = program;
    }

    /** Result. Fails if the connection can't be made, ends too early, or carries unexpected data. */
    public final CompletableFuture<Result> result() {
        return result;
    }

    /** Has the end also print the {@link Windows} of its measurement. Before it is connected. */
    public final void tellWindows(boolean tell) {
        tellingWindows = tell;
    }

    protected final void told(Windows windows) {
        if (tellingWindows) {
            System.out.println(windows);
        }
    }

    /** Sets options before the connection is made. Receive buffers have to hold an {@link Introduction}, too. */
    protected void configure(ChannelConfig config) throws IOException {
        // The defaults will do.
    }

    /**
     * Exports the memory that the peer may access.
     *
     * @param channel has a queue pair, so that memory can be exported for it
     */
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of();
    }

    /** Begins: the connection is made, and the peer runs the same program. */
    protected void begin(ChannelHandlerContext ctx, Introduction peer) throws Exception {
        // Many ends only answer.
    }

    /** Runs an action when the channel is closed, and memory can be freed. The last one passed runs first. */
    protected final void whenClosed(Runnable action) {
        atTheEnd.push(action);
    }

    /**
     * Handles the end of a connection that was made, before the program has {@linkplain #finish finished}.
     *
     * @return the result, or {@code null} if the end is a failure
     */
    protected Result lost(IOException cause) {
        return null;
    }

    /**
     * Returns whether the other end does all operations. Then the result has the processor time of this end's event
     * loop, without that of the threads which work as the device in the embedded provider.
     */
    protected boolean isPassive() {
        return false;
    }

    final Introduction introduce(RdmaMessageChannel channel) throws IOException {
        return new Introduction(program, export(channel));
    }

    /** Nanoseconds since {@link #begin}. */
    protected final long nanos() {
        return System.nanoTime() - startNanos;
    }

    /** Finishes with the time since {@link #begin}. */
    protected final void finish(ChannelHandlerContext ctx, String what, long count, long bytes, long wrong) {
        finish(ctx, new Result(what, count, bytes, wrong, nanos()));
    }

    /**
     * Sends flushed bytes, closes the channel, and sets the result. The peer, which may have all that it needs, may
     * close before: this is no failure.
     */
    protected final void finish(ChannelHandlerContext ctx, Result outcome) {
        finishing = true;
        Result told = isPassive() ? outcome.with(processorNanos() - cpuNanos) : outcome;
        ctx.close().addListener(closed -> result.complete(told));
    }

    /** Processor time of the event loop so far. */
    private static long processorNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** Writes an operation whose failure ends the connection. */
    protected static void write(ChannelHandlerContext ctx, Object operation) {
        ctx.write(operation).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    /** Writes and flushes an operation whose failure ends the connection. */
    protected static void writeAndFlush(ChannelHandlerContext ctx, Object operation) {
        ctx.writeAndFlush(operation).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    /** A step of a program that follows another one. */
    @FunctionalInterface
    protected interface Step<T> {
        void take(T result) throws Exception;
    }

    /** Takes a step when a future is done. If the future or the step fails, the connection ends. */
    protected final <T> void then(ChannelHandlerContext ctx, Future<T> done, Step<T> step) {
        done.addListener((Future<T> future) -> {
            try {
                if (!future.isSuccess()) {
                    throw future.cause();
                }
                step.take(future.getNow());
            } catch (Throwable e) {
                exceptionCaught(ctx, e);
            }
        });
    }

    @Override
    public final void channelActive(ChannelHandlerContext ctx) {
        connected = true;
        ctx.fireChannelActive();
    }

    @Override
    public final void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
        if (event instanceof Introduction peer) {
            cpuNanos = processorNanos();
            startNanos = System.nanoTime();
            begin(ctx, peer);
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(cause);
        ctx.close();
    }

    private void fail(Throwable cause) {
        if (finishing || result.isDone()) {
            return;
        }
        Result outcome = connected && cause instanceof IOException io ? lost(io) : null;
        if (outcome == null) {
            result.completeExceptionally(cause);
        } else {
            result.complete(outcome);
        }
    }

    /** Fails the result if there is none yet, also if the connection was never made. */
    @Override
    public final void handlerRemoved(ChannelHandlerContext ctx) {
        fail(new IOException("the connection to " + ctx.channel().remoteAddress()
                + " ended before the program was done"));
        atTheEnd.forEach(Runnable::run);
    }
}
