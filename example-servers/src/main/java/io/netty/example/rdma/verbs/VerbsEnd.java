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
 * One end of a program on one connection, as the handler of its channel: {@link #configure}, {@link #export}, {@link
 * #begin}, {@link #channelRead0}, and {@code finish} in the end, in this order and all but {@code export} on the
 * channel's event loop. Whatever is thrown ends the connection, and is the outcome.
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
     * @param program what the two ends have to agree on, for people: the name, sizes and counts. ASCII, less than 200
     *                characters
     */
    protected VerbsEnd(String program) {
        this.program = program;
    }

    /** Fails if the connection can't be made, ends too early, or carries what it should not. */
    public final CompletableFuture<Result> result() {
        return result;
    }

    /** Has the end print also the {@link Windows} of its measurement, for a comparison. Before it is connected. */
    public final void tellWindows(boolean tell) {
        tellingWindows = tell;
    }

    protected final void told(Windows windows) {
        if (tellingWindows) {
            System.out.println(windows);
        }
    }

    /** Before the connection is made. Receive buffers have to hold an {@link Introduction}, too. */
    protected void configure(ChannelConfig config) throws IOException {
        // The defaults will do.
    }

    /**
     * Memory that the peer may access.
     *
     * @param channel has a queue pair, so that memory can be exported for it
     */
    protected List<RemoteMemory> export(RdmaMessageChannel channel) throws IOException {
        return List.of();
    }

    /** The connection is made, and the peer was started for the same. */
    protected void begin(ChannelHandlerContext ctx, Introduction peer) throws Exception {
        // Many ends only answer.
    }

    /** Has something done when the channel is closed, and memory can go: what was passed last is done first. */
    protected final void whenClosed(Runnable action) {
        atTheEnd.push(action);
    }

    /**
     * The connection was made, and has ended before the program has {@linkplain #finish finished}.
     *
     * @return what came of it, or {@code null} if that is a failure
     */
    protected Result lost(IOException cause) {
        return null;
    }

    /**
     * Returns whether the other end does it all. Then the result tells what this process had to do for it: its event
     * loop, and not the threads that are the device with the embedded provider.
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
     * Sends flushed bytes, closes the channel, and sets the result, also if the peer, which may have all that it needs,
     * ends before.
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

    /** As above, with a flush. */
    protected static void writeAndFlush(ChannelHandlerContext ctx, Object operation) {
        ctx.writeAndFlush(operation).addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
    }

    /** Step of a program after another one. */
    @FunctionalInterface
    protected interface Step<T> {
        void take(T result) throws Exception;
    }

    /** Goes on when something is done. If that fails, or the step, it ends the connection. */
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

    /** Also of a connection that was never made. */
    @Override
    public final void handlerRemoved(ChannelHandlerContext ctx) {
        fail(new IOException("the connection to " + ctx.channel().remoteAddress()
                + " ended before the program was done"));
        atTheEnd.forEach(Runnable::run);
    }
}
