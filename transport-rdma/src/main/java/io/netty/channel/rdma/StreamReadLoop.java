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
package io.netty.channel.rdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.rdma.connection.RdmaInbound;
import io.netty.channel.rdma.connection.ReadLoop;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;

import java.io.IOException;

/**
 * Gives the bytes that have arrived, and their end, to the pipeline of a byte-stream channel. Half close is as in the
 * epoll transport.
 */
final class StreamReadLoop extends ReadLoop {
    private final AbstractRdmaSocketChannel channel;
    private final RdmaSocketUnsafe unsafe;
    private final Runnable read = this::read;
    /** The input of the connection, once there is one. */
    private RdmaInbound inbound;
    private boolean endReported;
    private volatile boolean inputShutdown;

    StreamReadLoop(AbstractRdmaSocketChannel channel, RdmaSocketUnsafe unsafe) {
        this.channel = channel;
        this.unsafe = unsafe;
    }

    boolean isInputShutdown() {
        return inputShutdown;
    }

    /** Returns whether the pipeline knows that the peer's bytes have ended. */
    boolean isEndReported() {
        return endReported;
    }

    private RdmaInbound inbound() {
        if (inbound == null) {
            inbound = channel.connection().inbound();
        }
        return inbound;
    }

    @Override
    protected ChannelPipeline pipeline() {
        return channel.pipeline();
    }

    @Override
    protected RecvByteBufAllocator.ExtendedHandle handle() {
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        return handle;
    }

    @Override
    protected void execute(Runnable task) {
        channel.connection().loop().execute(task);
    }

    @Override
    protected void readNow() {
        channel.connection().readInTurn(read);
    }

    /** Returns false if the channel is closed, waits for its close, or is between two event loops. */
    @Override
    protected boolean isReading() {
        return channel.isOpen() && channel.isRegistered() && !(channel.isOutputEnding() && channel.isCloseWaiting());
    }

    @Override
    protected boolean hasNext() {
        return channel.connection() != null && inbound().get();
    }

    @Override
    protected boolean isWanted() {
        RdmaInbound inbound = inbound();
        return inbound.hasBytes() && (isReadPending() || inbound.isEnded());
    }

    /**
     * Returns true also for the end, and the bytes before it, if the application does not read. As with epoll, the
     * application finds out in this way that its peer is gone.
     */
    @Override
    protected boolean isDue() {
        RdmaInbound inbound = inbound();
        if (inputShutdown) {
            inbound.discard();
        }
        return isWanted() || !endReported && inbound.isAtEnd();
    }

    @Override
    protected ByteBuf next(RecvByteBufAllocator.ExtendedHandle handle) {
        RdmaInbound inbound = inbound();
        if (!inbound.hasBytes()) {
            handle.lastBytesRead(inbound.isEnded() ? -1 : 0);
            return null;
        }
        ByteBuf buf = inbound.read(handle);
        handle.lastBytesRead(buf.readableBytes());
        return buf;
    }

    @Override
    protected boolean goesOn(RecvByteBufAllocator.ExtendedHandle handle) {
        return !inputShutdown && isReading() && handle.continueReading(inbound());
    }

    @Override
    protected void failed(Throwable cause) {
        super.failed(cause);
        if (cause instanceof OutOfMemoryError || cause instanceof IOException) {
            channel.unsafe().close(channel.unsafe().voidPromise());
        }
    }

    /** Tells the pipeline of the end, if all bytes were read. */
    @Override
    protected void done() {
        if (!endReported && inbound().isAtEnd() && isReading() && unsafe.inputEnded() && isReading()) {
            reportEnd();
        }
    }

    private void reportEnd() {
        if (endReported) {
            return;
        }
        endReported = true;
        clearReadPending();
        if (!inputShutdown) {
            if (!channel.config().isAllowHalfClosure() || unsafe.isFailed()) {
                unsafe.closeAtEnd();
                return;
            }
            inputShutdown = true;
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            if (!isReading()) {
                // The exception has closed the channel.
                return;
            }
        }
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }

    /** Ends the input for the application. */
    void shutdownInput() {
        boolean first = !inputShutdown;
        inputShutdown = true;
        channel.connection().discardInput();
        if (first && channel.config().isAllowHalfClosure()) {
            execute(() -> {
                if (isReading()) {
                    reportEnd();
                }
            });
        }
    }
}
