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
package io.netty.example.rdma.datagrams;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.rdma.message.RdmaDatagram;
import io.netty.example.rdma.verbs.Result;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Common part of all programs: the handler of a channel, on its event loop.
 */
abstract class DatagramEnd extends SimpleChannelInboundHandler<RdmaDatagram> {
    /** The user event of a channel that can be used: it is bound, and has joined its group. */
    static final Object READY = new Object();

    private final CompletableFuture<Result> result = new CompletableFuture<>();
    private Future<?> timer;
    /** Number of datagrams that were not as expected. */
    long wrong;

    /** Result. Fails if the channel can't be bound, the group can't be joined, or the channel ends too early. */
    final CompletableFuture<Result> result() {
        return result;
    }

    /** Begins: the channel is bound, and has joined its group. */
    abstract void begin(ChannelHandlerContext ctx);

    abstract void received(ChannelHandlerContext ctx, Packet packet, SocketAddress sender);

    /** Handles a datagram that none of these programs has sent, or that has changed on the way. */
    void damaged(IllegalArgumentException what) {
        System.err.println(what.getMessage());
        wrong++;
    }

    /** Runs a task once after a delay, unless another task is set or the channel is closed before. */
    final void later(ChannelHandlerContext ctx, Runnable task, long millis) {
        cancel();
        timer = ctx.executor().schedule(task, millis, TimeUnit.MILLISECONDS);
    }

    /** Runs a task at once and then periodically, until another task is set or the channel is closed. */
    final void repeat(ChannelHandlerContext ctx, Runnable task, long millis) {
        cancel();
        timer = ctx.executor().scheduleAtFixedRate(task, 0, millis, TimeUnit.MILLISECONDS);
    }

    final void cancel() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    @Override
    protected final void channelRead0(ChannelHandlerContext ctx, RdmaDatagram datagram) {
        Packet packet;
        try {
            packet = Packet.read(datagram.content());
        } catch (IllegalArgumentException e) {
            damaged(e);
            return;
        }
        received(ctx, packet, datagram.sender());
    }

    @Override
    public final void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == READY) {
            begin(ctx);
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    /** Sends a datagram without data. */
    final void send(ChannelHandlerContext ctx, Packet.Type type, long run, long number, SocketAddress to) {
        send(ctx, new Packet(type, run, number, Unpooled.EMPTY_BUFFER), to);
        ctx.flush();
    }

    final void send(ChannelHandlerContext ctx, Packet packet, SocketAddress to) {
        ByteBuf bytes = ctx.alloc().directBuffer(Packet.HEADER_LENGTH + packet.data().readableBytes());
        packet.write(bytes);
        ctx.write(new RdmaDatagram(bytes, to)).addListener(written -> {
            if (!written.isSuccess()) {
                exceptionCaught(ctx, written.cause());
            }
        });
    }

    /** Closes the channel with a result. Datagrams that were flushed before are still sent. */
    final void finish(ChannelHandlerContext ctx, Result outcome) {
        result.complete(outcome);
        ctx.close();
    }

    @Override
    public final void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        result.completeExceptionally(cause);
        ctx.close();
    }

    @Override
    public final void handlerRemoved(ChannelHandlerContext ctx) {
        cancel();
        result.completeExceptionally(new IOException("the channel was closed before the program was done"));
    }
}
