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
import io.netty.channel.ConnectTimeoutException;
import io.netty.util.concurrent.Future;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.util.concurrent.TimeUnit;

/**
 * The part of a {@link RdmaSocketChannel} that the pipeline calls: connecting, with its promise and timeout, and
 * closing. On the loop of the channel.
 */
final class RdmaSocketUnsafe extends AbstractRdmaChannel.AbstractRdmaUnsafe {
    private final RdmaSocketChannel channel;
    private final ParkedEnd ending;
    private ChannelPromise connectPromise;
    private CurrentLoop.Timer connectTimer;
    private InetSocketAddress requestedRemote;
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
    public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
        if (promise.isDone() || !ensureOpen(promise)) {
            return;
        }
        try {
            if (connectPromise != null) {
                throw new ConnectionPendingException();
            }
            if (channel.connection() != null) {
                throw new AlreadyConnectedException();
            }
            InetSocketAddress remote = AbstractRdmaChannel.checkResolved(remoteAddress);
            InetSocketAddress local = localAddress == null ? null : AbstractRdmaChannel.checkResolved(localAddress);
            if (!channel.isRegistered()) {
                throw new IllegalStateException("the channel is not registered with an event loop");
            }
            RdmaConnector connector = new RdmaConnector(channel, channel.takeConnectionId(), remote);
            channel.connecting(connector);
            connectPromise = promise;
            requestedRemote = remote;
            connector.start(local);
            scheduleConnectTimeout(connector.loop(), remote);
            promise.addListener(future -> {
                if (future.isCancelled()) {
                    channel.onLoop(() -> {
                        connectPromise = null;
                        close(voidPromise());
                    });
                }
            });
        } catch (Throwable t) {
            if (connectPromise == promise) {
                channel.connectFailed(t);
                close(voidPromise());
            } else {
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeIfClosed();
            }
        }
    }

    private void scheduleConnectTimeout(CurrentLoop loop, InetSocketAddress address) {
        int millis = channel.config().getConnectTimeoutMillis();
        if (millis > 0) {
            connectTimer = loop.schedule(() -> {
                ChannelPromise promise = connectPromise;
                if (promise != null && promise.tryFailure(new ConnectTimeoutException(
                        "connection timed out after " + millis + " ms: " + address))) {
                    close(voidPromise());
                }
            }, millis, TimeUnit.MILLISECONDS);
        }
    }

    private ChannelPromise endConnect() {
        ChannelPromise promise = connectPromise;
        connectPromise = null;
        if (connectTimer != null) {
            connectTimer.cancel();
            connectTimer = null;
        }
        return promise;
    }

    /** The channel has become active. */
    void connected() {
        ChannelPromise promise = endConnect();
        // What a listener of the promise does, closing the channel for example, doesn't undo that it was active.
        boolean promiseSet = promise != null && promise.trySuccess();
        channel.pipeline().fireChannelActive();
        if (!promiseSet) {
            close(voidPromise());
        }
    }

    void connectFailed(Throwable cause) {
        ChannelPromise promise = endConnect();
        if (promise != null) {
            promise.tryFailure(annotateConnectException(cause, requestedRemote));
            closeIfClosed();
        }
    }

    /** The channel is closed: what waits fails. */
    void cancelPending() {
        ChannelPromise promise = endConnect();
        if (promise != null) {
            promise.tryFailure(new ClosedChannelException());
        }
        ending.cancelShutdown();
    }

    @Override
    protected void flush0() {
        // As with epoll, what is flushed while connecting waits for that.
        if (!channel.isConnecting()) {
            super.flush0();
        }
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
