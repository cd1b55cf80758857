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

import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;

/**
 * The part of a {@link RdmaSocketChannel} that the pipeline calls: beside connecting, closing. On the loop of the
 * channel.
 */
final class RdmaSocketUnsafe extends AbstractRdmaConnectedChannel.ConnectingUnsafe {
    private final RdmaSocketChannel channel;
    private final ParkedEnd ending;
    /** How the connection was lost, while what landed before is being read. */
    private IOException loss;

    RdmaSocketUnsafe(RdmaSocketChannel channel) {
        channel.super();
        this.channel = channel;
        ending = new ParkedEnd(channel, this);
    }

    ParkedEnd ending() {
        return ending;
    }

    @Override
    protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
        if (!ending.parkClose(promise, () -> super.close(promise, cause, closeCause))) {
            super.close(promise, cause, closeCause);
        }
    }

    /**
     * The connection ended without the peer having said so, or broke. What landed before is read first, as from a
     * socket; writes fail at once.
     */
    void connectionLost(IOException cause) {
        if (!channel.isOpen()) {
            return;
        }
        loss = cause;
        ChannelOutboundBuffer messages = outboundBuffer();
        if (channel.isReadingBeforeLoss()) {
            if (messages != null) {
                channel.connection().sender().fail(messages);
            }
            ending.advance();
            channel.readable();
        } else {
            reportLoss();
        }
    }

    boolean isLossPending() {
        return loss != null;
    }

    /** The pipeline has got what it wanted, for now. */
    void readDone() {
        if (loss != null && channel.isOpen() && !channel.isReadingBeforeLoss()) {
            reportLoss();
        }
    }

    private void reportLoss() {
        IOException cause = loss;
        loss = null;
        boolean autoClose = channel.config().isAutoClose();
        ChannelOutboundBuffer messages = outboundBuffer();
        if (!autoClose && messages != null && !messages.isEmpty()) {
            // Reported with the writes.
            handleWriteError(cause);
        } else if (!ending.isClosing()) {
            channel.pipeline().fireExceptionCaught(cause);
        }
        ending.advance();
        if (autoClose) {
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(cause);
            close(voidPromise(), cause, closed);
        } else {
            // For the reader it is the end.
            channel.connection().inbound().end();
            channel.readable();
        }
    }
}
