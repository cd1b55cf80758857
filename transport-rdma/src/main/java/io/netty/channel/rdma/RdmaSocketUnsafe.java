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

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.IoEventLoop;
import io.netty.channel.rdma.connection.ConnectionOwner;
import io.netty.channel.rdma.connection.OutgoingConnection;
import io.netty.channel.rdma.connection.QueuePairOptions;
import io.netty.channel.rdma.connection.RdmaConnection;
import io.netty.channel.rdma.loop.move.LoopId;
import io.netty.channel.rdma.verbs.ConnectionEvent;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * The part of a byte-stream channel that the pipeline calls (to connect and close), and that its connection calls with
 * its events. On the loop of the channel.
 */
final class RdmaSocketUnsafe extends AbstractRdmaConnectedChannel.ConnectingUnsafe implements ConnectionOwner {
    private final AbstractRdmaSocketChannel channel;
    final LingeringEnd ending;
    private final StreamReadLoop readLoop;
    /** Cause of the loss of the connection. */
    private IOException loss;
    /** True if the connection broke for another reason than the peer's end or the network. */
    private boolean failed;
    /** The application does not know of the loss yet. */
    private boolean lossUnreported;

    RdmaSocketUnsafe(AbstractRdmaSocketChannel channel) {
        channel.super();
        this.channel = channel;
        ending = new LingeringEnd(channel, this);
        readLoop = new StreamReadLoop(channel, this);
    }

    @Override
    protected QueuePairOptions queuePairOptions() {
        return channel.config.options.queuePair;
    }

    @Override
    protected OutgoingConnection createConnection(LoopId id) throws Exception {
        return channel.newConnection(id.loop(), id.id(), id);
    }

    @Override
    protected void connected(OutgoingConnection connection, ConnectionEvent event, InetSocketAddress peer)
            throws Exception {
        channel.connected((RdmaConnection) connection, event, peer);
    }

    @Override
    public String providerReason() {
        return channel.providerReason();
    }

    @Override
    public StreamReadLoop readLoop() {
        return readLoop;
    }

    @Override
    protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
        if (!ending.closeLater(promise, () -> super.close(promise, cause, closeCause))) {
            super.close(promise, cause, closeCause);
        }
    }

    /** Returns the loop that the channel has left, if the channel could not be registered with another one. */
    @Override
    protected Executor prepareToClose() {
        Executor later = super.prepareToClose();
        if (later != null || channel.isLoopEnding() || channel.connection() == null ||
                channel.connection().loop().handler().isHere()) {
            return later;
        }
        IoEventLoop left = channel.connection().loop().handler().loop();
        return task -> {
            try {
                left.execute(task);
            } catch (RejectedExecutionException e) {
                // The event loop has ended, and with it the connection.
                task.run();
            }
        };
    }

    /**
     * Tells the application, as epoll does, that the connection is lost. Flushed writes that had not arrived fail with
     * the cause, and the channel is closed. Without such writes, the bytes that had arrived are read first. Then follow
     * an exception and the end of the input.
     *
     * <p>A failure that sockets do not have, such as a peer that breaks the protocol, is always an exception, and
     * closes the channel even if half closure is allowed.
     *
     * @param ended whether the peer had ended its stream. Then its bytes are read before anything else, and the end
     *         alone is no exception.
     * @param failure whether sockets do not have this failure.
     */
    @Override
    public void connectionLost(IOException cause, boolean ended, boolean failure) {
        if (!channel.isOpen()) {
            return;
        }
        loss = cause;
        failed = failure;
        lossUnreported = !ended;
        if (failed && (readLoop.isEndReported() || isWritePending())) {
            tell();
        }
        if (!ended || ending.isClosing()) {
            failFlushed();
        }
        if (channel.isOpen()) {
            channel.connection().inbound().lost();
            readLoop.read();
        }
        if (channel.isOpen() && readLoop.isEndReported()) {
            failFlushed();
            if (failed) {
                closeAtEnd();
            }
        }
    }

    private void tell() {
        if (lossUnreported) {
            lossUnreported = false;
            channel.pipeline().fireExceptionCaught(loss);
        }
    }

    private boolean isWritePending() {
        ChannelOutboundBuffer messages = outboundBuffer();
        return messages != null && !messages.isEmpty();
    }

    /** Returns whether the connection broke, so that no part of it is of use. */
    boolean isFailed() {
        return failed;
    }

    /**
     * Handles the end of the input, when all bytes of the peer were read. A peer that has closed its channel takes
     * nothing more. So flushed bytes that are not in flight fail before the pipeline is told of the end.
     *
     * @return whether the end may be told now; false while bytes in flight may still arrive.
     */
    boolean inputEnded() {
        if (loss == null) {
            if (!channel.connection().isClosedByPeer()) {
                return true;
            }
            if (channel.connection().sendPath().isInFlight()) {
                return false;
            }
        }
        failFlushed();
        if (channel.isOpen() && (failed || !channel.isInputShutdown())) {
            tell();
        }
        return true;
    }

    private void failFlushed() {
        if (isWritePending()) {
            lossUnreported = false;
            IOException cause = channel.connection().writeFailure();
            if (ending.isClosing()) {
                channel.connection().sendPath().fail(outboundBuffer(), cause);
            } else {
                handleWriteError(cause);
            }
        }
        ending.advance();
    }

    /** Closes the channel at once. */
    @Override
    public void abort(IOException cause) {
        if (!channel.isOpen()) {
            return;
        }
        lossUnreported |= loss == null;
        loss = cause;
        failed = true;
        tell();
        ending.advance();
        closeAtEnd();
    }

    /**
     * Closes the channel at the end of the input. As with epoll, writes that were never flushed fail without a cause.
     * If sockets do not have the failure, it is their cause.
     */
    void closeAtEnd() {
        if (!failed) {
            close(voidPromise());
        } else {
            ClosedChannelException closed = new ClosedChannelException();
            closed.initCause(loss);
            close(voidPromise(), loss, closed);
        }
    }

    // ---- what the connection needs of the channel

    @Override
    public InetSocketAddress remote() {
        return channel.remote;
    }

    @Override
    public ByteBufAllocator allocator() {
        return channel.config().getAllocator();
    }

    @Override
    public boolean isReceiveAllocatorSet() {
        return channel.config.isReceiveAllocatorSet();
    }

    @Override
    public void validate(DefaultFileRegion region) throws IOException {
        channel.validate(region);
    }

    @Override
    public boolean isInputShutdown() {
        return channel.isInputShutdown();
    }

    @Override
    public boolean isEndReported() {
        return readLoop.isEndReported();
    }

    @Override
    public void established() {
        channel.acceptor.established();
    }

    @Override
    public void notEstablished(IOException cause, boolean here) {
        if (channel.connection() != null) {
            connectionLost(cause, false, false);
        } else if (channel.acceptor == null) {
            channel.connectFailed(cause);
        } else if (here) {
            channel.acceptor.fail(cause);
        } else {
            channel.acceptor.vanished(cause);
        }
    }

    @Override
    public void writeFailed(Throwable cause) {
        handleWriteError(cause);
    }

    @Override
    public void advanced() {
        // A close, a shutdown, or the end of the input may have waited for the bytes.
        ending.advance();
        readLoop.done();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
