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
 * The part of a byte-stream channel that the pipeline calls (connecting, closing), and that its connection tells what
 * happens. On the loop of the channel.
 */
final class RdmaSocketUnsafe extends AbstractRdmaConnectedChannel.ConnectingUnsafe implements ConnectionOwner {
    private final AbstractRdmaSocketChannel channel;
    final LingeringEnd ending;
    private final RdmaReadLoop readLoop;
    /** Cause of the loss of the connection. */
    private IOException loss;
    /** True if the connection broke, and neither the peer's end nor the network was the cause. */
    private boolean failed;
    /** Nothing has told of it. */
    private boolean untold;

    RdmaSocketUnsafe(AbstractRdmaSocketChannel channel) {
        channel.super();
        this.channel = channel;
        ending = new LingeringEnd(channel, this);
        readLoop = new RdmaReadLoop(channel, this);
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
    public RdmaReadLoop readLoop() {
        return readLoop;
    }

    @Override
    protected void close(ChannelPromise promise, Throwable cause, ClosedChannelException closeCause) {
        if (!ending.closeLater(promise, () -> super.close(promise, cause, closeCause))) {
            super.close(promise, cause, closeCause);
        }
    }

    /** A channel that could not be registered with its loop is closed on the one that it has left. */
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
     * The connection is lost. The application is told as by epoll: by the flushed writes that had not arrived, which
     * fail with the cause, and with them the channel; if there are none, by an exception, after all that had landed
     * before was read, and then by the end of the input.
     *
     * <p>A failure that no socket has, such as a peer that breaks the protocol, is an exception in any case, and ends
     * the channel also where half closure is allowed.
     *
     * @param ended whether the peer had ended its stream. Then what it had sent is read before anything else, and the
     *         end alone is no exception.
     * @param failure whether it is such a failure.
     */
    @Override
    public void connectionLost(IOException cause, boolean ended, boolean failure) {
        if (!channel.isOpen()) {
            return;
        }
        loss = cause;
        failed = failure;
        untold = !ended;
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
        if (untold) {
            untold = false;
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
     * All that the peer has sent was read. A peer that has closed its channel takes nothing more: what was flushed and
     * is not under way fails before the pipeline is told of the end.
     *
     * @return whether that is now: what is under way may still arrive.
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
            untold = false;
            IOException cause = channel.connection().writeFailure();
            if (ending.isClosing()) {
                channel.connection().sendPath().fail(outboundBuffer(), cause);
            } else {
                handleWriteError(cause);
            }
        }
        ending.advance();
    }

    /** Closes the channel, whatever else is under way. */
    @Override
    public void abort(IOException cause) {
        if (!channel.isOpen()) {
            return;
        }
        untold |= loss == null;
        loss = cause;
        failed = true;
        tell();
        ending.advance();
        closeAtEnd();
    }

    /**
     * The end of the input is the end of the channel, unless half closure is allowed. As with epoll, writes that were
     * never flushed fail without a cause; if no socket has the failure, with it.
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
        // A close or shutdown may have waited for that, or the end of the input.
        ending.advance();
        readLoop.done();
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
