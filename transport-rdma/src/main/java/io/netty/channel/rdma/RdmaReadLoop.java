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
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.connection.RdmaInbound;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;

import java.io.IOException;

/**
 * Gives what has arrived to the pipeline of a {@link RdmaSocketChannel}, when and as far as it wants to read: the
 * contract of {@link RecvByteBufAllocator}, {@code autoRead} and half close, as the epoll transport keeps it.
 *
 * <p>On the loop of the channel.
 */
final class RdmaReadLoop {
    private final RdmaSocketChannel channel;
    private final RdmaSocketUnsafe unsafe;
    private final Runnable later = this::readScheduled;
    private final Runnable now = this::readNow;
    private boolean readPending;
    private boolean reading;
    private boolean scheduled;
    private boolean endReported;
    private volatile boolean inputShutdown;

    RdmaReadLoop(RdmaSocketChannel channel, RdmaSocketUnsafe unsafe) {
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

    void clearReadPending() {
        readPending = false;
    }

    /** {@code read()} was called. What is there is delivered later, not from inside of that call. */
    void beginRead(RdmaConnection connection) {
        readPending = true;
        if (connection != null && connection.inbound().get()) {
            readLater(connection);
        }
    }

    private void readLater(RdmaConnection connection) {
        if (!reading && !scheduled) {
            scheduled = true;
            connection.loop().execute(later);
        }
    }

    private void readScheduled() {
        scheduled = false;
        channel.connection().readInTurn(now);
    }

    private void readNow() {
        read(channel.connection());
    }

    /**
     * Delivers what there is, if it is wanted; and the end, wanted or not, with what lies before it. As with epoll, an
     * application that does not read thus finds out nevertheless that its peer is gone.
     */
    void read(RdmaConnection connection) {
        if (reading || !unsafe.isReading()) {
            return;
        }
        RdmaInbound inbound = connection.inbound();
        if (inputShutdown) {
            inbound.discard();
        }
        if (!isWanted(inbound) && (endReported || !inbound.isAtEnd())) {
            return;
        }
        reading = true;
        try {
            loop(inbound);
        } finally {
            reading = false;
        }
        if (isWanted(inbound)) {
            readLater(connection);
        }
    }

    private boolean isWanted(RdmaInbound inbound) {
        return inbound.hasBytes() && (readPending || inbound.isEnded());
    }

    private void loop(RdmaInbound inbound) {
        ChannelPipeline pipeline = channel.pipeline();
        RecvByteBufAllocator.ExtendedHandle handle =
                (RecvByteBufAllocator.ExtendedHandle) channel.unsafe().recvBufAllocHandle();
        handle.reset(channel.config());
        Throwable failure = null;
        try {
            do {
                if (!inbound.hasBytes()) {
                    handle.lastBytesRead(inbound.isEnded() ? -1 : 0);
                    break;
                }
                ByteBuf buf = inbound.read(handle);
                handle.lastBytesRead(buf.readableBytes());
                handle.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(buf);
            } while (!inputShutdown && unsafe.isReading() && handle.continueReading(inbound));
        } catch (Throwable t) {
            failure = t;
        }
        handle.readComplete();
        pipeline.fireChannelReadComplete();
        if (failure != null) {
            pipeline.fireExceptionCaught(failure);
            if (failure instanceof OutOfMemoryError || failure instanceof IOException) {
                channel.unsafe().close(channel.unsafe().voidPromise());
            }
        }
        end(inbound);
    }

    /** Tells the pipeline of the end, if it is there. */
    void end(RdmaInbound inbound) {
        if (!endReported && inbound.isAtEnd() && unsafe.isReading() && unsafe.inputEnded() && unsafe.isReading()) {
            reportEnd();
        }
    }

    private void reportEnd() {
        if (endReported) {
            return;
        }
        endReported = true;
        readPending = false;
        if (!inputShutdown) {
            if (!channel.config().isAllowHalfClosure() || unsafe.isFailed()) {
                unsafe.closeAtEnd();
                return;
            }
            inputShutdown = true;
            channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
            if (!unsafe.isReading()) {
                // The exception has closed the channel.
                return;
            }
        }
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
    }

    /** The application does not want to read any more. */
    void shutdownInput(RdmaConnection connection) {
        boolean first = !inputShutdown;
        inputShutdown = true;
        connection.inbound().discard();
        if (first && channel.config().isAllowHalfClosure()) {
            connection.loop().execute(() -> {
                if (unsafe.isReading()) {
                    reportEnd();
                }
            });
        }
        connection.afterRead();
    }
}
